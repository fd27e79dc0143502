/// A stack with all that it includes, one step after another.
struct PamStack: Equatable, Sendable {
    struct Step: Equatable, Sendable {
        enum Act: Equatable, Sendable {
            case module(PamLine)
            /// The steps below it stand one level deeper.
            case substack
            /// What libpam makes of a line that it cannot read.
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

    /// As if AppVault's lines counted for nothing, each in its place.
    var neutral: PamStack {
        PamStack(
            steps: steps.map { step in
                guard var line = step.line, line.isOurs else { return step }
                line.control = .neutral
                return Step(act: .module(line), level: step.level)
            })
    }

    /// As if these lines had never been written.
    func without(_ gone: (PamLine) -> Bool) -> PamStack {
        PamStack(steps: steps.filter { step in step.line.map { !gone($0) } ?? true })
    }
}
