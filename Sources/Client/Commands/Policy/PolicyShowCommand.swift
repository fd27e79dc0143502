import Wire

struct PolicyShowCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["policy", "show"], group: .policy, operands: [], options: [.user],
        summary: "show the rules in force, and where each comes from",
        text: [
            "Every key with its value and its place: FILE:LINE, or built in where no file names it. Keys that "
                + "this release does not act on yet are marked. Where a file is broken, what is wrong with it "
                + "stands on top, and the values are those that stay in force. While `appvault hold` keeps the store "
                + "open, a line says until when.",
            "Into a pipe: KEY, value, place and mark in columns with tabs between them, and what is no key "
                + "behind a #.",
        ],
        json: [
            .init("mode", "`administrators`, `standard` or `no-passcode`"),
            .init("problem", "what is wrong with a file: FILE:LINE: KEY: wrong: right; else null"),
            .init(
                "heldUntil",
                "seconds since 1970, until which `hold` keeps the store open; 0 is not held"),
            .init("values[].key", "the key"),
            .init("values[].value", "its value, as the file would say it"),
            .init("values[].file", "where it comes from; null where it is built in"),
            .init("values[].line", "the line of that file; null where it is built in"),
            .init("values[].actedOn", "whether this release acts on it"),
            .init("rules[].name", "a rule of the administrator's that applies"),
            .init("rules[].display", "what a person reads"),
            .init("rules[].kind", "`match`, `reject` or `dictionary`"),
            .init("rules[].file", "where it stands"),
            .init("rules[].line", "the line of its section"),
        ],
        examples: [
            .init(
                command: "appvault policy show --user alice", meaning: "what holds for alice (root)"
            )
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let values = try run.connect().policy(run.target())
        let heldUntil = (try? run.connect().status(run.target()))?.heldUntil ?? 0
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            PolicyView.write(values, heldUntil: heldUntil, to: &json)
            run.voice.print(json.finish())
        case (.plain, true):
            run.voice.print(
                PolicyView.text(
                    values, heldUntil: heldUntil, run.voice.outputPaint, run.columns, run.words))
        case (.plain, false): run.voice.print(PolicyView.fields(values, heldUntil: heldUntil))
        }
        return .success
    }
}
