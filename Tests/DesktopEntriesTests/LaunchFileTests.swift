import Testing

@testable import DesktopEntries

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

private let prefix = ["/opt/a b%/appvault", "run", "--app", "x", "--"].map(bytes)

private func led(_ file: String, _ form: LaunchFile.Form = .entry) throws -> String {
    text(try LaunchFile(bytes(file), form).led(through: prefix))
}

private func problem(_ file: [UInt8], _ form: LaunchFile.Form = .entry) -> EntryProblem? {
    do throws(EntryProblem) {
        _ = try LaunchFile(file, form).led(through: prefix)
        return nil
    } catch {
        return error
    }
}

private let app = "[Desktop Entry]\nType=Application\n"
private let before = #""/opt/a b%%/appvault" run --app x -- "#

struct LaunchFileTests {
    @Test("every command is led through ours, and everything else stays as it was")
    func whole() throws {
        let file = """
            # a comment
            [Desktop Entry]
              Type = Application\u{20}
            Name=Mail
            Name[de]=Post
            X-Unknown=;;
            TryExec=mail
            Exec = mail %U \t
            DBusActivatable=true
            no key at all

            [Desktop Action new]
            Name=New
            Exec=mail --new "%F"
            [X-Old Shortcut Group]
            Exec=mail
            """
        #expect(
            try led(file) == """
                # a comment
                [Desktop Entry]
                X-AppVault=1
                  Type = Application\u{20}
                Name=Mail
                Name[de]=Post
                X-Unknown=;;
                TryExec=mail
                Exec = \(before)mail %U \t
                DBusActivatable=false
                no key at all

                [Desktop Action new]
                Name=New
                Exec=\(before)mail --new %F
                [X-Old Shortcut Group]
                Exec=\(before)mail
                """)
    }

    @Test("no key with which a desktop may start it is left out")
    func everyExec() throws {
        let file = app + "Exec=a\nExec=b\nExec[de]=c\nExec[$e]=d\n[X]\n[Desktop Entry]\nExec=e\n"
        let led = try led(file)
        for word in "abcde" { #expect(led.contains("=\(before)\(word)\n")) }
        #expect(led.split(separator: "\n").count { $0.hasPrefix("X-AppVault=") } == 1)
    }

    @Test("the last of two values counts")
    func duplicates() throws {
        #expect(problem(bytes(app + "Exec=a\n[Desktop Entry]\nType=Link\n")) == .notAnApplication)
        #expect(problem(bytes(app + "Hidden=true\nExec=a\nHidden=false\n")) == nil)
        let bus = "DBusActivatable=true\n"
        let twice = try led(app + "Exec=a\n\(bus)[Desktop Entry]\n\(bus)")
        #expect(!twice.contains("true"))
    }

    @Test("ends of lines stay what they are")
    func ends() throws {
        let file = "[Desktop Entry]\r\nType=Application\r\nExec=a"
        #expect(
            try led(file)
                == "[Desktop Entry]\r\nX-AppVault=1\r\nDBusActivatable=false\r\n"
                + "Type=Application\r\nExec=\(before)a")
        let onlyHead = try KeyFile(bytes("[G]"))
        var set = onlyHead
        set.set("K", "v", in: "G")
        #expect(text(set.bytes) == "[G]\nK=v\n")
    }

    @Test("bytes that are no text stay what they are")
    func notText() throws {
        let name: [UInt8] = bytes("Name=") + [0xFF, 0xC3, 0x0A]
        let file = bytes(app) + name + bytes("Exec=a ") + [0xFE, 0x0A]
        let led = try LaunchFile(file, .entry).led(through: prefix)
        let end: [UInt8] = name + bytes("Exec=\(before)a ") + [0xFE, 0x0A]
        #expect(Array(led.suffix(end.count)) == end)
    }

    @Test(
        "words mean the same to GLib, and no desktop hands them to a shell",
        arguments: [
            ("a; b", #"a";" b"#.replacing(#"a";""#, with: #""a;""#)),
            ("a && b > c", #"a "&&" b ">" c"#),
            ("sh -c 'a \"$1\" %f' x %f", #"sh -c "a \\"\\$1\\" %f" x %f"#),
            (#"sh -c "echo \\$HOME `id`""#, #"sh -c "echo \\$HOME \\`id\\`""#),
            (#"a "b \\\\ c""#, #"a "b \\\\ c""#),
            (#"a\sb "c\nd" e\\ f"#, #"a b "c\nd" "e f""#),
            (#"a "" %% %c %k %i"#, #"a "" %% %c %k %i"#),
            ("env A=b  c%", "env A=b c%"), ("a 'b'\"c\"d", "a bcd"), ("a #b *", ##"a "#b" "*""##),
            ("ä --x={y}", #"ä "--x={y}""#), (#"a \q"#, "a q"),
        ])
    func words(value: String, expected: String) throws {
        #expect(try led(app + "Exec=\(value)\n").hasSuffix("Exec=\(before)\(expected)\n"))
    }

    @Test("what is written is read as the same words", arguments: 0..<400)
    func roundTrip(seed: Int) throws {
        var random = Random(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
        let alphabet = bytes("ab \t\n\r\"'\\`$%;&|<>()*?#~=s") + [0x80, 0xFF, 0x01]
        let words = (0..<Int.random(in: 1...5, using: &random)).map { index in
            (0..<Int.random(in: index == 0 ? 1...6 : 0...6, using: &random)).map { _ in
                alphabet.randomElement(using: &random)!
            }
        }
        for dialect in [CommandLine.Dialect.menu, .bus] {
            let line = CommandLine(words: words).value(dialect)
            // A value that leaves its line, or ends in a blank, would be another one.
            if dialect == .menu { #expect(!line.contains(0x0A) && !line.contains(0x0D)) }
            #expect(try CommandLine(line, dialect).words == words)
        }
    }

    @Test("no file makes it stumble, and none loses a byte", arguments: 0..<200)
    func anyBytes(seed: Int) throws {
        var random = Random(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
        let pieces = [
            "[Desktop Entry]", "[", "]", "\n", "\r\n", "=", "Exec=", "Type=Application", "a", "\"",
            "'", "\\", "%", " ", "#", "Exec[", "Hidden=true", "\0", "X-AppVault=1",
        ]
        let file = (0..<60).flatMap { _ in bytes(pieces.randomElement(using: &random)!) }
        #expect(try KeyFile(file).bytes == file)
        _ = problem(file)
    }

    @Test(
        "what cannot be locked is refused with its reason",
        arguments: [
            ("", .notAnApplication), ("Exec=a\n", .notAnApplication),
            ("[Desktop Entry]\nType=Link\nExec=a", .notAnApplication),
            ("[Desktop Entry]\nExec=a", .notAnApplication),
            (app, .noCommand), (app + "Exec=", .noCommand), (app + "Exec= \\s ", .noCommand),
            (app + "Exec=\"\" a", .noCommand), (app + "Exec=\"a", .badCommand),
            (app + "Exec=a 'b", .badCommand), (app + "Exec=a \\\\", .badCommand),
            (app + "Exec=a\0b", .badCommand), (app + "Exec=a\nHidden=true", .hidden),
            (app + "Exec=a\n[Desktop Action b]\nExec='", .badCommand),
        ] as [(String, EntryProblem)])
    func refused(file: String, expected: EntryProblem) {
        #expect(problem(bytes(file)) == expected)
    }

    @Test("a file of 1 MiB is read, and a larger one is refused")
    func large() {
        let head = bytes(app + "Exec=a\n")
        let filled = head + [UInt8](repeating: 0x0A, count: KeyFile.limit - head.count)
        #expect(problem(filled) == nil)
        #expect(problem(filled + [0x0A]) == .tooLarge)
    }

    @Test("a service is led through ours, and not through systemd")
    func service() throws {
        let file =
            "[D-BUS Service]\nName=x\nExec=/usr/bin/x --gapplication-service\n"
            + "SystemdService=x.service\n"
        #expect(
            try led(file, .service)
                == "[D-BUS Service]\nX-AppVault=1\nName=x\n"
                + "Exec='/opt/a b%/appvault' run --app x -- /usr/bin/x --gapplication-service\n")
    }

    @Test("our own files are known by their mark")
    func mark() throws {
        let file = app + "Exec=a\n"
        #expect(!LaunchFile.isOurs(bytes(file), .entry))
        #expect(LaunchFile.isOurs(bytes(try led(file)), .entry))
        #expect(!LaunchFile.isOurs(bytes("[Other]\nX-AppVault=1\n"), .entry))
    }

    @Test(
        "what leaves its scope is found by its command",
        arguments: [
            ("Exec=flatpak run org.x", .flatpak), ("Exec=/usr/bin/flatpak run org.x", .flatpak),
            ("X-Flatpak=org.x\nExec=x", .flatpak), ("Exec=/snap/bin/x %U", .snap),
            ("Exec=env BAMF=/x /snap/bin/x %U", .snap), ("X-SnapInstanceName=x\nExec=x", .snap),
            ("Exec=gnome-terminal", .server(bytes("gnome-terminal"))),
            ("Exec=/usr/bin/env -i A=b gapplication launch x", .server(bytes("gapplication"))),
            ("Exec=x", nil), ("Exec=env", nil), ("Exec=flatpak-builder", nil),
        ] as [(String, Departure?)])
    func departure(keys: String, expected: Departure?) throws {
        #expect(try LaunchFile(bytes(app + keys), .entry).departure(with: nil) == expected)
    }

    @Test("a service of another program shows the windows")
    func server() throws {
        func service(_ program: String) throws -> LaunchFile {
            try LaunchFile(bytes("[D-BUS Service]\nName=x\nExec=\(program)\n"), .service)
        }
        let entry = try LaunchFile(bytes(app + "Exec=calc %U"), .entry)
        #expect(entry.departure(with: try service("/usr/bin/calc --service")) == nil)
        #expect(
            entry.departure(with: try service("/usr/libexec/calc-server"))
                == .server(bytes("calc-server")))
    }

    @Test(
        "an id names a file and nothing else",
        arguments: [
            ("a.b-c_d", "a.b-c_d"), ("a.desktop", "a"), ("Ä b", "Ä b"), ("", nil),
            (".desktop", nil),
            ("a/b", nil), ("..", nil), ("a..b", nil), (".a", nil), ("-a", nil), ("a\nb", nil),
            ("a\0", nil),
            (String(repeating: "a", count: 201), nil),
        ] as [(String, String?)])
    func ids(id: String, expected: String?) {
        #expect(ApplicationID(bytes(id))?.name == expected)
        #expect(ApplicationID([0xFF]) == nil)
    }
}

private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
