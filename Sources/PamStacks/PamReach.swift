/// Goes all ways through a stack, under some assumptions. Nothing is guessed from how the lines
/// look.
struct PamReach {
    struct Assumptions: Equatable {
        enum Others: Equatable {
            /// A module that authenticates may succeed or fail.
            case mayProve
            case prove
            case neverProve
        }

        enum Conditions: Equatable { case either, never }

        /// What AppVault returns on the lines where it asks.
        var ours: PamResult
        var others = Others.mayProve
        var conditions = Conditions.either
        /// Lines of ours whose module cannot be loaded.
        var missing: Set<PamLine> = []

        /// The results that the module of a line may return.
        func results(_ line: PamLine) -> [PamResult] {
            if missing.contains(line) { return [.moduleUnknown] }
            let no: [PamResult] = [.authError, .userUnknown, .authInfoUnavailable]
            return switch PamRole(line) {
            case .asks: [ours]
            case .unlocks: [.ignore]
            case .judges: [ours == .success ? .success : .ignore]
            case .permits: [.success]
            case .denies: [.authError]
            case .proves, .unknown:
                switch others {
                case .mayProve: [.success] + no
                case .prove: [.success]
                case .neverProve: no
                }
            case .conditions:
                switch conditions {
                case .either: [.success, .authError, .permissionDenied, .ignore]
                case .never: [.authError, .permissionDenied, .ignore]
                }
            case .aside: [.success, .ignore]
            }
        }
    }

    /// How one way ends.
    struct End: Hashable {
        var result: PamResult
        /// A module other than AppVault has authenticated the person.
        var isProven = false
        /// A module that AppVault does not know has succeeded. It may have authenticated the
        /// person.
        var isDoubtful = false
        /// The positions of AppVault's lines that were reached, and of those that were reached
        /// after another module had succeeded in authenticating.
        var asked: Set<Int> = []
        var askedAfterProof: Set<Int> = []
    }

    private struct State: Hashable {
        var walk = PamWalk()
        var end = End(result: .mustFail)
    }

    /// Real stacks have some dozens of lines; none needs more states than this.
    private static let most = 50_000

    let stack: PamStack

    /// nil if there are too many ways to go through.
    func ends(_ assumptions: Assumptions) -> Set<End>? {
        guard !stack.steps.isEmpty else { return [End(result: .mustFail)] }
        var ends: Set<End> = []
        var seen: Set<State> = []
        var open = [State()]
        while var state = open.popLast() {
            guard let line = state.walk.next(in: stack) else {
                state.end.result = state.walk.result
                ends.insert(state.end)
                continue
            }
            let place = state.walk.index
            if line.isOurs {
                state.end.asked.insert(place)
                if state.end.isProven || state.end.isDoubtful {
                    state.end.askedAfterProof.insert(place)
                }
            }
            let role = PamRole(line)
            for result in assumptions.results(line) {
                var next = state
                next.walk.take(result, in: stack)
                if result == .success, role == .proves { next.end.isProven = true }
                if result == .success, role == .unknown { next.end.isDoubtful = true }
                if seen.insert(next).inserted { open.append(next) }
            }
            guard seen.count < Self.most else { return nil }
        }
        return ends
    }
}
