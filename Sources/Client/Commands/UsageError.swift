import Policy
import Wire

/// An argument that makes no sense: what is wrong, and what would be right.
struct UsageError: Error, Equatable {
    var message: Text
    var hint: Text

    init(_ message: Text, hint: Text) {
        self.message = message
        self.hint = hint
    }

    static func noVerb(_ word: String, _ verbs: [VerbEntry]) -> UsageError {
        let nearest = Nearness.onCommandLine.nearest(
            to: Array(word.utf8), among: verbs.map(\.name))
        return UsageError(
            Text("there is no verb ", Printable.escaped(Array(word.utf8))),
            hint: nearest.map { Text("did you mean `appvault ", $0, "`?") }
                ?? Text("`appvault help` lists them"))
    }

    var refusal: Refused {
        Refused(.invalidArgument, message.bytes, hint: hint.bytes)
    }
}
