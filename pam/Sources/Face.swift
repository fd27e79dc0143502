internal import CPam
internal import WireEmbedded

/// The application's conversation. The module shows and asks everything through it, one message at
/// a time.
struct Face {
    private let pam: Pam
    /// PAM_SILENT: questions, and what the person has to know although nothing is asked.
    let silent: Bool

    init(_ pam: Pam, flags: Int32) {
        self.pam = pam
        silent = flags & Int32(PAM_SILENT) != 0
    }

    /// If a line cannot be shown, the exchange goes on. The daemon knows who is silent, and sends
    /// them only the errors that end all tries.
    func show(_ text: [UInt8], style: Int32) {
        if text.isEmpty || silent && style != PAM_ERROR_MSG { return }
        _ = pam.converse(text, style: style)
    }

    /// The reader waits for the person, as a question does. So this line is shown even to a program
    /// that wants no lines, such as sudo.
    func place(_ text: [UInt8]) {
        if text.isEmpty { return }
        _ = pam.converse(text, style: PAM_TEXT_INFO)
    }

    func ask(_ ask: Ask) -> Reaction {
        switch ask.purpose {
        case .acknowledge:
            // The line is part of the prompt and not shown above it, because a silent front end
            // shows only the prompt.
            return pam.converse(
                ask.line.text.isEmpty ? Face.enter : prompt(ask.line.text),
                style: PAM_PROMPT_ECHO_ON)
        case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase, .newPassphrase,
            .confirmPassphrase, .recoveryKey, .former, .choice:
            return pam.converse(
                prompt(ask.line.text), style: ask.echo ? PAM_PROMPT_ECHO_ON : PAM_PROMPT_ECHO_OFF)
        }
    }

    private static var enter: [UInt8] {
        [
            UInt8(ascii: "["), UInt8(ascii: "E"), UInt8(ascii: "n"), UInt8(ascii: "t"),
            UInt8(ascii: "e"),
            UInt8(ascii: "r"), UInt8(ascii: "]"), UInt8(ascii: " "),
        ]
    }

    /// Makes prompts end in a colon and a space, as every PAM application expects. A line that ends
    /// in a space stays as it is, and a question mark takes the place of the colon.
    private func prompt(_ line: [UInt8]) -> [UInt8] {
        var text = line
        if text.last == UInt8(ascii: " ") { return text }
        if text.last != UInt8(ascii: ":") && text.last != UInt8(ascii: "?") {
            text.append(UInt8(ascii: ":"))
        }
        text.append(UInt8(ascii: " "))
        return text
    }
}
