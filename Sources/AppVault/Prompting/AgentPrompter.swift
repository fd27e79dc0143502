/// Has AppVault's agent ask the person: it shows a dialog of the desktop's in which the passcode is
/// typed, or says that a finger is to be placed. The program itself never sees a passcode.
///
/// It opens stores, and nothing else: any other question fails with
/// ``VaultError/Code/passcodeRequired``. It needs the person's desktop: without a session bus, or
/// without the agent on it, as over SSH, a call throws ``VaultError/Code/busFailed``.
public struct AgentPrompter: Prompter {
    private let bus: String?

    /// The agent on the session bus; another address of a bus is for tests.
    public init(bus: String? = nil) { self.bus = bus }

    /// Windows.
    public var kind: PrompterKind { .windows }

    /// Says that nobody can answer here.
    public func answer(_ question: Question) async -> Answer { .nobody }

    /// Shows nothing: the dialog does.
    public func show(_ notice: Notice) async {}

    /// Calls the agent, which asks, and returns when the store is open.
    ///
    /// If the task is cancelled, the dialog goes.
    public func opensByItself(_ store: StoreName) async throws(VaultError) -> Bool {
        // The bus goes with this call, and the agent ends the dialog of whoever has left.
        let connection = try await BusConnection.connect(bus ?? BusAddress.session)
        let answer = try await connection.call(
            "org.appvault.Agent1", "/org/appvault/Agent1", "org.appvault.Agent1", "Unlock",
            [.string(store == .default ? "" : store.text)], patience: 180_000)
        guard answer.count == 2, case .int32(let status) = answer[0] else {
            throw VaultError(.busFailed, "the agent has answered what is not understood")
        }
        if status == 0 { return true }
        let code: VaultError.Code =
            switch status {
            case 3: .doesNotExist
            case 4: .locked
            case 5: .serviceUnavailable
            case 6: .storeDamaged
            case 130: .cancelled
            default: .unknown
            }
        throw VaultError(code, answer[1].text ?? "")
    }
}

extension Prompter where Self == AgentPrompter {
    /// Has AppVault's agent ask the person in a dialog.
    public static var agent: AgentPrompter { AgentPrompter() }
}
