/// A file that starts an application: its entry in the menu or among what starts with the session,
/// or the D-Bus service of its name.
package struct LaunchFile: Equatable, Sendable {
    package enum Form: Equatable, Sendable {
        case entry
        case service
    }

    private var file: KeyFile
    private let form: Form
    /// What it starts.
    package let command: CommandLine

    package init(_ bytes: [UInt8], _ form: Form) throws(EntryProblem) {
        file = try KeyFile(bytes)
        self.form = form
        switch form {
        case .entry:
            guard Self.value("Type", file, form) == Array("Application".utf8) else {
                throw .notAnApplication
            }
            if Self.isTrue("Hidden", file, form) { throw .hidden }
        case .service:
            guard Self.value("Name", file, form) != nil else { throw .notAnApplication }
        }
        guard let value = Self.value("Exec", file, form) else { throw .noCommand }
        command = try CommandLine(value, form.dialect)
    }

    /// The mark by which we know the files that we have written.
    private static let mark = "X-AppVault"

    package static func isOurs(_ bytes: [UInt8], _ form: Form) -> Bool {
        guard let file = try? KeyFile(bytes) else { return false }
        return value(mark, file, form) != nil
    }

    /// As the file names the application, without a translation.
    package var name: [UInt8] { Self.value("Name", file, form) ?? [] }

    /// Whether it is meant to be started by a person.
    package var isInMenu: Bool { !Self.isTrue("NoDisplay", file, form) }

    /// The file with every command led through these words, which stand before the command's own.
    package func led(through words: [[UInt8]]) throws(EntryProblem) -> [UInt8] {
        var led = file
        let (dialect, group) = (form.dialect, form.group)
        let before = words.map { CommandLine.literal($0, dialect) }
        try led.rewrite("Exec") { value throws(EntryProblem) in
            let command = try CommandLine(value, dialect)
            return CommandLine(words: before + command.words).value(dialect)
        }
        switch form {
        // Otherwise the desktop asks D-Bus to start it, and does not look at Exec.
        case .entry: led.set("DBusActivatable", "false", in: group)
        // As above: D-Bus would ask systemd.
        case .service: led.remove("SystemdService", in: group)
        }
        led.set(Self.mark, "1", in: group)
        return led.bytes
    }

    private static func value(_ key: String, _ file: KeyFile, _ form: Form) -> [UInt8]? {
        file.value(key, in: form.group)
    }

    private static func isTrue(_ key: String, _ file: KeyFile, _ form: Form) -> Bool {
        let value = value(key, file, form)
        return value == Array("true".utf8) || value == Array("1".utf8)
    }
}

extension LaunchFile.Form {
    fileprivate var group: String {
        switch self {
        case .entry: "Desktop Entry"
        case .service: "D-BUS Service"
        }
    }

    package var dialect: CommandLine.Dialect {
        switch self {
        case .entry: .menu
        case .service: .bus
        }
    }
}

// MARK: Where it runs

/// Why an application does not stay in the scope that `appvault run` starts it in.
package enum Departure: Equatable, Sendable {
    case flatpak
    case snap
    /// Another program, which was not started there, shows the windows.
    case server([UInt8])
}

extension LaunchFile {
    /// Programs that have another process do what they are asked for.
    private static let messengers = ["gnome-terminal", "gapplication", "systemd-run"]

    /// `service` is the D-Bus service of the application's name.
    package func departure(with service: LaunchFile?) -> Departure? {
        let program = command.program
        let name = Self.lastComponent(program)
        if name == Array("flatpak".utf8) || Self.value("X-Flatpak", file, form) != nil {
            return .flatpak
        }
        let isOfSnap =
            program.starts(with: "/snap/bin/".utf8)
            || program.starts(with: "/var/lib/snapd/snap/bin/".utf8)
        if isOfSnap || name == Array("snap".utf8)
            || Self.value("X-SnapInstanceName", file, form) != nil
        {
            return .snap
        }
        if Self.messengers.contains(where: { name.elementsEqual($0.utf8) }) {
            return .server(name)
        }
        if let service {
            let server = Self.lastComponent(service.command.program)
            if server != name { return .server(server) }
        }
        return nil
    }

    private static func lastComponent(_ path: [UInt8]) -> [UInt8] {
        path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    }
}

extension CommandLine {
    /// Without `env` and what it sets.
    var program: [UInt8] {
        var rest = words[...]
        while let word = rest.first,
            word == Array("env".utf8) || word.suffix(4).elementsEqual("/env".utf8)
        {
            rest.removeFirst()
            while let setting = rest.first,
                setting.contains(UInt8(ascii: "=")) || setting.first == UInt8(ascii: "-")
            {
                rest.removeFirst()
            }
        }
        return rest.first ?? words.first ?? []
    }
}
