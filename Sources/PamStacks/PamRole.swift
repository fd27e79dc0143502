/// What a module does about who gets in.
enum PamRole: Equatable, Sendable {
    /// AppVault asks for a passcode or a finger, and its answer may be the login.
    case asks
    /// AppVault behind other modules; it always returns PAM_IGNORE.
    case unlocks
    /// AppVault in front of others in `password`.
    case judges
    case permits
    case denies
    /// The module authenticates the person.
    case proves
    /// The module decides without authentication: by who it is, from where, or when.
    case conditions
    /// The module prepares or records something; it does not decide who gets in.
    case aside
    /// AppVault does not know what the module does.
    case unknown

    init(_ line: PamLine) {
        if line.isOurs {
            self =
                switch line.kind {
                case .auth: line.has("unlock") ? .unlocks : .asks
                case .password: line.has("password_rules") ? .judges : .unlocks
                case .account, .session: .unlocks
                }
            return
        }
        let name = line.name.hasSuffix(".so") ? String(line.name.dropLast(3)) : line.name
        self = Self.known[name] ?? .unknown
    }

    private static let known: [String: PamRole] = {
        var known: [String: PamRole] = ["pam_permit": .permits, "pam_deny": .denies]
        let proving = [
            "unix", "sss", "ldap", "krb5", "winbind", "fprintd", "systemd_home", "u2f", "yubico",
            "google_authenticator", "oath", "pkcs11", "p11", "userdb", "radius", "tacplus",
            "himmelblau",
            "authd", "authd_exec", "ssh_agent_auth", "duo", "mysql", "pgsql", "howdy", "unix2",
            "aad", "opendirectory", "smbpass", "unix_auth", "unix_passwd",
        ]
        let conditional = [
            "rootok", "wheel", "succeed_if", "listfile", "access", "time", "localuser", "shells",
            "nologin", "securetty", "usertype", "faillock", "tally2", "timestamp", "abl",
            "sepermit", "rhosts", "group_check", "debug",
        ]
        let besides = [
            "env", "keyinit", "faildelay", "group", "cap", "motd", "mail", "limits", "loginuid",
            "gnome_keyring", "kwallet", "kwallet5", "mount", "ecryptfs", "lastlog", "lastlog2",
            "echo", "warn",
            "issue", "selinux", "namespace", "umask", "mkhomedir", "systemd", "elogind", "setquota",
            "tmpdir", "tty_audit", "gdm", "fscrypt", "zfs_key", "cgfs", "ck_connector",
            "oddjob_mkhomedir",
            "apparmor", "pwquality", "passwdqc", "cracklib", "pwhistory", "stress",
        ]
        for (names, role) in [
            (proving, PamRole.proves), (conditional, .conditions), (besides, .aside),
        ] {
            for name in names { known["pam_" + name] = role }
        }
        return known
    }()
}
