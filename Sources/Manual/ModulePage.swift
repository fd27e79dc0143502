/// pam_appvault(8), from the list of the module's options.
enum ModulePage {
    static func page(_ version: String) -> Page {
        var page = Page("pam_appvault", 8, "open the AppVault store at login", version: version)
        page.heading("Synopsis")
        page.paragraph("`pam_appvault.so` [OPTION]...")
        page.heading("Description")
        page.paragraph(
            "The module tells appvaultd(8) what a login knows, shows and asks what the daemon wants, and returns the "
                + "daemon's answer. It decides nothing, reads no file and keeps nothing. If the daemon is missing, "
                + "hangs or sends nonsense, the system log says so within seconds, and the next module decides."
        )
        page.heading("Options")
        for option in ModuleOptions.all {
            let argument = option.argument ?? ""
            page.item(
                "`\(option.name)`\(argument)", option.meaning,
                option.types == "all" ? "In every module type." : "Module type `\(option.types)`.")
        }
        page.paragraph("The module ignores any other word, and says so once in the system log.")
        page.heading("Module types provided")
        for (name, meaning) in types { page.item("`\(name)`", meaning) }
        page.heading("Return values")
        for (name, meaning) in values { page.item("`\(name)`", meaning) }
        page.heading("Examples")
        page.paragraph("The passcode follows the login password, in common-auth, behind pam_unix:")
        page.verbatim([
            "auth     optional    pam_appvault.so unlock",
            "session  optional    pam_appvault.so",
            "password optional    pam_appvault.so use_authtok",
        ])
        page.paragraph("A passcode of its own, in front of pam_unix:")
        page.verbatim([
            "auth [success=2 default=ignore] pam_appvault.so or_password",
            "auth [success=1 default=ignore] pam_unix.so try_first_pass",
            "auth requisite                  pam_deny.so",
            "auth required                   pam_permit.so",
        ])
        page.paragraph(
            "A finger or the passcode for sudo, in /etc/pam.d/sudo, before common-auth is included:"
        )
        page.verbatim(["auth sufficient pam_appvault.so fingerprint=first timeout=15"])
        page.paragraph("Rules for login passwords, in common-password:")
        page.verbatim([
            "password requisite pam_appvault.so password_rules always_ask",
            "password [success=1 default=ignore] pam_unix.so use_authtok yescrypt",
        ])
        page.paragraph(
            "An `account` line does nothing. At services that run without a person, such as cron, none of these lines "
                + "asks or waits.")
        page.heading("Files")
        page.item("`/run/appvault/socket`", "The daemon's socket.")
        page.item(
            "`/run/appvault/root.socket`",
            "The daemon's socket for root alone. Root's programs try it first, unless `socket=` names another."
        )
        page.heading("See also")
        page.paragraph("appvault(1), appvaultd(8), appvault-policy.conf(5), pam.conf(5), pam(7)")
        return page
    }

    private static let types = [
        (
            "auth",
            "Asks for the passcode and returns whether it was right, at the services in the policy key "
                + "`PasscodeServices`. With `unlock` it opens the store, at the services in `UnlockServices`. Its setcred "
                + "tells the daemon that the login succeeded."
        ),
        ("account", "Always PAM_IGNORE."),
        (
            "session",
            "Keeps the store open while a session of its owner lasts. It asks nothing and never fails."
        ),
        (
            "password",
            "Behind pam_unix: changes the store's passcode to the new login password. With `password_rules`, in front of "
                + "pam_unix: checks the new login password."
        ),
    ]

    private static let values = [
        ("PAM_SUCCESS", "The person proved the passcode, or a finger, in this very call."),
        (
            "PAM_AUTH_ERR",
            "The passcode was wrong or came too soon after wrong ones, or the person cancelled."
        ),
        ("PAM_MAXTRIES", "That was the last try."),
        ("PAM_USER_UNKNOWN", "The person has no store with a passcode."),
        ("PAM_PERM_DENIED", "The policy does not allow it."),
        ("PAM_AUTHTOK_ERR", "The person gave no new password that meets the rules."),
        ("PAM_AUTHINFO_UNAVAIL", "The daemon cannot be reached or cannot answer."),
        (
            "PAM_IGNORE",
            "The module has nothing to decide here: another service, another way, nothing to do."
        ),
    ]
}
