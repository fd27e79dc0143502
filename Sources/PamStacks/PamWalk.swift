/// libpam's loop over a stack (pam_dispatch.c), one result at a time: where libpam is, and what it
/// would return so far.
struct PamWalk: Hashable, Sendable {
    enum Impression: Hashable, Sendable { case undefined, positive, negative }

    struct Opinion: Hashable, Sendable {
        var impression = Impression.undefined
        var status = PamResult.mustFail
    }

    private(set) var index = 0
    private var previousLevel = 0
    private var opinion = Opinion()
    /// The opinion before each substack that was entered and not left yet.
    private var kept: [Int: Opinion] = [:]

    /// The module that libpam asks next; nil at the end. Passes over steps that are no module.
    mutating func next(in stack: PamStack) -> PamLine? {
        while index < stack.steps.count {
            let step = stack.steps[index]
            if step.level > previousLevel { kept[step.level] = opinion }
            if step.level < previousLevel { kept = kept.filter { $0.key <= step.level } }
            switch step.act {
            case .module(let line): return line
            case .substack:
                previousLevel = step.level
                index += 1
            case .mustFail: take(.mustFail, .bad, in: stack)
            }
        }
        return nil
    }

    /// Goes on with the result of the module that `next` returned.
    mutating func take(_ result: PamResult, in stack: PamStack) {
        guard index < stack.steps.count, let line = stack.steps[index].line else { return }
        take(result, line.control[result], in: stack)
    }

    /// The result of the stack; valid after `next` has returned nil.
    var result: PamResult {
        opinion.status == .success && opinion.impression != .positive
            ? .mustFail : opinion.status
    }

    private mutating func take(_ result: PamResult, _ action: PamAction, in stack: PamStack) {
        let level = stack.steps[index].level
        previousLevel = level
        switch action {
        case .reset: opinion = kept[level] ?? Opinion()
        case .ok, .done:
            if opinion.impression == .undefined
                || (opinion.impression == .positive && opinion.status == .success)
            {
                opinion = Opinion(impression: .positive, status: result)
            }
            if action == .done, opinion.impression == .positive { return leave(level, stack) }
        case .bad, .die:
            fail(result == .ignore ? .mustFail : result)
            if action == .die { return leave(level, stack) }
        case .ignore: break
        case .jump(let count): return jump(count, level, stack)
        }
        index += 1
    }

    private mutating func fail(_ result: PamResult, always: Bool = false) {
        guard always || opinion.impression != .negative else { return }
        opinion = Opinion(impression: .negative, status: result)
    }

    /// Goes to the end of the substack, or of the whole stack.
    private mutating func leave(_ level: Int, _ stack: PamStack) {
        repeat { index += 1 } while index < stack.steps.count && stack.steps[index].level >= level
    }

    /// A substack counts as one module. A jump beyond the end fails the stack.
    private mutating func jump(_ count: Int, _ level: Int, _ stack: PamStack) {
        let steps = stack.steps
        var left = count
        while index + 1 < steps.count, steps[index + 1].level >= level, left > 0 {
            repeat { index += 1 } while index + 1 < steps.count && steps[index + 1].level > level
            left -= 1
        }
        if left > 0 { fail(.mustFail, always: true) }
        index += 1
    }
}

extension PamStack {
    /// What libpam would return if each module returned what `answer` gives.
    func result(_ answer: (PamLine) -> PamResult) -> PamResult {
        guard !steps.isEmpty else { return .mustFail }
        var walk = PamWalk()
        while let line = walk.next(in: self) { walk.take(answer(line), in: self) }
        return walk.result
    }

    /// The way through the stack if, of all modules that authenticate, only this line's succeeds:
    /// what libpam returns, and the positions that it comes to.
    func way(proving line: PamLine) -> (result: PamResult, reached: Set<Int>) {
        var walk = PamWalk()
        var reached: Set<Int> = []
        while let next = walk.next(in: self) {
            reached.insert(walk.index)
            let result: PamResult =
                switch PamRole(next) {
                case _ where next == line: .success
                case .asks: .authInfoUnavailable
                case .unlocks, .judges: .ignore
                case .permits, .conditions, .aside: .success
                case .denies: .authError
                case .proves, .unknown: .userUnknown
                }
            walk.take(result, in: self)
        }
        return (walk.result, reached)
    }
}
