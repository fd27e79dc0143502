import Wire

struct FleetUnlockCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "unlock"], group: .fleet, operands: FleetOrderChange.operands,
        options: [.all, .join],
        summary: "take a lock out of a file of orders",
        text: [
            "It takes back what was ordered for the same target: a lock of NAME is none of machine:ID. With --all, also what is "
                + "to be wiped or reset. offline instead of a target: no machine locks or wipes any more because it hears nothing.",
            FleetOrderChange.about,
        ],
        json: FleetOrderChange.json,
        examples: [
            .init(
                command: "appvault fleet unlock orders alice --join example.join",
                meaning: "the laptop was found")
        ])
    static let offer = RecoveryOffer.never

    var change: FleetOrderChange

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetUnlockCommand {
        FleetUnlockCommand(
            change: try FleetOrderChange(
                arguments, .unlock(all: arguments.has(.all)), none: true))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try change.run(run, Self.entry.name)
    }
}
