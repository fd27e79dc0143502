/// Fingers that open a store.
extension VerbEntry {
    private static let fingers =
        "A finger is `left-` or `right-` and `thumb`, `index`, `middle`, `ring` or `little`."

    static let fingerprintEnroll = VerbEntry(
        words: ["fingerprint", "enroll"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "enrol a finger that opens the store",
        text: [
            "Asks for the passcode, then for the finger, several times; what helps is said when it cannot be read. "
                + "Without a name it is the right index finger. The first finger that is enrolled turns the fingerprint "
                + "on.",
            fingers + " Enrolling one again replaces it.",
            "A finger opens the store once a passcode has opened it since the machine started.",
        ],
        examples: [
            .init(command: "appvault fingerprint enroll", meaning: "the right index finger"),
            .init(command: "appvault fingerprint enroll left-thumb", meaning: "another one"),
        ])

    static let fingerprintList = VerbEntry(
        words: ["fingerprint", "list"], group: .fingers, operands: [], options: [.user],
        summary: "show the enrolled fingers, and the readers",
        text: [
            "Nothing is asked and nothing changes. Prints on a reader's own chip that AppVault did not put there are "
                + "counted and left alone.",
            "Into a pipe: finger, reader, the time in seconds since 1970, and `usable` or `unusable`, with tabs "
                + "between them.",
        ],
        json: [
            Field("on", "whether fingers open the store"),
            Field("ready", "whether one would now: a passcode opened it since the machine started"),
            Field("failuresLeft", "failed matches until the passcode is needed"),
            Field("unavailable", "why no finger can be read; null where one can"),
            Field("fingers[].finger", "`right-index` and so on"),
            Field("fingers[].reader", "the reader that it was enrolled on"),
            Field("fingers[].at", "seconds since 1970"),
            Field("fingers[].usable", "whether that reader is there"),
            Field("readers[].name", "a reader of this machine"),
            Field("readers[].driver", "libfprint's driver for it"),
            Field("readers[].scan", "`press` or `swipe`"),
            Field("readers[].stages", "how often it wants a finger that is enrolled"),
            Field("readers[].identifies", "whether it can tell several fingers apart"),
            Field("readers[].stores", "whether it keeps prints on a chip of its own"),
            Field("readers[].internal", "whether it is fixed to the machine"),
            Field("readers[].port", "where it is connected"),
            Field("foreign", "prints on a chip that are not AppVault's"),
            Field("keepsPassword", "whether the login password is kept, for `set_authtok`"),
        ],
        examples: [.init(command: "appvault fingerprint list --json", meaning: "for programs")])

    static let fingerprintVerify = VerbEntry(
        words: ["fingerprint", "verify"], group: .fingers, operands: [], options: [.user],
        summary: "try whether a finger is recognised",
        text: ["Nothing is opened by it. A finger that is not recognised counts as a failed match."]
    )

    static let fingerprintDelete = VerbEntry(
        words: ["fingerprint", "delete"], group: .fingers, operands: ["[FINGER]"],
        options: [.user], summary: "forget a finger, or all of them",
        text: [
            "Also on a reader's own chip. Asks for the passcode. With the last one, and without a name, the "
                + "fingerprint is off; without a name it asks first.",
            fingers,
        ])

    static let fingerprintOn = VerbEntry(
        words: ["fingerprint", "on"], group: .fingers, operands: [], options: [.user],
        summary: "let a finger open the store",
        text: [
            "Asks for the passcode, and enrols the right index finger: a finger is what turns it on."
        ])

    static let fingerprintOff = VerbEntry(
        words: ["fingerprint", "off"], group: .fingers, operands: [], options: [.user],
        summary: "let no finger open the store any more",
        text: ["All enrolled fingers are forgotten. It asks first, and then for the passcode."])

    static let keyringForget = VerbEntry(
        words: ["keyring", "forget"], group: .fingers, operands: [], options: [.user],
        summary: "forget the login password that is kept for fingers",
        text: [
            "Where a service has the option `set_authtok`, the login password is learned from the next login with it, and "
                + "a later login by finger opens GNOME's keyring or KDE's wallet with it. What is kept is forgotten at "
                + "once; the next login with a password at such a service learns it anew. `appvault fingerprint list` "
                + "says whether one is kept."
        ])
}
