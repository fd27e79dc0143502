import Client
import Wire

/// appvault(1), from the table of verbs.
enum AppvaultPage {
    static func page(_ version: String) -> Page {
        var page = Page(
            "appvault", 1, "keep secrets in a store that your login opens", version: version)
        page.heading("Synopsis")
        page.paragraph("`appvault` VERB [OPTION]... [ARGUMENT]...")
        page.paragraph("`appvault help` [VERB]")
        page.heading("Description")
        page.paragraph(
            "A store holds values under names. It is open while you are logged in. When you lock it or log out, its "
                + "key is wiped. The daemon appvaultd(8) keeps the stores; `appvault` passes on what you ask for, and "
                + "asks you what the daemon needs to know. It asks for passcodes on the terminal and never reads them "
                + "from standard input, which is for values. Where there is no terminal, but a display and pinentry(1), "
                + "it asks in a dialog. It never shows a recovery key there.")
        for group in VerbEntry.Group.allCases {
            page.subheading(title(group))
            for verb in VerbEntry.all where verb.group == group { add(verb, to: &page) }
        }
        page.heading("Options")
        for option in Option.allCases where option.entry.reach == .everywhere {
            page.item(usage(option.entry), Page.sentence(option.entry.summary))
        }
        page.paragraph(
            "If an argument begins with a dash and is not an option, write `--` before it.")
        output(&page)
        page.heading("Exit status")
        for (status, meaning) in statuses { page.item("`\(status.rawValue)`", meaning) }
        page.heading("Environment")
        for (name, meaning) in environment { page.item("`\(name)`", meaning) }
        page.heading("Files")
        page.item(
            "`/run/appvault/socket`",
            "Where the daemon listens; for root first at `/run/appvault/root.socket`.")
        page.item(
            "`/etc/pam.d/appvault`", "The PAM service that proves a login password at create.")
        page.item(
            "`/etc/pam.d`",
            "`create` looks here to see whether a login opens stores; `doctor` looks here, too."
        )
        page.heading("Examples")
        for verb in VerbEntry.all {
            for example in verb.examples {
                page.example(example.command, Page.sentence(example.meaning))
            }
        }
        page.heading("See also")
        page.paragraph("appvault-policy.conf(5), appvaultd(8), pam_appvault(8), passwd(1)")
        return page
    }

    private static func title(_ group: VerbEntry.Group) -> String {
        switch group {
        case .store: "Your store"
        case .people: "Several people"
        case .fingers: "Your fingers"
        case .records: "What is in it"
        case .apps: "Your applications"
        case .policy: "The rules"
        case .fleet: "Your organisation"
        case .mending: "Mending"
        case .tool: "This tool"
        }
    }

    private static func add(_ entry: VerbEntry, to page: inout Page) {
        page.item("`\(entry.synopsis)`", [Page.sentence(entry.summary)] + entry.text)
        for option in entry.options {
            page.nested(usage(option.entry), Page.sentence(option.entry.summary))
        }
    }

    private static func usage(_ entry: Option.Entry) -> String {
        (entry.short.map { "`\($0)`, " } ?? "") + "`\(entry.flag)`"
            + (entry.argument.map { " " + $0 } ?? "")
    }

    // MARK: What comes out

    private static func output(_ page: inout Page) {
        page.heading("Output")
        page.paragraph(
            "Results go to standard output. What a person should know goes to standard error: one line says what "
                + "happened, and one that begins with `hint:` says what to do.")
        page.paragraph(
            "With `--json` every verb but `screen` and `run` prints one object on standard output. A text that is not UTF-8 is "
                + "printed as base64; a second field, with `Encoding` at the end of its name, says so. The objects:"
        )
        for verb in VerbEntry.all where !isDone(verb) && !verb.json.isEmpty {
            page.item("`\(verb.name)`", "")
            for field in verb.json {
                page.nested("`\(field.name)`", Page.sentence(field.meaning))
            }
        }
        page.item("every other verb", "")
        for field in VerbEntry.done { page.nested("`\(field.name)`", Page.sentence(field.meaning)) }
        page.item("a refusal", "")
        for (name, meaning) in refusal { page.nested("`\(name)`", meaning) }
        page.subheading("Codes")
        page.paragraph("A number never gets a second meaning.")
        for code in Code.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            let status = code.exitStatus.rawValue
            page.item(
                "`\(code.rawValue)` \(code.name)",
                "\(Page.sentence(code.words)) Exit status \(status).")
        }
    }

    private static func isDone(_ entry: VerbEntry) -> Bool {
        entry.json.map(\.name) == VerbEntry.done.map(\.name)
    }

    private static let refusal = [
        ("domain", "Always org.appvault."),
        ("code", "A number from the list below."),
        ("name", "Its name."),
        (
            "parameters",
            "An object: triesRemaining, minimum, seconds and so on, as the code has them."
        ),
        ("message", "For a person, in the language of the environment."),
        ("reason", "The cause; the message again where there is no other."),
        ("hint", "What to do; left out where there is nothing to say."),
    ]

    // MARK: What the tables do not hold

    private static let statuses: [(ExitStatus, String)] = [
        (.success, "Done."),
        (
            .refused,
            "Refused. For `policy check`: a rule is not met. For `policy lint`: there is an error. For "
                + "`doctor`: something is broken."
        ),
        (.usage, "A mistake in the command line."),
        (.missing, "The store or the name does not exist."),
        (.locked, "The store is locked."),
        (.unavailable, "The daemon is not there, does not answer, or cannot work."),
        (
            .damaged,
            "The store is damaged. `list` and `export` gave everything that is not."
        ),
        (.notExecutable, "`screen`, `run`: COMMAND could not be run."),
        (.notFound, "`screen`, `run`: COMMAND was not found. Any other status may be its own."),
        (.cancelled, "You cancelled it."),
    ]

    private static let environment = [
        (
            "APPVAULT_CREDENTIALS",
            "`run --file` sets it for COMMAND: NAME=PATH for each file, with spaces between them. The variables NAME have "
                + "the same paths."
        ),
        (
            "APPVAULT_PINENTRY",
            "The program that shows dialogs, as a whole path, instead of appvault-desktop, where that is installed, and of "
                + "/usr/bin/pinentry. If it is empty, there are no dialogs."
        ),
        ("APPVAULT_STORE", "The store, where --store does not name it."),
        (
            "DISPLAY, WAYLAND_DISPLAY",
            "If neither is set, or both are empty, there are no dialogs."
        ),
        (
            "LC_ALL, LC_MESSAGES, LANG",
            "The language of messages; the first that is set. Help, mistakes in the command line, the findings of "
                + "`doctor` and of `policy lint`, and the word `hint:` are always English."
        ),
        ("LC_CTYPE", "Whether signs that are not ASCII may be shown, if LC_ALL is not set."),
        ("NO_COLOR", "If it is set and not empty: no colours."),
        ("TERM", "With `dumb` there are no colours, and `policy check` does not draw."),
        (
            "TMPDIR",
            "Where `import` keeps a file that comes by a pipe, still encrypted; otherwise /var/tmp."
        ),
        (
            "XDG_DATA_HOME, XDG_DATA_DIRS, XDG_CONFIG_HOME, XDG_CONFIG_DIRS",
            "Where `app` finds and writes entries of applications, as the XDG Base Directory Specification says; "
                + "otherwise in ~/.local/share, /usr/local/share, /usr/share, ~/.config and /etc/xdg."
        ),
        (
            "XDG_RUNTIME_DIR",
            "Where `screen` marks a session whose locker runs, and a dialog marks that it is open. Without it, two lockers or "
                + "two dialogs at once do not know of each other. The agent notes there which applications run locked; without "
                + "it, `run` starts none unless nothing is to lock it."
        ),
        (
            "XSS_SLEEP_LOCK_FD",
            "The descriptor by which xss-lock waits for a locker. `screen` leaves it to COMMAND and closes its own."
        ),
    ]
}
