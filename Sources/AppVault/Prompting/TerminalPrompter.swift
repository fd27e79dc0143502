/// Asks on the terminal of the process.
///
/// What is typed is not shown, but for what may be seen. Ctrl-C, the end of the input and an empty
/// line cancel. A process without a terminal, such as a service, gets
/// ``VaultError/Code/passcodeRequired``.
public struct TerminalPrompter: Prompter {
    /// A prompter for `/dev/tty`.
    public init() {}

    /// A terminal.
    public var kind: PrompterKind { .terminal }

    /// Asks on a line of its own. Before a new passcode the rules are shown.
    public func answer(_ question: Question) async -> Answer {
        guard Terminal.isThere else { return .nobody }
        for rule in question.checklist where rule.finding == .unmet && !rule.wants.isEmpty {
            Terminal.show("  - \(Printable.line(rule.wants))\n")
        }
        let text = question.text.isEmpty ? "\(question.purpose): " : Printable.line(question.text)
        guard let line = await Terminal.line(text, isVisible: question.isVisible) else {
            return .cancel
        }
        switch question.purpose {
        case .acknowledge: return .yes
        case .choice: return .secret(line)
        case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase,
            .newPassphrase, .confirmPassphrase, .recoveryKey, .formerPassword:
            return .secret(line)
        }
    }

    /// Reads a line from the terminal of the process, `/dev/tty`, for prompters of your own.
    ///
    /// It waits without a thread of its own, and ends at once when the task is cancelled. However it
    /// ends, the terminal is left as it was.
    ///
    /// - Parameters:
    ///   - prompt: What stands before the line. It is written as it is: leave control characters
    ///     out.
    ///   - isVisible: Whether what is typed is shown: ``Question/isVisible``.
    /// - Returns: The line without its end. Nil after Ctrl-C, at the end of the input, where the
    ///   task was cancelled, and where there is no terminal.
    public static func line(_ prompt: String, isVisible: Bool = false) async -> SecretBytes? {
        await Terminal.line(prompt, isVisible: isVisible)
    }

    /// Shows the line.
    public func show(_ notice: Notice) async {
        if !notice.text.isEmpty { Terminal.show(Printable.line(notice.text) + "\n") }
    }

    /// Shows the secret on a line of its own.
    public func reveal(_ secret: borrowing SecretBytes, _ notice: Notice) async -> Bool {
        Terminal.show(Printable.line(notice.text) + "\n\n    ")
        secret.withBytes { Terminal.show($0) }
        Terminal.show("\n\n")
        return true
    }
}

extension Prompter where Self == TerminalPrompter {
    /// Asks on the terminal of the process.
    public static var terminal: TerminalPrompter { TerminalPrompter() }
}

/// Text of the daemon's, which may hold what an administrator has written, without what a terminal
/// would obey.
enum Printable {
    static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.value < 32 && $0 != "\n" || $0.value == 127 ? "?" : $0
                }
            ))
    }
}
