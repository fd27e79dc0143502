import Posix
import Wire

struct GetCommand: Command {
    static let entry = VerbEntry(
        words: ["get"], group: .records, operands: ["NAME"],
        summary: "show the value of a name",
        text: [
            "Into a pipe or a file the value goes as it is; a terminal gets a newline behind it."
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
    static let offer = RecoveryOffer.afterwards

    var name: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> GetCommand {
        GetCommand(name: try arguments.recordName())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var value = SecretBuffer()
        try run.connect().get(name, store: run.settings.store, into: &value)
        switch run.settings.form {
        case .plain:
            // On a terminal the value ends with a newline. A program gets exactly the stored bytes.
            if run.environment.output.isTerminal, value.isEmpty || value[value.count - 1] != 0x0A {
                value.append(0x0A)
            }
            try run.output(value)
        case .json:
            var json = JSON()
            json.field("name", name)
            value.withSpan { json.field("value", $0) }
            try run.output(json.finish())
        }
        return .success
    }
}
