/// pam_appvault(8), from the list of the module's options.
enum ModulePage {
    static func page(_ version: String) -> Page {
        var page = Page("pam_appvault", 8, "open the AppVault store at login", version: version)
        page.heading("Synopsis")
        page.paragraph("`pam_appvault.so` [OPTION]...")
        page.heading("Description")
        page.paragraph(
            "Hands what a login knows to appvaultd(8), shows and asks what that wants shown and asked, and returns its "
                + "answer. The module decides nothing, reads no file, and keeps nothing. If the daemon is missing, "
                + "hangs or talks nonsense, the module says so within seconds, and the next one of the stack decides."
        )
        page.heading("Options")
        for option in ModuleOptions.all {
            let argument = option.argument ?? ""
            page.item(
                "`\(option.name)`\(argument)", option.meaning,
                option.types == "all" ? "In every module type." : "Module type `\(option.types)`.")
        }
        page.paragraph("A word that is none of these is ignored, and the system log says so once.")
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
            "An `account` line does nothing. In front of services that run without a person, cron among them, none "
                + "of these lines asks or waits.")
        page.heading("Files")
        page.item("`/run/appvault/socket`", "The daemon's socket.")
        page.item(
            "`/run/appvault/root.socket`",
            "Another one, for root alone: tried first where root asks and `socket=` does not say which."
        )
        page.heading("See also")
        page.paragraph("appvault(1), appvaultd(8), appvault-policy.conf(5), pam.conf(5), pam(7)")
        return page
    }

    private static let types = [
        (
            "auth",
            "Asks for the passcode and answers for it, at services of the policy key `PasscodeServices`; with `unlock` "
                + "it opens the store at services of `UnlockServices`. Its setcred confirms the login to the daemon."
        ),
        ("account", "Always PAM_IGNORE."),
        (
            "session",
            "Keeps the store open as long as a session of its owner lasts. Asks nothing, fails nothing."
        ),
        (
            "password",
            "Behind pam_unix: the store follows the new login password. With `password_rules`, in front of it: judges "
                + "the new one."
        ),
    ]

    private static let values = [
        ("PAM_SUCCESS", "In this very exchange the person has proven the passcode, or a finger."),
        ("PAM_AUTH_ERR", "A wrong passcode, one too many in too short a time, or cancelled."),
        ("PAM_MAXTRIES", "That was the last try."),
        ("PAM_USER_UNKNOWN", "The person has no store with a passcode."),
        ("PAM_PERM_DENIED", "The policy does not allow it."),
        ("PAM_AUTHTOK_ERR", "No new password that the rules take was given."),
        ("PAM_AUTHINFO_UNAVAIL", "The daemon cannot be reached or cannot answer."),
        (
            "PAM_IGNORE",
            "It is not for this module to say: another service, another way, nothing to do."
        ),
    ]
}
