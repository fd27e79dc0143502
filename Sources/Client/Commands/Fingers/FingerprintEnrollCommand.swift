import Wire

struct FingerprintEnrollCommand: Command {
    static let entry = VerbEntry(
        words: ["fingerprint", "enroll"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "enrol a finger that opens the store",
        text: [
            "It asks for the passcode, then for the finger, several times, and says what helps if the reader cannot "
                + "read it. Without FINGER it enrols the right index finger. From the first enrolled finger on, fingers "
                + "may open the store.",
            Arguments.fingers + " Enrolling one again replaces it.",
            "If the reader keeps prints on its own chip, you touch it once more at the beginning, so that it can say "
                + "whether it knows the finger already.",
            "After each start of the machine a passcode must open the store once before a finger can.",
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
