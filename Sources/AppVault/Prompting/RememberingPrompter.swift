internal import Synchronization

/// Keeps the passcode that a person has just chosen for a new store, so that the store can be
/// removed again without a question. It is wiped with this object.
final class RememberingPrompter<P: Prompter>: Prompter {
    private let prompter: P
    private let chosen = Locked<SecretBytes?>(nil)
    private let isAnswering = Atomic<Bool>(false)

    init(_ prompter: P) { self.prompter = prompter }

    var kind: PrompterKind { prompter.kind }

    /// From now on nobody is asked any more.
    func answersPasscode() { isAnswering.store(true, ordering: .relaxed) }

    func answer(_ question: Question) async -> Answer {
        if isAnswering.load(ordering: .relaxed) {
            switch question.purpose {
            case .acknowledge, .choice: return .yes
            case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase,
                .newPassphrase, .confirmPassphrase, .recoveryKey, .formerPassword:
                guard let chosen = chosen.withLock({ $0.take() }) else { return .cancel }
                return .secret(chosen)
            }
        }
        switch await prompter.answer(question) {
        case .secret(let secret):
            if question.purpose == .newPasscode || question.purpose == .loginPassword {
                var copy: SecretBytes? = secret.withBytes { SecretBytes(copying: $0) }
                chosen.withLock { $0 = copy.take() }
            }
            return .secret(secret)
        case .yes: return .yes
        case .no: return .no
        case .skip: return .skip
        case .cancel: return .cancel
        case .nobody: return .nobody
        case .addUser: return .addUser
        case .switchUser(let name): return .switchUser(to: name)
        }
    }

    func show(_ notice: Notice) async {
        if !isAnswering.load(ordering: .relaxed) { await prompter.show(notice) }
    }

    func reveal(_ secret: borrowing SecretBytes, _ notice: Notice) async -> Bool {
        await prompter.reveal(secret, notice)
    }

    func show(_ scan: FingerScan) async { await prompter.show(scan) }

    func opensByItself(_ store: StoreName) async throws(VaultError) -> Bool {
        try await prompter.opensByItself(store)
    }
}
