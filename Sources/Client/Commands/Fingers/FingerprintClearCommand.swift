import Wire

struct FingerprintClearCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "clear"], group: .fingers, operands: ["READER"], options: [],
        summary: "delete everything on a reader's own chip (root)",
        text: [
            "Use it if a reader is full, or still holds fingers from before a reinstallation. It shows what it will "
                + "delete, as far as the reader tells, and asks. AppVault then forgets its own fingers that were on that "
                + "reader, too.",
            "READER is a reader's name, driver or port, as `fingerprint list --json` shows them.",
        ],
        examples: [
            .init(command: "appvault fingerprint clear synaptics", meaning: "by its driver")
        ])
    static let offer = RecoveryOffer.never

    var reader: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> FingerprintClearCommand {
        FingerprintClearCommand(reader: arguments.operands[0])
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(
            Self.entry.name, .fingerprintClear,
            FingerprintClear(reader: reader, agreed: run.settings.agreement == .given))
    }
}
