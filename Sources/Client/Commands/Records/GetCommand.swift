import Posix
import Wire

struct GetCommand: Command {
    static let entry = VerbEntry(
        words: ["get"], group: .records, operands: ["NAME"],
        summary: "show the value of a name",
        text: [
            "A pipe or a file gets the value exactly as it was stored. On a terminal a newline follows it, and "
                + "control characters are shown as numbers, because they could steer the terminal."
        ],
        json: [
            .init("name", "the name"),
            .init("value", "the value"),
            .init("valueEncoding", "`base64`, where the value is not UTF-8"),
        ],
        examples: [
            .init(
                command: "appvault get tls.key >server.key",
                meaning: "the very bytes that were stored")
        ])
    static let offer = RecoveryOffer.hinted

    var name: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> GetCommand {
        GetCommand(name: try arguments.recordName())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var value = SecretBuffer()
        try run.connect().get(name, store: run.settings.store, into: &value)
        switch run.settings.form {
        case .plain:
            // A program gets exactly the stored bytes.
            guard run.environment.output.isTerminal else {
                try run.output(value)
                break
            }
            var shown = SecretBuffer()
            Printable.escape(value, into: &shown)
            if shown.isEmpty || shown[shown.count - 1] != 0x0A { shown.append(0x0A) }
            try run.output(shown)
        case .json:
            var json = JSON()
            json.field("name", name)
            value.withSpan { json.field("value", $0) }
            try run.output(json.finish())
        }
        return .success
    }
}
