import Wire

struct FingerprintEnrollCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "enroll"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "enrol a finger that opens the store",
        text: [
            "Asks for the passcode, then for the finger, several times; what helps is said when it cannot be read. "
                + "Without a name it is the right index finger. The first finger that is enrolled turns the fingerprint "
                + "on.",
            Arguments.fingers + " Enrolling one again replaces it.",
            "A reader that keeps prints on its own chip is touched once more at the beginning, to see whether it "
                + "knows the finger already.",
            "A finger opens the store once a passcode has opened it since the machine started.",
        ],
        examples: [
            .init(command: "appvault fingerprint enroll", meaning: "the right index finger"),
            .init(command: "appvault fingerprint enroll left-thumb", meaning: "another one"),
        ])
    static let offer = RecoveryOffer.hinted

    var finger: Finger

    static func parse(_ arguments: Arguments) throws(UsageError) -> FingerprintEnrollCommand {
        FingerprintEnrollCommand(finger: try arguments.finger())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        return try run.act(
            Self.entry.name, .fingerprintEnroll,
            FingerRequest(subject: target.subject, store: target.store, finger: finger))
    }
}
