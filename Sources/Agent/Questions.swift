import Bus
import Posix

/// What the person is asked for programs that cannot ask themselves: one dialog for each question
/// about a store, as long as somebody waits for its answer.
@LoopActor
final class Questions {
    /// As long as a whole exchange may take, and a little more.
    static let patience: Int32 = 660_000

    private let bus: Bus
    private let runner: ToolRunner
    private let tool: String
    private var open: [Matter: Question] = [:]
    private var callers: [String: Caller] = [:]

    /// What the person is asked, by one verb of the tool.
    enum Matter: Hashable {
        case unlock(String)
        /// A whole store goes.
        case erase(String)
        /// A program wants a collection: with a passcode of its own, or without one.
        case make(String, id: String)

        var store: String {
            switch self {
            case .unlock(let store), .erase(let store), .make(let store, _): store
            }
        }

        var words: [String] {
            switch self {
            case .unlock(let store): ["unlock", "--store=" + store]
            case .erase(let store): ["reset", "--store=" + store]
            case .make(let store, let id):
                ["create", "--own-passcode", "--collection", "--id=" + id, "--store=" + store]
            }
        }
    }

    private typealias Answer = First<ToolRunner.Result?>

    @LoopActor
    private final class Question {
        let lifeline: Lifeline
        var waiting: [Answer] = []

        init(_ lifeline: Lifeline) { self.lifeline = lifeline }
    }

    /// A program on the bus, with what it waits for.
    @LoopActor
    private final class Caller {
        var waiting: [(question: Question, answer: Answer)] = []
    }

    /// The program waits for this store no more, though it stays on the bus.
    func withdraw(_ store: String, for name: String) {
        guard let caller = callers[name] else { return }
        let questions = open.filter { $0.key.store == store }.values
        giveUp(caller.waiting.filter { wait in questions.contains { $0 === wait.question } })
    }

    init(_ bus: Bus, _ runner: ToolRunner, tool: String) {
        (self.bus, self.runner, self.tool) = (bus, runner, tool)
    }

    /// Nil if the dialog could not be started, or if the caller has left the bus: then nobody shall
    /// find a dialog whose answer opens the store for no one.
    func ask(_ matter: Matter, for name: String) async -> ToolRunner.Result? {
        guard let question = open[matter] ?? begin(matter) else { return nil }
        let answer = Answer()
        question.waiting.append(answer)
        wait(name, question, answer)
        let result = await answer.value()
        end(name, answer)
        return result
    }

    private func begin(_ matter: Matter) -> Question? {
        guard let lifeline = try? Lifeline() else { return nil }
        let question = Question(lifeline)
        open[matter] = question
        EventLoop.shared.task {
            let result = await self.runner.run(
                [self.tool] + matter.words, milliseconds: Self.patience, lifeline: lifeline)
            if self.open[matter] === question { self.open[matter] = nil }
            for each in question.waiting { each.settle(result) }
            question.waiting = []
        }
        return question
    }

    // MARK: who waits

    private func wait(_ name: String, _ question: Question, _ answer: Answer) {
        if let caller = callers[name] {
            caller.waiting.append((question, answer))
            return
        }
        let caller = Caller()
        caller.waiting.append((question, answer))
        callers[name] = caller
        EventLoop.shared.task {
            // A bus that does not say it lets the dialog stay, as long as it may.
            do throws(BusError) {
                try await self.bus.follow(
                    name, until: Clock.bootMilliseconds() + UInt64(Self.patience)
                ) { owner in
                    if owner == nil { self.left(caller) }
                }
            } catch {
                return
            }
            if self.bus.owner(of: name) == nil { self.left(caller) }
        }
    }

    private func left(_ caller: Caller) { giveUp(caller.waiting) }

    private func giveUp(_ waits: [(question: Question, answer: Answer)]) {
        for (question, answer) in waits {
            question.waiting.removeAll { $0 === answer }
            if question.waiting.isEmpty {
                question.lifeline.cut()
                // Whoever asks from now on gets a dialog of their own.
                open = open.filter { $0.value !== question }
            }
            answer.settle(nil)
        }
    }

    private func end(_ name: String, _ answer: Answer) {
        guard let caller = callers[name] else { return }
        caller.waiting.removeAll { $0.answer === answer }
        guard caller.waiting.isEmpty else { return }
        callers[name] = nil
        bus.leave(name)
    }
}
