import Posix

/// For the journal of the person's own manager.
enum Complaint {
    static func say(_ text: String) {
        StandardError.write(Array("appvault-secrets: \(text)\n".utf8))
    }

    /// What is no mistake of anybody's.
    static func note(_ text: String) {
        StandardError.write(Array("<6>appvault-secrets: \(text)\n".utf8))
    }
}
