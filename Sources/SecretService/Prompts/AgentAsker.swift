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

    func unlock(_ store: String) async -> Asked {
        do throws(BusError) {
            let answer = try await bus.call(
                Self.name, Self.path, Self.name, "Unlock", [.string(store)],
                until: Clock.bootMilliseconds() + Self.patience)
            return try answer.int32() == 0 ? .opened : .refused
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
