import Bus
import Posix

/// appvault-agent, from its beginning to its end.
public enum AgentProgram {
    /// Never returns: the process ends with the agent.
    public static func run() -> Never {
        ThisProcess.leave(main())
    }

    private static func main() -> Int32 {
        let held: HeldSignals
        let signals: Channel
        let core = ToolIO.leaveNoCore()
        guard let options = AgentOptions(ToolIO.arguments()) else {
            Complaint.say("it takes --socket, --tool, --window and --windows, each with a path")
            return 2
        }
        do throws(PosixError) {
            // Before the first thread starts: one that does not block these signals would receive
            // them, and the process would end.
            held = try HeldSignals()
            signals = try Channel(
                owning: try Signals.descriptor(for: [
                    Signals.terminate, Signals.interrupt, Signals.hangup,
                ]))
        } catch {
            Complaint.say(error.description)
            return 1
        }
        let ending = Ending()
        EventLoop.shared.task {
            EventLoop.shared.task {
                _ = await signals.readable(until: nil)
                await ending.agent?.finish()
                ending.end(0)
            }
            await start(held, core, options, ending)
        }
        EventLoop.shared.run()
        return ending.status
    }

    @LoopActor
    private static func start(
        _ signals: HeldSignals, _ core: ToolIO.CoreLimit, _ options: AgentOptions,
        _ ending: Ending
    ) async {
        do throws(BusError) {
            let deadline = Clock.bootMilliseconds() + 20_000
            let bus = try await Bus.open(.session, until: deadline)
            let agent = Agent(bus, signals, core, options, ending)
            ending.agent = agent
            switch try await agent.begin(until: deadline) {
            case .owner: break
            case .taken:
                Complaint.say("another agent runs in this session")
                ending.end(0)
            }
        } catch {
            // The bus has ended, or a signal came.
            guard !ending.isOver else { return }
            Complaint.say("the session bus cannot be used: \(error)")
            ending.end(1)
        }
    }
}

/// How the process ends: by the first reason. Written on the loop, read after the loop has ended.
final class Ending: @unchecked Sendable {
    private(set) var status: Int32 = 0
    private(set) var isOver = false
    @LoopActor var agent: Agent?

    func end(_ status: Int32) {
        guard !isOver else { return }
        isOver = true
        self.status = status
        EventLoop.shared.stop()
    }
}

/// For the journal of the person's own manager.
enum Complaint {
    static func say(_ text: String) {
        StandardError.write(Array("appvault-agent: \(text)\n".utf8))
    }
}
