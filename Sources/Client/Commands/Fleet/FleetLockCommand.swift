import Wire

struct FleetLockCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "lock"], group: .fleet, operands: FleetOrderChange.operands,
        options: [.join],
        summary: "write into a file of orders who is locked",
        text: [
            "On every machine that obeys them, their stores lock at once and stay locked until a later bundle does not say so any "
                + "more. No try is counted meanwhile. offline:DAYS instead of a target: a machine locks that has run for so many days "
                + "without a newer bundle.",
            FleetOrderChange.about,
        ],
        json: FleetOrderChange.json,
        examples: [
            .init(
                command: "appvault fleet lock orders alice --join example.join",
                meaning: "Alice has lost her laptop")
        ])
    static let offer = RecoveryOffer.never

    var change: FleetOrderChange

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetLockCommand {
        FleetLockCommand(change: try FleetOrderChange(arguments, .lock) { .lock($0) })
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try change.run(run, Self.entry.name)
    }
}
