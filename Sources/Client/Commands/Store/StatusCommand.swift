import Wire

struct StatusCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["status"], group: .store, operands: [], options: [.user],
        summary: "show the state of a store",
        text: [
            "It asks nothing and changes nothing. If something is wrong, it says what you can do.",
            "A change that is due runs at the next unlock: with `appvault unlock`, or at a login that can ask "
                + "questions.",
        ],
        json: [
            .init(
                "state",
                "`absent`, `locked`, `unlocked`, `erased`, `retry-locked`, `damaged` or `owner-changed`"
            ),
            .init("passcode", "`unknown`, `none`, `passcode` or `passcode+fingerprint`"),
            .init("followsLogin", "whether the passcode is the login password"),
            .init("recoveryKey", "whether there is one"),
            .init("store", "the store's id, or null"),
            .init("name", "the store's name"),
            .init("owner", "the account's name"),
            .init("uid", "its number, or null"),
            .init("kind", "`own`, `follows`, `shared` or `configuration`: what opens it"),
            .init("parent", "the name of the store that it follows; else null"),
            .init("role", "`owner`, `writer` or `reader`: what you may do with it"),
            .init("members", "how many it is shared with, its owner among them; else 0"),
            .init("policyKey", "the policy's section [Passcode store:KEY] that it is under"),
            .init("ownTriesLeft", "at this machine; -1 is no limit"),
            .init("apartTriesLeft", "from elsewhere; -1 is no limit"),
            .init("throttledSeconds", "until the next try at this machine; 0 is now"),
            .init("apartThrottledSeconds", "until the next try from elsewhere; 0 is now"),
            .init("records", "how many, where it is open"),
            .init(
                "used",
                "bytes that all stores of the owner take on the disk; where another person shares it, what this one takes"
            ),
            .init("quota", "bytes that they may take; 0 is no limit, or not told"),
            .init("passcodeSetAt", "seconds since 1970; 0 where there is no passcode"),
            .init(
                "passcodeSource",
                "who made it up: user (a person typed it), device (a program, for itself), unknown"),
            .init("expiresAt", "seconds since 1970; 0 is never"),
            .init("idleTimeout", "seconds without a request after which it locks; 0 is never"),
            .init(
                "heldUntil", "seconds since 1970, until which `hold` keeps it open; 0 is not held"),
            .init("fingerOpens", "whether it is locked and a finger opens it now"),
            .init("sessions", "how many sessions keep it open"),
            .init("pending[].number", "a flow that is due, 1 to 7"),
            .init("pending[].name", "`create`, `change` and so on"),
            .init(
                "pendingReason", "`policy`, `migration`, `recovery` or `expired`; else null"),
            .init(
                "meetsRules",
                "whether the login password meets the rules, if the store follows it; null if that is not known"
            ),
            .init("recoveryOffer", "whether a recovery key waits to be shown"),
            .init("trouble", "what is wrong; may be empty"),
            .init("advice", "what can be done; may be empty"),
        ],
        examples: [.init(command: "appvault status --json", meaning: "for programs")])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let state = try run.connect().status(run.target())
        switch run.settings.form {
        case .json:
            var json = JSON()
            StatusView.write(state, to: &json)
            run.voice.print(json.finish())
        case .plain:
            run.voice.print(StatusView.text(state, run.voice, run.words))
            if let advice = StatusView.advice(state, run.words) { run.voice.hint(advice) }
        }
        return .success
    }
}
