/// Answers from a script: for tests of what a program does when a person answers so or so.
///
/// ```swift
/// let prompter = ScriptedPrompter(passcodes: ["wrong", "correct horse"])
/// try await store.unlock(with: prompter)
/// #expect(prompter.asked.map(\.purpose) == [.passcode, .passcode])
/// ```
public final class ScriptedPrompter: Prompter {
    private struct Record {
        var answers: [String]
        var asked: [Question] = []
        var shown: [Notice] = []
        var revealed: [String] = []
    }

    /// What kind of front end it plays.
    public let kind: PrompterKind
    private let record: Locked<Record>
    private let answerTo: (@Sendable (Question) async -> Answer)?

    /// Gives these answers to questions for secrets, one after the other, whatever is asked for, and
    /// then cancels. What is to be acknowledged or chosen gets a yes.
    public init(passcodes: [String], kind: PrompterKind = .windows) {
        self.kind = kind
        record = Locked(Record(answers: passcodes))
        answerTo = nil
    }

    /// Answers what the closure says.
    public init(
        kind: PrompterKind = .windows, answer: @escaping @Sendable (Question) async -> Answer
    ) {
        self.kind = kind
        record = Locked(Record(answers: []))
        answerTo = answer
    }

    /// The questions so far.
    public var asked: [Question] { record.withLock { $0.asked } }

    /// The notices so far.
    public var shown: [Notice] { record.withLock { $0.shown } }

    /// The secrets that were to be written down so far, such as recovery keys.
    public var revealed: [String] { record.withLock { $0.revealed } }

    /// The next answer of the script.
    public func answer(_ question: Question) async -> Answer {
        record.withLock { $0.asked.append(question) }
        if let answerTo { return await answerTo(question) }
        switch question.purpose {
        case .acknowledge, .choice: return .yes
        case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase,
            .newPassphrase, .confirmPassphrase, .recoveryKey, .formerPassword:
            let next = record.withLock { record in
                record.answers.isEmpty ? nil : record.answers.removeFirst()
            }
            guard let next else { return .cancel }
            return .text(next)
        }
    }

    /// Notes the notice.
    public func show(_ notice: Notice) async {
        record.withLock { $0.shown.append(notice) }
    }

    /// Notes the secret, and says that it was seen.
    public func reveal(_ secret: borrowing SecretBytes, _ notice: Notice) async -> Bool {
        let text = secret.withBytes { bytes in
            String(decoding: copied(bytes), as: UTF8.self)
        }
        record.withLock { $0.revealed.append(text) }
        return true
    }
}
