/// What went wrong before.
extension VerbEntry {
    static let doctor = VerbEntry(
        words: ["doctor"], group: .mending, operands: [],
        summary: "look at every link between a login and your store",
        text: [
            "Socket, daemon, users, state folder, machine key, policy, PAM services, reader, rules worker, sandbox, "
                + "memory, clock, and your own store: each is fine, a warning or broken, with what mends it. Nothing "
                + "is changed. It works without a daemon, and for anybody; some of it only root can see.",
            "PAM's files are not judged by their looks: every way that libpam could take through a service's stack is "
                + "gone through. A service that nobody gets into without AppVault is broken where AppVault is the only "
                + "one that authenticates, and a warning where it was made a required step beside another. Each service "
                + "shows which of the ways it gives: (a) the login password opens the store, (b) AppVault asks for a "
                + "passcode of its own, (c) a finger.",
            "The exit status is 0 where nothing is broken, warnings or not, and 1 otherwise. Into a pipe goes "
                + "one line a finding: state, link, service, text and what mends it, with tabs between them.",
        ],
        json: [
            Field("broken", "how many findings are broken"),
            Field("warnings", "how many are warnings"),
            Field(
                "checks[].state",
                "`ok`, `warning`, `broken`, or `unseen` where it cannot be told from here"),
            Field(
                "checks[].link",
                "`socket`, `daemon`, `users`, `state`, `key`, `policy`, `pam`, `reader`, `rules`, `sandbox`, `memory`, "
                    + "`clock` or `store`"),
            Field("checks[].service", "the PAM service, where it is about one"),
            Field("checks[].text", "what was found"),
            Field("checks[].mend", "what to do"),
            Field("checks[].paste", "lines to add to files"),
        ],
        examples: [
            .init(command: "sudo appvault doctor", meaning: "why does a login not open the store?")
        ])

    static let reset = VerbEntry(
        words: ["reset"], group: .mending, operands: [], options: [.user],
        summary: "erase the store and everything in it",
        text: [
            "Needs the passcode, or root. Copies in backups and on worn flash may live on; only the passcode "
                + "protects those."
        ])

    static let resync = VerbEntry(
        words: ["resync"], group: .mending, operands: [], options: [.user],
        summary: "follow a login password that was changed elsewhere",
        text: [
            "Asks for the login password, and once for the former one or for the recovery key."
        ])

    static let triesClear = VerbEntry(
        words: ["tries", "clear"], group: .mending, operands: [], options: [.user],
        summary: "forget the wrong tries (root)",
        text: ["A store that was locked by too many wrong tries can be tried again."],
        examples: [
            .init(
                command: "appvault tries clear --user alice", meaning: "let alice try again"
            )
        ])

    static let chown = VerbEntry(
        words: ["chown"], group: .mending, operands: ["STORE", "USER"],
        summary: "give a store to the account that owns it now (root)",
        text: [
            "A store whose owner's uid and name no longer belong together stays shut. STORE is the id that "
                + "status shows."
        ])
}
