import Client

/// Texts as a window shows them: control characters and what turns the direction of writing stand
/// there as themselves, so nothing can look like something else.
enum Shown {
    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: Printable.escaped(bytes), as: UTF8.self)
    }

    /// A part of a name in style sheets, where a full stop would mean something else.
    static func name(_ id: [UInt8]) -> String {
        String(decoding: id, as: UTF8.self).map { each in
            each.isASCII && (each.isLetter || each.isNumber) ? String(each) : "-"
        }.joined()
    }
}
