import VaultService

/// appvaultd(8), from the daemon's table of options.
enum DaemonPage {
    static func page(_ version: String) -> Page {
        var page = Page("appvaultd", 8, "keeper of sealed stores", version: version)
        page.heading("Synopsis")
        page.paragraph("`appvaultd` [OPTION]...")
        page.heading("Description")
        page.paragraph(
            "Keeps the stores of all people of a machine, opens them for the people they belong to, and counts the "
                + "tries. systemd starts it on its socket as an unprivileged user; it leaves again when nothing is "
                + "open and nobody asks. Logins reach it through pam_appvault(8), people through appvault(1). "
                + "What a passcode must be, and much else, stands in appvault-policy.conf(5).")
        page.paragraph(
            "With `--socket` it serves a socket of its own, also as an ordinary user, with a folder of its own for "
                + "`--state-dir`: a private vault, in which that user is what root is otherwise.")
        page.heading("Options")
        for entry in OptionEntry.all {
            let short = entry.short.map { "`\($0)`, " } ?? ""
            let argument = entry.argument.map { " " + $0 } ?? ""
            page.item("\(short)`\(entry.flag)`\(argument)", Page.sentence(entry.summary))
        }
        page.heading("Signals")
        page.item(
            "`SIGHUP`", "Reads the policy again. It is also read whenever one of its files changes."
        )
        page.item(
            "`SIGTERM`, `SIGINT`",
            "Ends what runs, wipes every key and leaves. Stores are shut afterwards.")
        page.heading("Exit status")
        page.item("`0`", "Told to leave, or nothing to do.")
        page.item("`1`", "It cannot work: the journal says why.")
        page.item("`2`", "The command line makes no sense.")
        page.heading("Environment")
        page.item(
            "`LISTEN_FDS`, `LISTEN_PID`, `NOTIFY_SOCKET`",
            "Set by systemd, see sd_listen_fds(3) and sd_notify(3). Nothing else is looked at.")
        page.heading("Files")
        for (name, meaning) in files { page.item("`\(name)`", meaning) }
        page.heading("Security")
        page.paragraph(
            "The daemon runs without capabilities, cannot be dumped or traced, and executes nothing. Keys and passcodes "
                + "lie in guarded memory and are wiped. Every try is on disk before the passcode is looked at, so "
                + "that killing the daemon wins nobody a try.")
        page.heading("See also")
        page.paragraph("appvault(1), appvault-policy.conf(5), pam_appvault(8), systemd.socket(5)")
        return page
    }

    private static let files = [
        (
            "/run/appvault/socket",
            "Where it listens. Everybody may connect; the kernel says who does."
        ),
        (
            "/run/appvault/root.socket",
            "The same for root alone, so that logins never stand in line behind others."
        ),
        ("/etc/appvault/policy.conf, /etc/appvault/policy.d/*.conf", "The administrator's policy."),
        ("/usr/lib/appvault/policy.conf", "The default policy."),
        (
            "/usr/share/locale/LANGUAGE/LC_MESSAGES/appvault.mo",
            "What is said, in other languages; texts of the administrator's own stand in the policy."
        ),
        (
            "/var/lib/appvault/machine.key",
            "Without it no passcode opens any store of this machine: a backup has to hold it. Recovery keys work "
                + "without."
        ),
        ("/var/lib/appvault/stores", "One folder for each store."),
        (
            "/run/appvaultd",
            "What is remembered of failed tokens until the machine restarts, as hashes, for nobody else's eyes."
        ),
        ("/var/lib/appvault/policy.last", "The last good policy, in force while a file is broken."),
    ]
}
