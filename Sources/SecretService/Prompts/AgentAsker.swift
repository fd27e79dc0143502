import Bus
import Posix

/// The agent of the session shows the dialog: this process sees no passcode.
@LoopActor
final class AgentAsker: Asker {
    private static let name = "org.appvault.Agent1"
    private static let path = "/org/appvault/Agent1"
    /// As long as a whole exchange may take, and a little more.
    private static let patience: UInt64 = 690_000

    private let bus: Bus

    init(_ bus: Bus) {
        self.bus = bus
    }

    func unlock(_ store: String) async -> PromptEnd { await ask("Unlock", store) }

    func erase(_ store: String) async -> PromptEnd { await ask("Erase", store) }

    func make(_ store: String, id: SecretID) async -> CollectionEnd {
        do throws(BusError) {
            switch try await status("Make", [.string(store), .string(id.uuid)]) {
            case 0: return .store
            case 3: return .among
            default: return .refused
            }
        } catch {
            // Where nobody can be asked, it is as where nobody wants one.
            return error == .silent ? .refused : .among
        }
    }

    /// How the tool ended that has asked.
    private func status(_ method: String, _ words: [BusValue]) async throws(BusError) -> Int32 {
        try await bus.call(
            Self.name, Self.path, Self.name, method, words,
            until: Clock.bootMilliseconds() + Self.patience
        ).int32()
    }

    private func ask(_ method: String, _ store: String) async -> PromptEnd {
        do throws(BusError) {
            return try await status(method, [.string(store)]) == 0 ? .opened : .refused
        } catch {
            switch error {
            case .refused(_, let text): return .unavailable(text)
            case .silent: return .refused
            case .gone, .malformed, .unsent: return .unavailable("the agent does not answer")
            }
        }
    }

    func withdraw(_ store: String) {
        EventLoop.shared.task {
            // An agent that has no such dialog says so, and that is well.
            _ = try? await self.bus.call(
                Self.name, Self.path, Self.name, "Withdraw", [.string(store)],
                until: Clock.bootMilliseconds() + 10_000)
        }
    }
}
