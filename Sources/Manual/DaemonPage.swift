import VaultService

/// appvaultd(8), from the daemon's table of options.
enum DaemonPage {
    static func page(_ version: String) -> Page {
        var page = Page("appvaultd", 8, "keeper of sealed stores", version: version)
        page.heading("Synopsis")
        page.paragraph("`appvaultd` [OPTION]...")
        page.heading("Description")
        page.paragraph(
            "appvaultd keeps the stores of all people of a machine, opens each for the person it belongs to, and counts "
                + "tries. systemd starts it as an unprivileged user when somebody connects to its socket. It ends when "
                + "no store is open and nobody asks. Logins reach it through pam_appvault(8), people through "
                + "appvault(1). The policy, appvault-policy.conf(5), says what a passcode must be, and how stores behave."
        )
        page.paragraph(
            "With `--socket` it serves another socket. An ordinary user may run it so, with `--state-dir`, as a private "
                + "vault: there that user has the rights that root has otherwise.")
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
            "Answers what runs, wipes every key and exits. At `systemctl restart appvaultd` the next daemon opens again what "
                + "was open, if the kernel has secret memory; otherwise, and at a stop, all stores are locked then."
        )
        page.heading("Exit status")
        page.item("`0`", "It was told to end, or there was nothing to do.")
        page.item("`1`", "It cannot work; the journal says why.")
        page.item("`2`", "A mistake in the command line.")
        page.heading("Environment")
        page.item(
            "`LISTEN_FDS`, `LISTEN_FDNAMES`, `LISTEN_PID`, `NOTIFY_SOCKET`",
            "Set by systemd, see sd_listen_fds(3) and sd_notify(3). It reads no other variable.")
        page.heading("Files")
        for (name, meaning) in files { page.item("`\(name)`", meaning) }
        page.heading("Security")
        page.paragraph(
            "The daemon runs without capabilities, cannot be dumped or traced, and executes nothing. Keys and passcodes "
                + "lie in guarded memory and are wiped. It writes every try to the disk before it looks at the "
                + "passcode, so nobody gains a try by killing it.")
        page.paragraph(
            "A restart leaves open stores open: the daemon gives their keys to systemd, in memory that only the next daemon "
                + "can map (memfd_secret(2)). That one wipes the memory, looks who is still logged in, and opens what "
                + "still fits. systemd drops the memory at a stop. `systemctl status appvaultd` says whether open stores "
                + "survive a restart.")
        page.heading("See also")
        page.paragraph("appvault(1), appvault-policy.conf(5), pam_appvault(8), systemd.socket(5)")
        return page
    }

    private static let files = [
        (
            "/run/appvault/socket",
            "Where it listens. Everybody may connect; the kernel tells the daemon who it is."
        ),
        (
            "/run/appvault/root.socket",
            "The same for root alone, so that logins never wait in line behind others."
        ),
        ("/etc/appvault/policy.conf, /etc/appvault/policy.d/*.conf", "The administrator's policy."),
        ("/usr/lib/appvault/policy.conf", "The default policy."),
        (
            "/usr/share/locale/LANGUAGE/LC_MESSAGES/appvault.mo",
            "Texts in other languages. The administrator's own texts are in the policy."
        ),
        (
            "/var/lib/appvault/machine.key",
            "Without it no passcode opens a store of this machine, so a backup needs it. Recovery keys work "
                + "without it."
        ),
        ("/var/lib/appvault/stores", "One folder for each store."),
        (
            "/run/appvaultd",
            "Hashes of failed tokens, until the machine restarts. Only the daemon's user can read them."
        ),
        (
            "/var/lib/appvault/policy.last",
            "The last good policy. It is in force while a file is broken."
        ),
    ]
}
