import Wire

struct FleetWipeCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "wipe"], group: .fleet, operands: FleetOrderChange.operands,
        options: [.before, .join],
        summary: "write into a file of orders whose stores are wiped",
        text: [
            "VERSION is the version of the bundle that these orders go into: only stores are wiped that were made before, so that "
                + "a new one stays. Orders that wipe need WipeThreshold signatures, as long as they stand there. "
                + "offline:DAYS instead of a target: a machine wipes that has run for so many days without a newer bundle; it has "
                + "to be locked some days before.",
            FleetOrderChange.about,
        ],
        json: FleetOrderChange.json,
        examples: [
            .init(
                command: "appvault fleet wipe orders alice --before 12 --join example.join",
                meaning: "the laptop will not come back; the next bundle is version 12")
        ])
    static let offer = RecoveryOffer.never

    var change: FleetOrderChange

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetWipeCommand {
        var change = try FleetOrderChange(arguments, .wipe(before: 0)) { .wipe($0) }
        change.kind = .wipe(
            before: try FleetOrderChange.before(arguments, isNeeded: !change.targets.isEmpty))
        return FleetWipeCommand(change: change)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try change.run(run, Self.entry.name)
    }
}
