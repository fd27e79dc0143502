import Wire

struct FleetResetCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "reset"], group: .fleet, operands: FleetOrderChange.operands,
        options: [.before, .join],
        summary: "write into a file of orders whose passcodes are reset",
        text: [
            "For a person who has forgotten theirs. VERSION is the version of the bundle that these orders go into: only the "
                + "passcodes of stores are reset that were made before. It needs WipeThreshold signatures, as long as it stands "
                + "there.",
            FleetOrderChange.about,
        ],
        json: FleetOrderChange.json)
    static let offer = RecoveryOffer.never

    var change: FleetOrderChange

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetResetCommand {
        FleetResetCommand(
            change: try FleetOrderChange(
                arguments,
                .reset(before: try FleetOrderChange.before(arguments, isNeeded: true))))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try change.run(run, Self.entry.name)
    }
}
