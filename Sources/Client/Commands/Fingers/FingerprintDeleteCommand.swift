import Wire

struct FingerprintDeleteCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "delete"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "forget a finger, or all of them",
        text: [
            "It asks for the passcode. A reader that keeps prints on its own chip forgets the finger, too. Without "
                + "FINGER it asks, and then deletes all of them. After the last one no finger opens the store.",
            Arguments.fingers,
        ])
    static let offer = RecoveryOffer.hinted

    /// `unnamed` means all fingers.
    var finger: Finger

    static func parse(_ arguments: Arguments) throws(UsageError) -> FingerprintDeleteCommand {
        FingerprintDeleteCommand(finger: try arguments.finger())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        if finger == .unnamed {
            try run.agree(Self.entry.name, run.words(.agreeFingersDelete))
        }
        return try run.act(
            Self.entry.name, .fingerprintDelete,
            FingerRequest(subject: target.subject, store: target.store, finger: finger))
    }
}
