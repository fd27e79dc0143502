/// What KWallet notes beside a wallet, in a file of JSON with the same name and the ending
/// _attributes.json: what programs have given by the Secret Service and a wallet has no room for.
package struct WalletNotes: Equatable, Sendable {
    package static let limit = 16 << 20
    package static let none = WalletNotes()

    struct Note: Equatable, Sendable {
        var attributes: [[UInt8]: [UInt8]] = [:]
        var contentType: [UInt8]?
        var created: UInt64 = 0
        var modified: UInt64 = 0
    }

    private var notes: [[UInt8]: Note] = [:]

    private init() {}

    /// Nil if it is no JSON.
    package init?(_ bytes: [UInt8]) {
        guard let members = JSONValue(bytes)?.members else { return nil }
        for (path, value) in members {
            guard let fields = value.members else { continue }
            var note = Note()
            for (name, field) in fields {
                switch String(decoding: name, as: UTF8.self) {
                case "attributes":
                    for (name, value) in field.members ?? [] {
                        if let text = value.text { note.attributes[name] = text }
                    }
                case "$fdo_mime_type": note.contentType = field.text
                case "$fdo_created": note.created = field.number
                case "$fdo_modified": note.modified = field.number
                default: break
                }
            }
            notes[path] = note
        }
    }

    /// By the folder and the name of an entry, with a slash between them.
    func note(of path: [UInt8]) -> Note? { notes[path] }
}

extension JSONValue {
    /// Numbers are written as texts.
    fileprivate var number: UInt64 {
        text.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }
}
