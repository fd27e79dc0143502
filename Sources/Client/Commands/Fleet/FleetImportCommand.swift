import Wire

struct FleetImportCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "import"], group: .fleet, operands: ["FILE|-"],
        summary: "take a bundle of the organisation's (root)",
        text: [
            "However it came: the daemon itself checks who has signed it. It takes only a version that is newer than the "
                + "one it has, and only one with which the policy of this machine is whole."
        ],
        examples: [
            .init(
                command: "sudo appvault fleet import /media/stick/fleet.bundle",
                meaning: "on a machine without a network")
        ])
    static let offer = RecoveryOffer.never

    var file: FileOperand

    static func parse(_ arguments: Arguments) -> FleetImportCommand {
        FleetImportCommand(file: FileOperand(arguments.operands[0]))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.hand(file, .fleetImport, Self.entry.name)
    }
}
