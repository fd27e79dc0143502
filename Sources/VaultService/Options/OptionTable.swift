import WorkerLinks

/// One option of appvaultd. The command line, the help and the manual page follow this table.
package struct OptionEntry: Sendable {
    package let flag: String
    package let short: String?
    /// The value that must follow.
    package let argument: String?
    package let summary: String
    let effect: Effect

    enum Effect: Sendable {
        case help
        case version
        case texts
        case flag(@Sendable (inout Options) -> Void)
        /// `wrong` is printed if the value is missing or not valid.
        case set(wrong: String, @Sendable (inout Options, String) -> Bool)
    }

    package var usage: String { argument.map { "\(flag) \($0)" } ?? flag }

    private init(
        _ flag: String, short: String? = nil, argument: String? = nil, _ summary: String,
        _ effect: Effect
    ) {
        self.flag = flag
        self.short = short
        self.argument = argument
        self.summary = summary
        self.effect = effect
    }

    package static let all: [OptionEntry] = [
        OptionEntry(
            "--socket", argument: "PATH",
            "listen here instead of on the socket that systemd hands over",
            .set(wrong: "a path is missing") { options, path in
                options.socket = path
                return true
            }),
        OptionEntry(
            "--root-socket", argument: "PATH",
            "with --socket: one that root alone may use, with a line of its own",
            .set(wrong: "a path is missing") { options, path in
                options.rootSocket = path
                return true
            }),
        OptionEntry(
            "--state-dir", argument: "DIR",
            "stores and machine key (default \(Options().stateFolder))",
            .set(wrong: "a folder is missing") { options, folder in
                options.stateFolder = folder
                return true
            }),
        OptionEntry(
            "--config-dir", argument: "DIR",
            "where policy.conf and policy.d lie (default \(Options().configFolder))",
            .set(wrong: "a folder is missing") { options, folder in
                options.configFolder = folder
                options.defaultPolicy = nil
                return true
            }),
        OptionEntry(
            "--locale-dir", argument: "DIR",
            "catalogues of other languages (default \(Options().localeFolder))",
            .set(wrong: "a folder is missing") { options, folder in
                options.localeFolder = folder
                return true
            }),
        OptionEntry(
            "--rules-socket", argument: "PATH",
            "who judges custom rules (default \(Options().rulesSocket))",
            .set(wrong: "a path is missing") { options, path in
                options.rulesSocket = path
                return true
            }),
        OptionEntry(
            "--fetch-socket", argument: "PATH",
            "who asks an organisation's server (default \(Options().fetchSocket))",
            .set(wrong: "a path is missing") { options, path in
                options.fetchSocket = path
                return true
            }),
        OptionEntry(
            "--fingerprint-socket", argument: "PATH",
            "who reads fingerprints (default \(Options().fingerprintSocket))",
            .set(wrong: "a path is missing") { options, path in
                options.fingerprintSocket = path
                return true
            }),
        OptionEntry(
            "--session-dir", argument: "DIR",
            "where logind lists sessions (default \(Options().sessionFolder))",
            .set(wrong: "a folder is missing") { options, folder in
                options.sessionFolder = folder
                return true
            }),
        OptionEntry(
            "--machine-id", argument: "FILE",
            "what this machine is called in an organisation's orders (default \(Options().machineID))",
            .set(wrong: "a file is missing") { options, file in
                options.machineID = file
                return true
            }),
        OptionEntry(
            "--deadline", argument: "NAME=SECONDS",
            "shorten one of: session, transaction, idle, touch, fetch (60 each)",
            .set(wrong: "session, transaction, idle, touch or fetch = 1 to 60 seconds") {
                options, setting in
                options.deadlines.shorten(setting)
            }),
        OptionEntry(
            "--stopped-before-hibernation",
            "systemd ends this daemon before memory goes to a disk: fingers open stores after any other sleep",
            .flag { options in options.isStoppedBeforeHibernation = true }),
        OptionEntry(
            "--runtime-dir", argument: "DIR",
            "where failed tokens are remembered until the machine restarts: a folder in memory, mode 0700 "
                + "(default \(Options.runtimeFolder); with --socket none, and they are forgotten with the daemon)",
            .set(wrong: "a folder is missing") { options, folder in
                options.runtimeFolder = folder
                return true
            }),
        OptionEntry(
            "--forget-tokens",
            "wipe what --runtime-dir remembers, and end: before memory goes to a disk, when no daemon runs",
            .flag { options in options.job = .forgetTokens }),
        OptionEntry("--list-texts", "print every text as a gettext template", .texts),
        OptionEntry("--help", short: "-h", "show this", .help),
        OptionEntry("--version", "show the version", .version),
    ]

    static func named(_ flag: String) -> OptionEntry? {
        all.first { $0.flag == flag || $0.short == flag }
    }
}
