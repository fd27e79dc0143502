import Policy
import ToolTexts
import Words

/// The texts that `[Texts]` of a policy may replace, for what looks for mistakes in policy files. It
/// needs no daemon. What is shown to a person comes from the daemon all the same.
extension ReplaceableTexts {
    static var all: ReplaceableTexts {
        ReplaceableTexts(
            counts: Dictionary(
                uniqueKeysWithValues: ListedText.all.map { ($0.id, $0.positions.count) }),
            positions: { Positions.of($0) })
    }
}
