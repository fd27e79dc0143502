/// A stack with all that it includes, as a list of steps.
struct PamStack: Equatable, Sendable {
    struct Step: Equatable, Sendable {
        enum Act: Equatable, Sendable {
            case module(PamLine)
            /// The steps of the substack follow, one level deeper.
            case substack
            /// A line that libpam cannot read: it counts as a failure.
            case mustFail
        }

        var act: Act
        var level: Int

        var line: PamLine? {
            switch act {
            case .module(let line): line
            case .substack, .mustFail: nil
            }
        }
    }

    var steps: [Step] = []

    var lines: [PamLine] { steps.compactMap(\.line) }

    /// The same stack, in which AppVault's lines keep their places but have no effect.
    var neutral: PamStack {
        PamStack(
            steps: steps.map { step in
                guard var line = step.line, line.isOurs else { return step }
                line.control = .neutral
                return Step(act: .module(line), level: step.level)
            })
    }

    /// The same stack without these lines.
    func without(_ gone: (PamLine) -> Bool) -> PamStack {
        PamStack(steps: steps.filter { step in step.line.map { !gone($0) } ?? true })
    }
}
