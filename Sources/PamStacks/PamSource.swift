/// Where PAM's files are read from. Whoever asks hands it in: nothing here opens a file.
package struct PamSource {
    package enum Contents {
        case found([UInt8])
        case missing
        case unreadable
    }

    package enum Presence {
        case there, missing
        /// Somebody may not look.
        case unknown
    }

    let contents: (_ path: String) -> Contents
    let presence: (_ path: String) -> Presence
    /// Nothing where there is no such folder.
    let names: (_ folder: String) -> [String]

    package init(
        contents: @escaping (_ path: String) -> Contents,
        presence: @escaping (_ path: String) -> Presence,
        names: @escaping (_ folder: String) -> [String]
    ) {
        self.contents = contents
        self.presence = presence
        self.names = names
    }

    func text(_ path: String) -> String? {
        switch contents(path) {
        case .found(let text): String(decoding: text, as: UTF8.self)
        case .missing, .unreadable: nil
        }
    }
}
