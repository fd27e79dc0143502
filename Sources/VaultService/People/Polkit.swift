internal import CSystemd
import Posix

/// What polkit says of a person who asks for something.
enum PolkitAnswer: Equatable, Sendable {
    case yes
    /// Its rules forbid it, or the person did not prove who they are.
    case no
    /// It would ask the person, and no agent is there to do so.
    case noAgent
    /// There is no polkit, it did not answer in time, or too many are asking.
    case absent
}

/// The process that asks, as the kernel knows it.
struct PolkitSubject: Equatable, Sendable {
    let pid: Int32
    /// In the kernel's ticks since the boot: another process with the same pid began later.
    let beginning: UInt64
    /// The process's user when it connected. It may run as another one by now.
    let uid: UInt32
}

/// What polkit is asked for. config/polkit has what each of them demands.
enum PolkitAction: String, Sendable {
    case reset = "org.appvault.reset"
    case join = "org.appvault.join"
}

/// A question to polkit, on a connection of its own. No call here waits for the bus. polkit takes
/// the question back, and whatever window it has opened for it, when the connection ends.
@LoopActor
@safe
final class PolkitQuestion {
    private let state: UnsafeMutablePointer<appvault_polkit>
    private let channel: Channel

    /// How often it is looked whether somebody still waits for the answer.
    private static let lookAgain: UInt64 = 300

    /// Asks, and gives up at the deadline or when nobody waits any more.
    static func ask(
        _ action: PolkitAction, _ subject: PolkitSubject, until deadline: UInt64,
        isWanted: @LoopActor () -> Bool
    ) async -> PolkitAnswer {
        guard let question = PolkitQuestion(action, subject) else { return .absent }
        defer { question.close() }
        while true {
            let now = Clock.bootMilliseconds()
            guard now < deadline, isWanted() else { return .absent }
            switch await question.channel.readable(until: min(deadline, now + lookAgain)) {
            case .closed: return .absent
            case .timedOut: continue
            case .ready: break
            }
            // SAFETY: the state lives until the question is closed, at the end of this function.
            let turned = unsafe appvault_polkit_turn(question.state)
            question.channel.drained()
            let isThere = turned >= 0 && !question.channel.hasHungUp
            switch unsafe Int(question.state.pointee.answer) {
            case APPVAULT_POLKIT_WAITS: if !isThere { return .absent }
            case APPVAULT_POLKIT_YES: return .yes
            case APPVAULT_POLKIT_NO: return .no
            case APPVAULT_POLKIT_NO_AGENT: return .noAgent
            default: return .absent
            }
        }
    }

    /// Nil if there is no system bus.
    private init?(_ action: PolkitAction, _ subject: PolkitSubject) {
        guard let pid = UInt32(exactly: subject.pid), pid > 0 else { return nil }
        let state = UnsafeMutablePointer<appvault_polkit>.allocate(capacity: 1)
        // SAFETY: the memory stays where it is until the bus, which keeps its address, is closed.
        // The same holds in all that follows.
        unsafe state.initialize(to: appvault_polkit())
        guard
            unsafe appvault_polkit_ask(
                state, action.rawValue, pid, subject.beginning, subject.uid) >= 0
        else {
            unsafe state.deallocate()
            return nil
        }
        let number = unsafe appvault_polkit_descriptor(state)
        guard number >= 0, let channel = try? Channel(owning: FileDescriptor(owning: number)) else {
            unsafe appvault_polkit_close(state)
            unsafe state.deallocate()
            return nil
        }
        unsafe self.state = state
        self.channel = channel
    }

    private func close() {
        channel.close()
        unsafe appvault_polkit_close(state)
        unsafe state.deallocate()
    }
}
