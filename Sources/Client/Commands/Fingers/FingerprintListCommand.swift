import Wire

struct FingerprintListCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fingerprint", "list"], group: .fingers, operands: [], options: [.user],
        summary: "show the enrolled fingers, and the readers",
        text: [
            "It changes nothing. If a reader's own chip holds prints that are not AppVault's, it says how many.",
            "A pipe gets a line for each finger: its name, the reader, when it was enrolled (seconds since 1970), and "
                + "`usable` or `unusable`, with tabs between them.",
        ],
        json: [
            .init("on", "whether fingers open the store"),
            .init("ready", "whether one would now: a passcode opened it since the machine started"),
            .init("failuresLeft", "failed matches until the passcode is needed"),
            .init("unavailable", "why no finger can be read; null where one can"),
            .init("advice", "what can be done about that; null where nothing can"),
            .init("fingers[].finger", "`right-index` and so on"),
            .init("fingers[].reader", "the reader that it was enrolled on"),
            .init("fingers[].at", "seconds since 1970"),
            .init("fingers[].usable", "whether it can open the store"),
            .init(
                "fingers[].standing",
                "`usable`; `away`: the reader is not there; `moved`: it is at another port; `gone`: it "
                    + "no longer holds the print"),
            .init("readers[].name", "a reader of this machine"),
            .init("readers[].driver", "libfprint's driver for it"),
            .init("readers[].scan", "`press` or `swipe`"),
            .init("readers[].stages", "how often it wants a finger that is enrolled"),
            .init("readers[].identifies", "whether it can tell several fingers apart"),
            .init("readers[].stores", "whether it keeps prints on a chip of its own"),
            .init("readers[].internal", "whether it is fixed to the machine"),
            .init("readers[].port", "where it is connected"),
            .init("foreign", "prints on a chip that are not AppVault's"),
            .init(
                "tellsWho",
                "whether a finger says who it is (`fingerprint who`); null where that is not known"),
            .init("keepsPassword", "whether the login password is kept, for `set_authtok`"),
        ],
        examples: [.init(command: "appvault fingerprint list --json", meaning: "for programs")])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let state = try run.connect().ask(
            .fingerprintList, run.target(), for: .fingerprintState, FingerprintState.self)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            FingerprintView.write(state, tellsWho: tellsWho(state, run), to: &json)
            run.voice.print(json.finish())
        case (.plain, true):
            run.voice.print(
                FingerprintView.text(
                    state, tellsWho: tellsWho(state, run), run.voice, run.words,
                    run.environment.marks))
            if !state.advice.isEmpty {
                run.voice.hint(state.advice)
            } else if state.fingers.isEmpty, state.unavailable.isEmpty {
                run.voice.hint(run.words(.fingersNoneHint))
            }
        case (.plain, false): run.voice.print(FingerprintView.fields(state))
        }
        return .success
    }

    /// Nobody is told of another account's people, and a daemon of a former release does not know it.
    private func tellsWho(_ state: FingerprintState, _ run: Run) -> Bool? {
        guard state.on else { return false }
        guard run.settings.user.isEmpty else { return nil }
        do throws(ClientError) {
            let asked = SwitchStore(store: run.settings.store, act: .agreed)
            let done = try run.connect().ask(.switchStore, asked, for: .done, Done.self)
            return done.line.id == Array("people.finger.on".utf8)
        } catch {
            run.disconnect()
            return nil
        }
    }
}
