/// What went wrong before.
extension VerbEntry {
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
