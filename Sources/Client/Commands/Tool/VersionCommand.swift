import Wire

struct VersionCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["version"], group: .tool, operands: [],
        summary: "show the versions of tool and daemon",
        text: ["The daemon's is left out where none runs."],
        json: [
            .init("appvault", "the tool's"),
            .init("appvaultd", "the daemon's, or null"),
            .init("protocol", "the version of the protocol that the tool speaks"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let daemon = try? run.connect().software
        switch run.settings.form {
        case .plain:
            var text = Text("appvault ", ThisRelease.text, "\n")
            if let daemon { text += Text("appvaultd ", Printable.escaped(daemon), "\n") }
            run.voice.print(text.bytes)
        case .json:
            var json = JSON()
            json.field("appvault", ThisRelease.text)
            if let daemon { json.field("appvaultd", daemon) } else { json.null("appvaultd") }
            json.field("protocol", Int(Limits.version))
            run.voice.print(json.finish())
        }
        return .success
    }
}
