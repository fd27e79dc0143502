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
            "Of the [Passcode] sections, one further down in this list wins, key by key. If a person is in several groups, "
                + "the one read last wins."
        )
        page.heading("Keys")
        for key in PolicyKeyFacts.all { add(key, KeyMeanings.of(key.name), to: &page) }
        page.heading("Applications")
        for text in applications { page.paragraph(text) }
        for key in PolicyKeyFacts.ofApps { add(key, KeyMeanings.ofApps(key.name), to: &page) }
        page.heading("Rules of your own")
        page.paragraph(
            "Each section `[Rule NAME]` adds a rule. NAME may have letters, digits, dots, dashes and underscores. The key "
                + "`Rules` of the sections above says which rules apply: at most 255 for one person."
        )
        for (name, meaning) in rules { page.item("`\(name)`=", meaning) }
        page.paragraph(
            "Rules run in a process of their own for at most a second, and each process checks one passcode. A rule that "
                + "cannot run refuses the passcode.")
        page.paragraph(
            "A policy that nobody can meet is a mistake, and the last good policy stays in force. Examples: a pattern that "
                + "allows fewer characters than `MinLength`, or no digit where `RequireDigit` wants one; two patterns that "
                + "together refuse everything. AppVault sees this in patterns of characters, lists and dots with *, +, ? "
                + "or {} behind them, and in keys and rules that contradict each other. It does not see it in patterns with "
                + "groups or alternatives, in `Dictionary` or in `ForbidSequences`: test a passcode with "
                + "`appvault policy check`."
        )
        page.heading("Texts")
        page.paragraph(
            "In `[Texts]` each line is ID=TEXT. The text replaces the one with that id, in every language. AppVault puts "
                + "arguments in the places {1}, {2} and so on. `appvault texts` lists ids and texts; ids that begin with "
                + "`tool.` belong to the command line."
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
        page.paragraph("A mail program that asks each time, and that nobody leaves open:")
        page.verbatim([
            "[App org.gnome.Evolution]", "Require=passcode", "LockOnBackground=immediate", "",
            "[App org.gnome.Evolution group:finance]", "OnLock=quit",
        ])
        page.paragraph("To check a file before you install it:")
        page.verbatim(["appvault policy lint new.conf && appvault policy preview new.conf"])
        page.heading("See also")
        page.paragraph("appvault(1), appvaultd(8), pam_appvault(8), regex(7), systemd.time(7)")
        return page
    }

    private static let description = [
        "The administrator's policy is /etc/appvault/policy.conf, and then the files in policy.d in the order of their "
            + "names. It is in force if one of these files exists and `Enabled` is yes. Otherwise the default policy in "
            + "/usr/lib/appvault is in force; its values are also built in. Do not edit the default file: an update "
            + "replaces it.",
        "AppVault takes a file whole or not at all. If one of them has a mistake, the last good policy stays in force, "
            + "also after a restart, until all files are good. If there never was a good one, stores open, but nobody can "
            + "create or change one. `appvault policy lint` finds mistakes before you install a file; "
            + "`appvault policy show` says where each value comes from.",
        "AppVault reads the files again when they change. You need not restart anything.",
    ]

    private static let form = [
        "A file has sections with lines KEY=VALUE. Spaces around KEY and VALUE do not count. A comment begins with # or ; "
            + "on a line of its own. An unknown key or section is a mistake.",
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
        ("[App ID]", "An application, see below."),
        ("[Rule NAME]", "A rule of your own, see below."),
        ("[Texts]", "Texts of your own, see below."),
    ]

    static let rules = [
        ("Display", "What a person reads about the rule; NAME if it is missing."),
        (
            "Show",
            "Whether a person reads the rule before choosing a passcode: yes or no. Built in: `yes`."
        ),
        ("Match", "A POSIX extended regular expression that the passcode has to match."),
        ("Reject", "A POSIX extended regular expression that the passcode must not match."),
        (
            "Dictionary",
            "With yes, libpwquality has to accept the passcode, by its own configuration."
        ),
    ]

    private static let applications = [
        "Each section `[App ID]` is for one application that `appvault run` starts, or that a person has locked with "
            + "`appvault app add`. ID is the name of its desktop entry without .desktop, as in org.gnome.Evolution. "
            + "`[App ID group:NAME]` is for members of a group and `[App ID user:NAME]` for one account; the later of "
            + "these three wins, key by key, and of several groups the one read last.",
        "A section locks no application by itself: the person does, or whoever installs their entries. It says what "
            + "holds once AppVault starts the application. It protects against people who use the person's desk, not "
            + "against the person or their programs; SECURITY.md has the details.",
        "These sections hold with `Enabled=no`, too. The administrator's win over those of the default policy, key by key. "
            + "A changed one holds for applications that start from then on.",
    ]

    private static func add(_ key: PolicyKeyFacts, _ meaning: String?, to page: inout Page) {
        let builtIn = key.builtIn.isEmpty ? "Built in: nothing." : "Built in: `\(key.builtIn)`."
        var texts = [meaning ?? "", "Value: \(key.bounds). \(builtIn)"]
        if !key.isActedOn {
            texts.append("Read and checked, and not acted on yet in this release.")
        }
        page.item("`\(key.name)`=", texts)
    }

    private static let changes = [
        "Keys that are rules (`MinLength`, the `Require` keys, `MinCharacterGroups`, `DigitsOnly`, "
            + "`MinUniqueCharacters`, `ForbidSequences`, and the rules that apply) ask for a new passcode at the next "
            + "login that can hold a conversation, or at the next `appvault unlock`, as `ChangeOnUpdate` says. "
            + "The person first reads why. If they cancel, the store stays locked and the change due. "
            + "`appvault policy preview` says beforehand who would be asked.",
        "Every other key takes effect at once. Rules check only new passcodes: no rule can refuse one that opens a store.",
        "Stores that follow the login password have no rules of their own; see `password_rules` in pam_appvault(8).",
    ]
}
