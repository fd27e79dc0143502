import Wire

struct ResetCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["reset"], group: .mending, operands: [], options: [.user],
        summary: "erase the store and everything in it",
        text: [
            "Needs the passcode, or root. Copies in backups and on worn flash may live on; only the passcode "
                + "protects those."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        try run.agree(Self.entry.name, run.words(.agreeReset))
        let status = try run.act(Self.entry.name, .reset, target)
        if run.settings.form == .plain, run.settings.user.isEmpty, run.answers.kind == .terminal {
            run.voice.hint(run.words(.resetHint))
        }
        return status
    }
}
