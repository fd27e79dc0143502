import Wire

struct FingerprintDeleteCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "delete"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "forget a finger, or all of them",
        text: [
            "Also on a reader's own chip. Asks for the passcode. With the last one, and without a name, the "
                + "fingerprint is off; without a name it asks first.",
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
