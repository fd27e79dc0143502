import Wire

struct UnlockCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["unlock"], group: .store, operands: [], options: [.user],
        summary: "open the store",
        text: [
            "Asks for the passcode. A store that is open stays open and nothing is asked, unless something is due: then, "
                + "on a terminal, it goes on with that."
        ])
    static let offer = RecoveryOffer.asked

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .openStore, run.target())
    }
}
