import Wire

struct FingerprintVerifyCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fingerprint", "verify"], group: .fingers, operands: [], options: [.user],
        summary: "try whether a finger is recognised",
        text: [
            "It does not open the store. A finger that is not recognised counts as a failed match."
        ]
    )
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .fingerprintVerify, run.target())
    }
}
