/// Whether a store is locked with the screen. That depends on the locker: AppVault hears of a lock
/// from logind alone, and some lockers tell logind nothing.
extension Doctor {
    private struct Locker {
        enum Manner {
            case tellsLogind
            /// It tells the session bus alone, where the agent hears it.
            case tellsSessionBus
            /// It locks when logind says so, and by itself tells nobody.
            case hearsLogind
            /// It runs another program as the locker.
            case runsAnother
        }

        let name: String
        let programs: [String]
        let manner: Manner

        static let known = [
            Locker("GNOME's lock screen", ["gnome-shell"], .tellsLogind),
            Locker("KDE's lock screen", ["plasmashell", "ksmserver"], .tellsLogind),
            Locker("light-locker", ["light-locker"], .tellsLogind),
            Locker("XScreenSaver", ["xscreensaver"], .hearsLogind),
            Locker("xfce4-screensaver", ["xfce4-screensaver"], .tellsSessionBus),
            Locker("mate-screensaver", ["mate-screensaver"], .tellsSessionBus),
            Locker(
                "cinnamon-screensaver", ["cinnamon-screensaver", "cinnamon-screensaver-main.py"],
                .tellsSessionBus),
            // Without that program beside it, it locks the screen itself.
            Locker("Cinnamon's lock screen", ["cinnamon"], .tellsLogind),
            Locker("xss-lock", ["xss-lock"], .runsAnother),
            Locker("swayidle", ["swayidle"], .runsAnother),
            Locker("hypridle", ["hypridle"], .runsAnother),
        ]

        init(_ name: String, _ programs: [String], _ manner: Manner) {
            self.name = name
            self.programs = programs
            self.manner = manner
        }
    }

    func screenFindings() -> [Finding] {
        let key = daemon.policy?.values.first { $0.key == Array("LockOnBackground".utf8) }
        if key?.value == Array("never".utf8) {
            return [
                Finding(
                    .screen, .ok,
                    "the policy says that stores stay open behind a locked screen (LockOnBackground=never)"
                )
            ]
        }
        let people = peopleAtScreens
        guard !people.isEmpty else {
            return [
                Finding(
                    .screen, .unseen,
                    isRoot
                        ? "nobody has a session with a screen" : "you have no session with a screen"
                )
            ]
        }
        return people.map(screenFinding)
    }

    private func screenFinding(_ person: (uid: UInt32, name: String)) -> Finding {
        let commands = commands(of: person.uid)
        let found = Locker.known.lazy.compactMap { locker in
            commands.first { command in
                // A script's own name comes behind its interpreter's.
                command.prefix(2).contains { locker.programs.contains(Self.lastPart(of: $0)) }
            }.map { (locker: locker, command: $0) }
        }.first
        let through = "`appvault screen -- LOCKER` runs a locker and locks the store with it"
        guard let found else {
            return Finding(
                .screen, .unseen, "no screen locker that AppVault knows runs for \(person.name)",
                mend: through)
        }
        let name = found.locker.name
        switch found.locker.manner {
        case .tellsLogind:
            return Finding(.screen, .ok, "\(person.name): \(name) locks the store with the screen")
        case .tellsSessionBus:
            guard commands.contains(where: { $0.first.map(Self.lastPart) == Self.agent }) else {
                return Finding(
                    .screen, .warning,
                    "\(person.name): \(name) tells only the session bus when it locks the screen. "
                        + "\(Self.agent) does not run, which hears it there, and the store stays open",
                    mend: "`systemctl --user start \(Self.agent)` in \(person.name)'s session")
            }
            return Finding(
                .screen, .ok,
                "\(person.name): \(name) locks the store with the screen, through \(Self.agent)")
        case .hearsLogind:
            return Finding(
                .screen, .warning,
                "\(person.name): \(name) tells nobody when it locks the screen, and the store stays open",
                mend: "lock the screen with `loginctl lock-session`, which locks the store as well")
        case .runsAnother:
            if found.command.contains(where: { $0.contains("appvault screen") })
                || found.command.dropFirst().contains(where: { Self.lastPart(of: $0) == "appvault" }
                )
            {
                return Finding(
                    .screen, .ok, "\(person.name): \(name) locks the store with the screen")
            }
            return Finding(
                .screen, .warning,
                "\(person.name): \(name) runs a locker, and this may tell nobody when it locks the screen",
                mend:
                    "write `appvault screen --detach --` in front of the locker in what \(name) runs"
            )
        }
    }

    private static let agent = "appvault-agent"

    /// Everybody with a graphical session; for a person, only themselves.
    private var peopleAtScreens: [(uid: UInt32, name: String)] {
        let folder = "/run/systemd/sessions"
        var people: [(uid: UInt32, name: String)] = []
        for name in machine.names(folder) where !name.contains(".") {
            var values: [Substring: Substring] = [:]
            for line in machine.text("\(folder)/\(name)")?.split(separator: "\n") ?? [] {
                guard let equals = line.firstIndex(of: "=") else { continue }
                values[line[..<equals]] = line[line.index(after: equals)...]
            }
            guard let uid = values["UID"].flatMap({ UInt32($0) }),
                values["CLASS"]?.hasPrefix("user") == true,
                values["TYPE"] == "x11" || values["TYPE"] == "wayland" || values["TYPE"] == "mir",
                isRoot || uid == machine.uid, !people.contains(where: { $0.uid == uid })
            else { continue }
            people.append((uid, values["USER"].map(String.init) ?? "uid \(uid)"))
        }
        return people
    }

    /// The command lines of a person's processes.
    private func commands(of uid: UInt32) -> [[String]] {
        machine.names("/proc").compactMap { name in
            guard UInt32(name) != nil, machine.facts("/proc/\(name)").value?.owner == uid,
                let line = machine.text("/proc/\(name)/cmdline")
            else { return nil }
            return line.split(separator: "\0").map(String.init)
        }
    }

    private static func lastPart(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
