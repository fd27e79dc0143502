import Wire

struct FingerprintOffCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fingerprint", "off"], group: .fingers, operands: [], options: [.user],
        summary: "let no finger open the store any more",
        text: [
            "It deletes all enrolled fingers. It asks whether you mean it, and then for the passcode."
        ])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        try run.agree(
            to: "turn-off-fingerprint", Self.entry.name, run.words(.agreeFingersOff))
        return try run.act(
            Self.entry.name, .fingerprintSwitch,
            FingerSwitch(subject: target.subject, store: target.store, on: false))
    }
}
