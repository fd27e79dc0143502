import Wire

struct UnlockCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["unlock"], group: .store, operands: [], options: [.user],
        summary: "open the store",
        text: [
            "It asks for the passcode. If the store is open already, it asks nothing. If a change is due, it goes on with "
                + "that on a terminal."
        ])
    static let offer = RecoveryOffer.askedIfOpen

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .openStore, run.target())
    }
}
