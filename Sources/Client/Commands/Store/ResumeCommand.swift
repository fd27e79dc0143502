import Wire

struct ResumeCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["resume"], group: .store, operands: [],
        summary: "end `appvault hold`",
        text: [
            "From now on the store locks by itself again, at once if its screen is locked. Needs no passcode."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .hold, Hold(target: run.target(), seconds: 0))
    }
}
