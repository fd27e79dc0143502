import Wire

struct ResyncCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["resync"], group: .mending, operands: [], options: [.user],
        summary: "follow a login password that was changed elsewhere",
        text: [
            "Asks for the login password, and once for the former one or for the recovery key."
        ])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .resync, run.target())
    }
}
