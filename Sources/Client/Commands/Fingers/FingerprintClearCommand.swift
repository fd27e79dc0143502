import Wire

struct FingerprintClearCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "clear"], group: .fingers, operands: ["READER"], options: [],
        summary: "delete everything on a reader's own chip (root)",
        text: [
            "For a reader that is full, or holds fingers that nobody knows any more, as after a reinstallation: it shows "
                + "what goes, as far as the reader tells it, and asks. Fingers of this machine's stores that were on it are "
                + "forgotten too.",
            "The reader is named by its name, its driver or its port, as `fingerprint list --json` shows them.",
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
