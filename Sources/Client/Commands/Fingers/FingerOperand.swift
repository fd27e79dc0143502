import Policy
import Wire

extension Arguments {
    /// What the operand FINGER means, for the verbs that have one.
    static let fingers =
        "A finger is `left-` or `right-` and `thumb`, `index`, `middle`, `ring` or `little`."

    func finger() throws(UsageError) -> Finger {
        guard let operand = operands.first else { return .unnamed }
        let word = String(decoding: operand, as: UTF8.self)
        if let finger = Finger.named(word) { return finger }
        let names = Finger.named.map(\.name)
        throw UsageError(
            Text("there is no finger ", Printable.escaped(operand)),
            hint: Nearness.onCommandLine.nearest(to: Array(word.utf8), among: names)
                .map { Text("did you mean ", $0, "?") } ?? Text(names.joined(separator: ", ")))
    }
}
