import Wire

struct FleetLeaveCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fleet", "leave"], group: .fleet, operands: [],
        summary: "let the organisation set no rules here any more (root)",
        text: ["The stores stay. From now on this machine's own policy holds for them."])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.agree(Self.entry.name, run.words(.agreeFleetLeave))
        return try run.act(Self.entry.name, .fleetLeave, Empty())
    }
}
