import Posix
import Wire

/// A program that shows a question: a pinentry, or what speaks as one.
struct DialogProgram: Equatable {
    var path: [UInt8]
    var argument: StaticString?
    /// Our own window says by a remark that the question stands on the screen. Of others their last
    /// reply before the answer is all that can be known.
    var saysShown: Bool { argument != nil }

    init(_ path: [UInt8], _ argument: StaticString? = nil) {
        (self.path, self.argument) = (path, argument)
    }

    static func == (one: DialogProgram, other: DialogProgram) -> Bool {
        one.path == other.path
            && one.argument.map { "\($0)" } == other.argument.map { "\($0)" }
    }
}

/// One question in a window: a program that is started for it and ended with it.
final class Dialog {
    enum Ending: Equatable {
        case answered
        /// The person has pressed the other button, or closed the window.
        case declined
        /// The program has died under it.
        case lost
        /// The daemon goes on without the answer, or is gone.
        case overtaken
        case tooLong
        /// Another dialog of AppVault was open all the time.
        case busy
        /// The program cannot show one here.
        case notShown
    }

    enum Event: Equatable {
        /// There is something at the other descriptor.
        case other
        case ended(Ending)
        case late
    }

    /// What starts it, and whose turn it has to wait for.
    struct Surroundings {
        /// The next one is started where one cannot show a window.
        var programs: [DialogProgram]
        var environment: [[UInt8]]
        var turn: [UInt8]?
        var patience: UInt64 = 120_000
        /// From its start until it opens the window.
        var readiness: UInt64 = 10_000
    }

    private let surroundings: Surroundings
    private let script: [[UInt8]]
    /// It has a field for an answer, and not just buttons.
    let takesPasscode: Bool
    private var turn: Turn?
    /// Those that have not been tried yet.
    private var programs: [DialogProgram]
    private var process: PipedProcess?
    private var replies = AssuanReplies()
    /// How many replies are left before the person's answer.
    private var preparations: Int
    /// The program says when it is shown, and has not said so yet.
    private var isToBeShown = false
    private var deadline: UInt64
    private(set) var ending: Ending?

    /// Each line of the script is a command, and the last one opens the window.
    init(_ script: [[UInt8]], takesPasscode: Bool, _ surroundings: Surroundings) {
        self.script = script
        self.takesPasscode = takesPasscode
        self.surroundings = surroundings
        programs = surroundings.programs
        // One for each line but the last, and the greeting.
        preparations = script.count
        deadline = ToolIO.milliseconds + surroundings.patience
        if let path = surroundings.turn { turn = try? Turn(at: path) }
    }

    /// Closes the window, whatever is in it.
    func end(_ ending: Ending) {
        process = nil
        turn = nil
        if self.ending == nil { self.ending = ending }
    }

    func take(into answer: inout SecretBuffer) { answer.append(replies.data) }

    /// Confirmed without an answer: the person goes on to the question.
    var isSkipped: Bool { ending == .answered && replies.data.isEmpty }
    /// Another dialog is open.
    private(set) var waitsForTurn = false

    /// Waits until it has ended, or for another descriptor, which is told of first. -1
    /// milliseconds are for ever.
    func wait(beside other: Int32, _ milliseconds: Int32) -> Event {
        let late = milliseconds < 0 ? UInt64.max : ToolIO.milliseconds + UInt64(milliseconds)
        while true {
            if let ending { return .ended(ending) }
            if process == nil { start() }
            if let ending { return .ended(ending) }
            let now = ToolIO.milliseconds
            let isPreparing = isPreparing
            if isPreparing, now >= deadline {
                if waitsForTurn { end(.busy) } else { giveUp() }
                continue
            }
            guard now < late else { return .late }
            var next = late
            if isPreparing { next = min(next, deadline) }
            // A lock on a file says nothing when it becomes free.
            if waitsForTurn { next = min(next, now + 100) }
            switch arrival(beside: other, next == .max ? -1 : Int32(clamping: next - now)) {
            case .other: return .other
            case .late: continue
            case .output: hear()
            }
        }
    }

    /// Nobody has seen the question yet.
    private var isPreparing: Bool { preparations > 0 || isToBeShown }

    private func arrival(beside other: Int32, _ milliseconds: Int32) -> PipedProcess.Arrival {
        guard process != nil else { return ToolIO.wait(for: other, milliseconds) }
        return process!.wait(beside: other, milliseconds)
    }

    private func start() {
        waitsForTurn = turn?.take() == false
        if waitsForTurn { return }
        guard let program = programs.first else { return end(.notShown) }
        programs.removeFirst()
        isToBeShown = program.saysShown
        do throws(PosixError) {
            process = try PipedProcess(
                program.path, argument: program.argument, environment: surroundings.environment,
                told: Array(script.joined(separator: [0x0A])) + [0x0A])
            deadline = ToolIO.milliseconds + surroundings.readiness
        } catch {
            giveUp()
        }
    }

    /// This program shows nothing here: the next one may.
    private func giveUp() {
        guard !programs.isEmpty else { return end(.notShown) }
        process = nil
        replies = AssuanReplies()
        preparations = script.count
        start()
    }

    private func hear() {
        guard let isOpen = try? replies.read(from: process!), isOpen else {
            return isPreparing ? giveUp() : end(.lost)
        }
        do throws(AssuanReplies.Fault) {
            while ending == nil, let reply = try replies.next() { try note(reply) }
        } catch {
            if isPreparing { giveUp() } else { end(.lost) }
        }
    }

    private func note(_ reply: AssuanReplies.Reply) throws(AssuanReplies.Fault) {
        switch (reply, preparations > 0) {
        case (.remark, true): break
        case (.remark, false): isToBeShown = false
        case (.data, true): throw .notUnderstood
        case (.data, false):
            if replies.data.count > Limits.secret { end(.tooLong) }
        // An older program may not know a button's label; it has labels of its own.
        case (.ok, true), (.error, true): preparations -= 1
        case (.ok, false): end(.answered)
        case (.error(let number), false): end(Self.ending(number))
        }
    }

    private static func ending(_ number: UInt16) -> Ending {
        switch number {
        // GPG_ERR_TIMEOUT, GPG_ERR_CANCELED, GPG_ERR_NOT_CONFIRMED, GPG_ERR_FULLY_CANCELED
        case 62, 99, 114, 198: .declined
        default: .notShown
        }
    }
}
