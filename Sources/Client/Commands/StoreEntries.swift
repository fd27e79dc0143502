/// A person's own store.
extension VerbEntry {
    static let create = VerbEntry(
        words: ["create"], group: .store, operands: [],
        options: [.followLogin, .ownPasscode, .noPasscode, .openExisting, .user],
        summary: "make a store",
        text: [
            "Without an option the store suits this machine: where a login opens stores with the login "
                + "password, the passcode follows it; otherwise the store gets a passcode of its own.",
            "A login password is proven before it is used, so that a slip of the finger cannot make the "
                + "two differ from the first day.",
            "On a terminal a recovery key is shown once. Write it down: it is the only way in when the "
                + "passcode is forgotten.",
        ],
        examples: [
            .init(command: "appvault create", meaning: "what suits this machine"),
            .init(
                command: "appvault create --own-passcode --passcode-fd 3 3<secret",
                meaning: "from a script"),
        ])

    static let status = VerbEntry(
        words: ["status"], group: .store, operands: [], options: [.user],
        summary: "show the state of a store",
        text: [
            "Nothing is asked and nothing changes. Where something is wrong, it says what can be done.",
            "What is pending runs at the next unlock, at a login that can hold a conversation or with "
                + "`appvault unlock`.",
        ],
        json: [
            Field(
                "state",
                "`absent`, `locked`, `unlocked`, `erased`, `retry-locked`, `damaged` or `owner-changed`"
            ),
            Field("passcode", "`unknown`, `none`, `passcode` or `passcode+fingerprint`"),
            Field("followsLogin", "whether the passcode is the login password"),
            Field("recoveryKey", "whether there is one"),
            Field("store", "the store's id, or null"),
            Field("name", "the store's name"),
            Field("owner", "the account's name"),
            Field("uid", "its number, or null"),
            Field("ownTriesLeft", "at this machine; -1 is no limit"),
            Field("apartTriesLeft", "from elsewhere; -1 is no limit"),
            Field("throttledSeconds", "until the next try; 0 is now"),
            Field("records", "how many, where it is open"),
            Field("used", "bytes that all stores of the owner take on the disk"),
            Field("quota", "bytes that they may take; 0 is no limit"),
            Field("passcodeSetAt", "seconds since 1970; 0 where there is no passcode"),
            Field("expiresAt", "seconds since 1970; 0 is never"),
            Field("idleTimeout", "seconds without a request after which it locks; 0 is never"),
            Field("sessions", "how many sessions keep it open"),
            Field("pending[].number", "a flow that is due, 1 to 7"),
            Field("pending[].name", "`create`, `change` and so on"),
            Field(
                "pendingReason", "`policy`, `migration`, `recovery` or `expired`; else null"),
            Field(
                "meetsRules",
                "whether a login password that the store follows meets the rules; null where nobody knows"
            ),
            Field("recoveryOffer", "whether a recovery key waits to be shown"),
            Field("trouble", "what is wrong; may be empty"),
            Field("advice", "what can be done; may be empty"),
        ],
        examples: [.init(command: "appvault status --json", meaning: "for programs")])

    static let unlock = VerbEntry(
        words: ["unlock"], group: .store, operands: [], options: [.user],
        summary: "open the store",
        text: [
            "Asks for the passcode. A store that is open stays open and nothing is asked."
        ])

    static let lock = VerbEntry(
        words: ["lock"], group: .store, operands: [], options: [.user],
        summary: "shut the store",
        text: ["The key is wiped from memory. Needs no passcode."])

    static let passwd = VerbEntry(
        words: ["passwd"], group: .store, operands: [], options: [.off, .on, .user],
        summary: "change the passcode, or turn it off or on",
        text: [
            "The current passcode is asked for first, also where the store is open.",
            "With --off the store opens for you without being asked; it stays encrypted, but anyone who "
                + "has the disk can read it.",
            "Where the passcode follows the login password, change that one with passwd(1).",
        ],
        examples: [
            .init(command: "appvault passwd --on", meaning: "from no passcode to one")
        ])

    static let recoveryNew = VerbEntry(
        words: ["recovery", "new"], group: .store, operands: [], options: [.user],
        summary: "make a recovery key; the former one ends",
        text: [
            "The key is shown once, on a terminal only. Write it down and keep it away from the machine."
        ])

    static let recover = VerbEntry(
        words: ["recover"], group: .store, operands: [], options: [.user],
        summary: "set a new passcode with the recovery key",
        text: [
            "A new passcode is asked for at once, or the login password where the store follows it; `appvault unlock` "
                + "opens the store with that. Capitals, spaces and dashes in the key do not matter."
        ])

    static let actions = VerbEntry(
        words: ["actions"], group: .store, operands: [], options: [.user],
        summary: "what can be done now, what not, and why",
        text: [
            "Each action of a store, allowed or refused, with the reason and the verb that performs it. The policy, "
                + "the state of the store and the hardware decide.",
            "Into a pipe: name, `allowed` or `refused`, verb and reason, with tabs between them.",
        ],
        json: [
            Field("actions[].name", "`create-passcode`, `change-passcode` and so on"),
            Field("actions[].allowed", "whether it would be done now"),
            Field(
                "actions[].code", "the code that it would be refused with; 0 where it is allowed"),
            Field("actions[].reason", "why it is refused; may be empty"),
            Field("actions[].verb", "the command that performs it; may be empty"),
        ])
}
