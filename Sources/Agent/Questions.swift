import Bus
import Posix

/// What the person is asked for programs that cannot ask themselves: one dialog for each store, as
/// long as somebody waits for its answer.
@LoopActor
final class Questions {
    /// As long as a whole exchange may take, and a little more.
    static let patience: Int32 = 660_000

    private let bus: Bus
    private let runner: ToolRunner
    private let tool: String
    private var open: [String: Question] = [:]
    private var callers: [String: Caller] = [:]

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
        guard let question = open[store], let caller = callers[name] else { return }
        giveUp(caller.waiting.filter { $0.question === question })
    }

    init(_ bus: Bus, _ runner: ToolRunner, tool: String) {
        (self.bus, self.runner, self.tool) = (bus, runner, tool)
    }

    /// Asks for what opens the store. Nil if the dialog could not be started, or if the caller has
    /// left the bus: then nobody shall find a dialog whose answer opens the store for no one.
    func unlock(_ store: String, for name: String) async -> ToolRunner.Result? {
        guard let question = open[store] ?? ask(store) else { return nil }
        let answer = Answer()
        question.waiting.append(answer)
        wait(name, question, answer)
        let result = await answer.value()
        end(name, answer)
        return result
    }

    private func ask(_ store: String) -> Question? {
        guard let lifeline = try? Lifeline() else { return nil }
        let question = Question(lifeline)
        open[store] = question
        EventLoop.shared.task {
            let result = await self.runner.run(
                [self.tool, "unlock", "--store=" + store], milliseconds: Self.patience,
                lifeline: lifeline)
            if self.open[store] === question { self.open[store] = nil }
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
