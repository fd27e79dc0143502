import Testing

@testable import PamStacks

/// A machine's PAM files, as tests write them.
struct PamFiles: Sendable {
    var files: [String: String]

    /// Debian's common-auth as pam-auth-update writes it, from the lines of its two blocks.
    static func debian(
        primary: [String] = ["[success=1 default=ignore] pam_unix.so nullok"],
        additional: [String] = ["optional pam_cap.so"], before: String = "", after: String = ""
    ) -> PamFiles {
        let lines =
            primary.map { "auth \($0)" } + [
                "auth requisite pam_deny.so", "auth required pam_permit.so",
            ]
            + additional.map { "auth \($0)" }
        let auth = before + lines.joined(separator: "\n") + "\n" + after
        return PamFiles(files: [
            "common-auth": auth,
            "common-account":
                "account [success=1 new_authtok_reqd=done default=ignore] pam_unix.so\n"
                + "account requisite pam_deny.so\naccount required pam_permit.so\n",
            "common-session":
                "session required pam_unix.so\nsession optional pam_systemd.so\n"
                + "session optional pam_appvault.so\n",
            "login":
                "auth optional pam_faildelay.so delay=3000000\n"
                + "auth [success=ok new_authtok_reqd=ok ignore=ignore user_unknown=bad default=die]"
                + " pam_securetty.so\n"
                + "auth requisite pam_nologin.so\n@include common-auth\n"
                + "auth optional pam_group.so\n"
                + "@include common-account\n@include common-session\n",
            "other": "auth required pam_deny.so\naccount required pam_deny.so\n",
        ])
    }

    func judge(
        _ service: String = "login", missing: Bool = false, fingers: Bool = false,
        passcode: Set<String> = ["login", "su", "sudo"],
        unlock: Set<String> = ["login", "passwd", "sshd"]
    ) -> PamService.Judgement? {
        let configuration = PamConfiguration { name in
            files[name].map { .init(path: "/etc/pam.d/\(name)", text: Array($0.utf8)) }
        }
        return PamService(
            name: service, configuration: configuration,
            surroundings: .init(
                passcodeServices: passcode, unlockServices: unlock, hasFingers: fingers,
                missing: { _ in missing ? "/lib/security/pam_appvault.so" : nil })
        ).judge()
    }
}

struct PamServiceTests {
    private static let unix = "[success=1 default=ignore] pam_unix.so nullok"

    private func texts(_ judgement: PamService.Judgement?, _ severity: PamFault.Severity)
        -> [String]
    {
        judgement?.faults.filter { $0.severity == severity }.map(\.text) ?? []
    }

    // MARK: the three profiles

    @Test("Debian without us is no business of ours")
    func untouched() {
        var files = PamFiles.debian()
        files.files["common-session"] = "session required pam_unix.so\n"
        #expect(files.judge() == nil)
    }

    @Test("the profile for the store gives way a, and nothing to complain about")
    func unlockProfile() {
        let files = PamFiles.debian(additional: [
            "optional pam_cap.so", "optional pam_appvault.so unlock",
        ])
        #expect(files.judge() == .init(ways: [.follows]))
    }

    @Test("the profile for passcode and finger gives way b, with a reader c, beside a")
    func passcodeProfile() {
        let files = PamFiles.debian(
            primary: [
                "[success=2 default=ignore] pam_appvault.so or_password",
                "[success=1 default=ignore] pam_unix.so nullok try_first_pass",
            ], additional: ["optional pam_appvault.so unlock"])
        #expect(files.judge() == .init(ways: [.follows, .own]))
        #expect(files.judge(fingers: true) == .init(ways: [.follows, .own, .finger]))
        #expect(files.judge("login", passcode: [], unlock: []) == .init())
    }

    @Test("with the module gone the profiles' stacks still let people in, and say what dangles")
    func dangling() {
        for primary in [
            [Self.unix],
            [
                "[success=2 default=ignore] pam_appvault.so or_password",
                "[success=1 default=ignore] pam_unix.so nullok try_first_pass",
            ],
        ] {
            let judgement = PamFiles.debian(
                primary: primary, additional: ["optional pam_appvault.so unlock"]
            ).judge(missing: true)
            #expect(judgement?.ways == [])
            #expect(texts(judgement, .broken) == [])
            #expect(
                texts(judgement, .warning).allSatisfy { $0.contains("the module is not there") })
            #expect(!texts(judgement, .warning).isEmpty)
        }
    }

    @Test("modules that are not there are told stack by stack, whatever the order of the lines")
    func missingInOrder() {
        let files = PamFiles(files: [
            "login": ["session", "password", "account", "auth"]
                .map { "\($0) optional pam_appvault.so\n" }.joined()
        ])
        let places = texts(files.judge(missing: true), .warning)
            .filter { $0.contains("the module is not there") }.map { $0.prefix { $0 != " " } }
        #expect(places == [4, 3, 2, 1].map { "/etc/pam.d/login:\($0):" })
    }

    // MARK: who gets in without us

    @Test(
        "where AppVault alone authenticates the service is broken",
        arguments: [
            "auth required pam_appvault.so",
            "auth sufficient pam_appvault.so\nauth required pam_deny.so",
            "auth sufficient pam_rootok.so\nauth required pam_appvault.so",
            "auth required pam_env.so\nauth [success=done default=die] pam_appvault.so or_password",
            "auth optional pam_appvault.so unlock",
            "auth required pam_appvault.so\nauth required pam_permit.so",
        ])
    func alone(auth: String) {
        let judgement = PamFiles(files: ["login": auth + "\n"]).judge()
        #expect(texts(judgement, .broken).first?.contains("AppVault alone") == true)
    }

    @Test(
        "where it was made a required step that is a warning",
        arguments: [
            "auth required pam_unix.so\nauth required pam_appvault.so enforce",
            "auth requisite pam_appvault.so\nauth required pam_unix.so",
            "auth required pam_unix.so\n"
                + "auth [success=ok user_unknown=ignore default=die] pam_appvault.so",
            "auth substack other-auth\nauth required pam_appvault.so",
            "auth [success=1 default=ignore] pam_appvault.so\nauth requisite pam_deny.so\n"
                + "auth required pam_unix.so",
        ])
    func required(auth: String) {
        let files = PamFiles(files: [
            "login": auth + "\n", "other-auth": "auth required pam_unix.so\n",
        ])
        let judgement = files.judge()
        #expect(texts(judgement, .broken) == [])
        #expect(texts(judgement, .warning).first?.contains("a required step") == true)
        #expect(
            texts(judgement, .warning).first?.contains("no store never does")
                == !auth.contains("user_unknown"))
        let missing = files.judge(missing: true)
        #expect(texts(missing, .broken).first?.contains("its module is missing") == true)
    }

    @Test(
        "where another module takes over it is neither",
        arguments: [
            "auth sufficient pam_appvault.so\nauth required pam_unix.so",
            "auth [success=done default=ignore] pam_appvault.so fingerprint=first\n@include more\n",
            "auth sufficient pam_appvault.so\nauth include more\n",
            "auth sufficient pam_appvault.so\nauth substack more\n",
            "auth [authinfo_unavail=ignore user_unknown=ignore success=done default=die]"
                + " pam_appvault.so\nauth required pam_unix.so",
            "auth sufficient pam_appvault.so\nauth sufficient pam_krb5.so\n"
                + "auth sufficient pam_unix.so\nauth required pam_deny.so",
        ])
    func takesOver(auth: String) {
        let files = PamFiles(files: [
            "login": auth + "\nsession optional pam_appvault.so\n",
            "more": "auth required pam_faildelay.so\nauth required pam_unix.so\n",
        ])
        #expect(files.judge() == .init(ways: [.own]))
        let missing = texts(files.judge(missing: true), .broken)
        // The result that libpam has for a missing module is not one of the two that are ignored.
        #expect(missing.isEmpty != auth.contains("default=die"))
        #expect(missing.allSatisfy { $0.contains("its module is missing") })
    }

    @Test("a module that nobody knows is told as such")
    func unknown() {
        let files = PamFiles(files: [
            "login": "auth sufficient pam_appvault.so\nauth required pam_acme.so\n"
        ])
        #expect(texts(files.judge(), .warning).first?.contains("pam_acme.so") == true)
    }

    @Test(
        "a line where a jump lands is broken, and so is one whose control refuses PAM_IGNORE"
    )
    func wrongPlace() {
        let jump = PamFiles(files: [
            "login":
                "auth [success=1 default=ignore] pam_unix.so\n"
                + "auth optional pam_appvault.so unlock\n"
                + "auth requisite pam_deny.so\nauth required pam_permit.so\n"
        ])
        #expect(texts(jump.judge(), .broken).first?.contains("nobody gets in") == true)
        let control = PamFiles(files: [
            "login":
                "auth required pam_unix.so\nauth [success=ok default=die] pam_appvault.so unlock\n"
        ])
        #expect(texts(control.judge(), .broken).first?.contains("nobody gets in") == true)
    }

    @Test("a line by which people get in who have proven nothing is broken")
    func openDoor() {
        for line in [
            "auth [success=1 authinfo_unavail=1 default=ignore] pam_appvault.so",
            "auth [default=1] pam_appvault.so unlock",
        ] {
            let files = PamFiles(files: [
                "login": line + "\nauth requisite pam_unix.so\nauth required pam_permit.so\n"
            ])
            #expect(
                texts(files.judge(), .broken).contains { $0.contains("proven nothing") }, "\(line)")
        }
        let autologin = PamFiles(files: [
            "login":
                "auth sufficient pam_unix.so\nauth optional pam_appvault.so unlock\n"
                + "auth required pam_permit.so\n"
        ])
        #expect(!texts(autologin.judge(), .broken).contains { $0.contains("proven nothing") })
    }

    // MARK: order

    @Test("an unlock line that no successful login comes to is told")
    func neverReached() {
        let sufficient = PamFiles(files: [
            "login":
                "auth sufficient pam_unix.so\nauth required pam_deny.so\n"
                + "auth optional pam_appvault.so unlock\n"
        ])
        #expect(texts(sufficient.judge(), .warning).first?.contains("never comes to it") == true)
        #expect(sufficient.judge()?.ways == [])
        let first = PamFiles(files: [
            "login": "auth optional pam_appvault.so unlock\nauth required pam_unix.so\n"
        ])
        #expect(texts(first.judge(), .warning).first?.contains("in front of what asks") == true)
    }

    @Test(
        "Fedora's system-auth: the line behind pam_unix's jump, or sufficient ends it before"
    )
    func fedora() {
        let system = { (unix: String) in
            """
            auth required pam_env.so
            auth required pam_faildelay.so delay=2000000
            auth [default=1 ignore=ignore success=ok] pam_usertype.so isregular
            auth [default=1 ignore=ignore success=ok] pam_localuser.so
            \(unix)
            auth [default=1 ignore=ignore success=ok] pam_usertype.so isregular
            auth sufficient pam_sss.so forward_pass
            auth required pam_deny.so

            """
        }
        let login =
            "auth substack system-auth\nauth optional pam_appvault.so unlock\n"
            + "auth include postlogin\n"
            + "session optional pam_appvault.so\n"
        for unix in [
            "auth sufficient pam_unix.so nullok", "auth [success=done default=ignore] pam_unix.so",
        ] {
            let files = PamFiles(files: [
                "login": login, "system-auth": system(unix),
                "postlogin": "auth optional pam_lastlog.so\n",
            ])
            #expect(files.judge() == .init(ways: [.follows]))
        }
        let inside = PamFiles(files: [
            "login": "auth include system-auth\n",
            "system-auth": system("auth sufficient pam_unix.so")
                + "auth optional pam_appvault.so unlock\n",
        ])
        #expect(texts(inside.judge(), .warning).first?.contains("never comes to it") == true)
    }

    @Test(
        "or_password behind pam_unix, with one that asks again, or without unlock, is told"
    )
    func orPassword() {
        let behind = PamFiles(files: [
            "login": "auth required pam_unix.so\nauth optional pam_appvault.so or_password\n"
        ])
        #expect(texts(behind.judge(), .warning).contains { $0.contains("stands behind") })
        let again = PamFiles.debian(
            primary: ["[success=2 default=ignore] pam_appvault.so or_password", Self.unix])
        #expect(texts(again.judge(), .warning).contains { $0.contains("asks once more") })
        #expect(texts(again.judge(), .warning).contains { $0.contains("no `unlock` line") })
        let dies = PamFiles.debian(
            primary: [
                "[success=2 auth_err=die default=ignore] pam_appvault.so or_password",
                "[success=1 default=ignore] pam_unix.so try_first_pass",
            ], additional: ["optional pam_appvault.so unlock"])
        #expect(texts(dies.judge(), .warning).contains { $0.contains("never reaches pam_unix") })
        let short = PamFiles.debian(
            primary: [
                "[success=1 default=ignore] pam_appvault.so or_password",
                "[success=1 default=ignore] pam_unix.so try_first_pass",
            ], additional: ["optional pam_appvault.so unlock"])
        #expect(texts(short.judge(), .warning).contains { $0.contains("alone does not log in") })
    }

    // MARK: the other types

    @Test("an account line is broken")
    func account() {
        var files = PamFiles.debian()
        files.files["common-account"]! += "account required pam_appvault.so\n"
        #expect(texts(files.judge(), .broken).first?.contains("no say in `account`") == true)
    }

    @Test("a session line is missed where there are sessions, and belongs behind pam_systemd")
    func session() {
        var files = PamFiles.debian(additional: ["optional pam_appvault.so unlock"])
        files.files["common-session"] = "session optional pam_systemd.so\n"
        #expect(texts(files.judge(), .warning).first?.contains("no session line") == true)
        files.files["common-session"] =
            "session optional pam_appvault.so\nsession optional pam_systemd.so\n"
        #expect(texts(files.judge(), .warning).first?.contains("in front of pam_systemd") == true)
        files.files["common-session"] = "session required pam_unix.so\n"
        #expect(texts(files.judge(), .warning).first?.contains("no session line") == true)
        // A locker opens no session.
        files.files["swaylock"] = "@include common-auth\n@include common-session\n"
        #expect(files.judge("swaylock", unlock: ["swaylock"]) == .init(ways: [.follows]))
    }

    @Test("passwd keeps the store in step, and password_rules leaves nobody without a question")
    func password() {
        var files = PamFiles.debian(additional: ["optional pam_appvault.so unlock"])
        files.files["passwd"] = "@include common-password\n@include common-auth\n"
        let unix =
            "password [success=1 default=ignore] pam_unix.so obscure yescrypt\n"
            + "password requisite pam_deny.so\n"
        files.files["common-password"] = unix + "password required pam_permit.so\n"
        #expect(texts(files.judge("passwd"), .warning) == [])
        files.files["common-password"] =
            unix
            + "password required pam_permit.so\npassword optional pam_appvault.so use_authtok\n"
        #expect(texts(files.judge("passwd"), .warning) == [])
        files.files["common-password"] =
            "password sufficient pam_unix.so\npassword optional pam_appvault.so use_authtok\n"
        #expect(
            texts(files.judge("passwd"), .warning).contains { $0.contains("never comes to it") })
        files.files["common-password"] =
            "password requisite pam_appvault.so password_rules\n"
            + "password [success=1 default=ignore] pam_unix.so use_authtok\n"
            + "password requisite pam_deny.so\n"
            + "password required pam_permit.so\npassword optional pam_appvault.so use_authtok\n"
        #expect(
            texts(files.judge("passwd"), .warning).contains {
                $0.contains("nobody without a store")
            })
    }

    private static let changes =
        "password requisite pam_deny.so\npassword required pam_permit.so\n"
        + "password optional pam_appvault.so use_authtok\n"

    @Test("a sufficient pam_sss keeps the changes that it makes from the store, wherever it stands")
    func sufficientChange() {
        var files = PamFiles.debian(additional: ["optional pam_appvault.so unlock"])
        files.files["passwd"] = "@include common-password\n@include common-auth\n"
        let unix = "password [success=2 default=ignore] pam_unix.so obscure\n"
        let sss = "password sufficient pam_sss.so use_authtok\n"
        for (password, line) in [
            (unix + sss, 2), (sss + unix.replacing("success=2", with: "success=1"), 1),
        ] {
            files.files["common-password"] = password + Self.changes
            #expect(
                texts(files.judge("passwd"), .warning) == [
                    "/etc/pam.d/common-password:\(line): where pam_sss.so changes the password, "
                        + "the stack ends before /etc/pam.d/common-password:5"
                ])
        }
        let jump = sss.replacing("sufficient", with: "[success=1 default=ignore]")
        files.files["common-password"] = unix + jump + Self.changes
        #expect(texts(files.judge("passwd"), .warning) == [])
    }

    @Test("a service that changes no password, as LightDM's for automatic logins, is left alone")
    func changesNothing() {
        var files = PamFiles.debian()
        files.files["lightdm-autologin"] =
            "auth required pam_permit.so\n@include common-account\n@include common-session\n"
            + "password required pam_deny.so\n@include common-password\n"
        files.files["common-password"] =
            "password [success=1 default=ignore] pam_unix.so\n" + Self.changes
        #expect(files.judge("lightdm-autologin") == .init())
    }

    @Test("what waits for the login password behind a passcode of its own is told")
    func keyrings() {
        let primary = [
            "[success=2 default=ignore] pam_appvault.so or_password",
            "[success=1 default=ignore] pam_unix.so nullok try_first_pass",
        ]
        let additional = [
            "optional pam_mount.so", "optional pam_kwallet5.so", "optional pam_gnome_keyring.so",
            "optional pam_appvault.so unlock",
        ]
        let files = PamFiles.debian(primary: primary, additional: additional)
        let told = texts(files.judge(), .warning)
        #expect(told.count == 3)
        for (line, name) in [(5, "pam_mount"), (6, "wallet"), (7, "keyring")] {
            let place = "/etc/pam.d/common-auth:\(line): "
            #expect(told.contains { $0.hasPrefix(place) && $0.contains(name) })
        }
        let mended = PamFiles.debian(
            primary: [primary[0] + " set_authtok", primary[1]],
            additional: [additional[0] + " disable_interactive"] + additional[1...])
        #expect(texts(mended.judge(), .warning) == [])
        // Where the login password opens the store, it opens these, too.
        let follows = PamFiles.debian(additional: additional)
        #expect(texts(follows.judge(), .warning) == [])
    }

    @Test("a service that libpam does not start, and a machine without PAM files, are not judged")
    func nothing() {
        #expect(PamFiles(files: [:]).judge() == nil)
        #expect(
            PamFiles(files: ["login": "@include gone\nauth required pam_appvault.so\n"]).judge()
                == nil)
    }

    @Test("files that include each other come to an end")
    func loops() {
        let line = "auth include login\n"
        let files = PamFiles(files: [
            "login": line + line + line + line + "auth required pam_appvault.so\n"
        ])
        #expect(files.judge()?.faults.isEmpty == false)
    }
}
