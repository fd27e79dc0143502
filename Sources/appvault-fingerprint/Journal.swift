import Posix

/// What the worker says of itself: to the journal, or to whoever started it by hand.
enum Journal {
    static func note(_ text: String) {
        StandardError.write(Array("appvault-fingerprint: \(text)\n".utf8))
    }

    /// The last line before the end.
    static func complain(_ text: String, status: Int32) -> Never {
        note(text)
        if status == 2 { StandardError.write(Array("hint: appvault-fingerprint --help\n".utf8)) }
        ThisProcess.leave(status)
    }
}
