import Policy

/// appvault-policy.conf(5), from the table of keys.
enum PolicyPage {
    static func page(_ version: String) -> Page {
        var page = Page(
            "appvault-policy.conf", 5, "what a passcode must be, and how stores behave",
            version: version)
        page.heading("Synopsis")
        page.paragraph("/usr/lib/appvault/policy.conf")
        page.paragraph("/etc/appvault/policy.conf")
        page.paragraph("/etc/appvault/policy.d/*.conf")
        page.heading("Description")
        for text in description { page.paragraph(text) }
        page.heading("Form")
        for text in form { page.paragraph(text) }
        page.heading("Sections")
        for (name, meaning) in sections { page.item("`\(name)`", meaning) }
        page.paragraph(
            "The later in this list wins, key by key; of several groups of one person the one that was read last."
        )
        page.heading("Keys")
        for key in PolicyKeyFacts.all {
            var texts = [KeyMeanings.of(key.name) ?? ""]
            let builtIn = key.builtIn.isEmpty ? "Built in: nothing." : "Built in: `\(key.builtIn)`."
            texts.append("Value: \(key.bounds). \(builtIn)")
            if !key.isActedOn {
                texts.append("Read and checked, and not acted on yet in this release.")
            }
            page.item("`\(key.name)`=", texts)
        }
        page.heading("Rules of your own")
        page.paragraph(
            "A section `[Rule NAME]` is one rule more. NAME is of letters, digits, dot, dash and underscore. The key "
                + "`Rules` of the sections above says which apply: at most 255 for one person.")
        for (name, meaning) in rules { page.item("`\(name)`=", meaning) }
        page.paragraph(
            "Rules run in a process of their own, one passcode a process, for at most a second. A rule that cannot "
                + "run refuses the passcode.")
        page.paragraph(
            "A policy that nobody can meet is a mistake, by which the last good policy stays in force: a pattern that allows "
                + "fewer characters than `MinLength`, or none of those that `RequireDigit` wants; two patterns that refuse "
                + "all there is. This is told of patterns made of characters, lists and dots with *, +, ? or "
                + "{} behind them, and of one key or rule beside another. Of patterns with groups or alternatives, of "
                + "`Dictionary` and of `ForbidSequences` nothing is told: `appvault policy check` tries a passcode."
        )
        page.heading("Texts")
        page.paragraph(
            "In `[Texts]` each line is ID=TEXT, and the text takes the place of the one with that id, in every "
                + "language. {1}, {2} and so on are where arguments go. `appvault texts` lists ids and texts; those that begin "
                + "with `tool.` are the command line's own."
        )
        page.heading("When the policy changes")
        for text in changes { page.paragraph(text) }
        page.heading("Examples")
        page.paragraph(
            "Twelve characters of three kinds, a new passcode each year, and a stricter rule for some:"
        )
        page.verbatim([
            "[Passcode]", "MinLength=12", "MinCharacterGroups=3", "ExpireDays=365",
            "HistoryCount=5", "RetryLimit=10",
            "OnRetryLimit=lock", "", "[Passcode group:finance]", "MinLength=16",
            "IdleTimeout=15min", "",
            "[Rule company]", "Display=not the company's name", "Reject=[Ee]xample", "", "[Texts]",
            "create.choose=Choose the passcode of your Example vault",
        ])
        page.paragraph("Looked at before it is installed:")
        page.verbatim(["appvault policy lint new.conf && appvault policy preview new.conf"])
        page.heading("See also")
        page.paragraph("appvault(1), appvaultd(8), pam_appvault(8), regex(7), systemd.time(7)")
        return page
    }

    private static let description = [
        "The administrator's policy is /etc/appvault/policy.conf and then the files of policy.d in the order of their "
            + "names. It is in force if there is one of them and `Enabled` is yes; otherwise the default policy of "
            + "/usr/lib/appvault is, whose values are also built in. An update puts the default file back: do not "
            + "edit it.",
        "A file is read whole or not at all. After a mistake in one of them the last good policy stays in force, also "
            + "after a restart, until all of them can be read. Without a last good one, stores open, and nothing can "
            + "be created or changed. `appvault policy lint` finds mistakes before they are installed; "
            + "`appvault policy show` names the place of each value.",
        "Files are read again when they change; nobody has to be told.",
    ]

    private static let form = [
        "Lines KEY=VALUE in sections. Spaces around both do not count. Comments begin with # or ; and have lines of "
            + "their own. An unknown key or section is a mistake.",
        "Times are spans as in systemd.time(7): 90, 90s, 15min, 1h 30min; a bare number is seconds. Sizes have KiB, "
            + "MiB, GiB or TiB.",
    ]

    private static let sections = [
        ("[Passcode]", "For everybody."),
        ("[Passcode group:NAME]", "For members of a group."),
        ("[Passcode user:NAME]", "For one account."),
        (
            "[Passcode store:KEY]",
            "For stores with this policy key; KEY is default for every store of this release."
        ),
        ("[Rule NAME]", "A rule of your own, see below."),
        ("[Texts]", "Texts of your own, see below."),
    ]

    static let rules = [
        ("Display", "What a person reads about it; NAME where it is missing."),
        (
            "Show",
            "Whether it stands in the list of rules that a person reads before choosing: yes or no. Built in: `yes`."
        ),
        ("Match", "A POSIX extended regular expression that the passcode has to match."),
        ("Reject", "One that it must not match."),
        ("Dictionary", "yes: libpwquality has to take the passcode, with its own configuration."),
    ]

    private static let changes = [
        "Keys that are rules (`MinLength`, the `Require` keys, `MinCharacterGroups`, `DigitsOnly`, "
            + "`MinUniqueCharacters`, `ForbidSequences`, and the rules that apply) ask for a new passcode at the next "
            + "login that can hold a conversation, or at the next `appvault unlock`, as `ChangeOnUpdate` says. "
            + "The person reads why first. Cancelling leaves the store locked and the change due. "
            + "`appvault policy preview` says beforehand whom it concerns.",
        "Every other key just applies, at once. Rules judge new passcodes only: none can refuse one that opens a store.",
        "Stores that follow the login password have no rules of their own; see `password_rules` in pam_appvault(8).",
    ]
}
