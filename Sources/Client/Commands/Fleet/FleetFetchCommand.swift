import Wire

struct FleetFetchCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fleet", "fetch"], group: .fleet, operands: [],
        summary: "fetch what the organisation has new, now (root)",
        text: [
            "A timer does it every 15 minutes. The daemon has a small program ask the server, and checks itself what "
                + "comes. Where the organisation wants a report of this machine, it is handed in, too."
        ],
        examples: [
            .init(
                command: "sudo appvault fleet fetch",
                meaning: "after something was published, or to see why nothing comes")
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .fleetFetch, Empty())
    }
}
