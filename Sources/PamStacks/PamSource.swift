/// Gives access to PAM's files. The caller provides it: nothing in this target opens a file.
package struct PamSource {
    package enum Contents {
        case found([UInt8])
        case missing
        case unreadable
    }

    package enum Presence {
        case there, missing
        /// This user may not look.
        case unknown
    }

    let contents: (_ path: String) -> Contents
    let presence: (_ path: String) -> Presence
    /// Empty if the folder does not exist.
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
