import Policy
import Posix
import Wire

/// An application that runs locked with a store: what its file in the person's runtime folder says.
/// The agent writes it, so that the next agent knows of it; `app list` reads it.
package struct RunningApp: Equatable, Sendable {
    /// The unit of the person's own systemd that all of its processes are in.
    package var scope: String
    package var id: String
    /// Empty: `default`.
    package var store: String
    package var demand: AppDemand
    package var onLock: AppPolicy.OnLock
    package var background: AppPolicy.Background
    package var timeout: UInt32
    package var isLocked = false
    /// X11's numbers of those that were taken off the screen.
    package var windows: [String] = []

    package init(
        scope: String, id: String, store: String, demand: AppDemand, onLock: AppPolicy.OnLock,
        background: AppPolicy.Background, timeout: UInt32
    ) {
        self.scope = scope
        self.id = id
        self.store = store
        self.demand = demand
        self.onLock = onLock
        self.background = background
        self.timeout = timeout
    }

    /// Whether it can stand in a file of its own.
    package var isSound: Bool {
        AppName.isID(id) && store.utf8.count <= Limits.name
            && store.utf8.allSatisfy { $0 >= 0x20 }
    }
    /// As the daemon calls it.
    package var storeName: String { Self.name(of: store) }

    package static func name(of store: String) -> String { store.isEmpty ? "default" : store }

    package static func scope(of id: String, _ number: UInt32) -> String {
        "app-appvault-\(id)-\(number).scope"
    }

    // MARK: its file

    package static func folder(in runtime: String) -> String { runtime + "/appvault/apps" }

    /// More than any of ours has.
    private static let limit = 65_536
    /// That many lines fit in it. Of an application with more, some stay hidden if the agent dies.
    private static let mostWindows = 2_000

    package static func all(in folder: String) -> [RunningApp] {
        let names = (try? TextFile.names(in: folder)) ?? []
        return names.compactMap { name in
            guard name.hasSuffix(".scope"),
                let bytes = try? TextFile.read(at: folder + "/" + name, limit: limit)
            else { return nil }
            return RunningApp(scope: name, bytes: bytes)
        }
    }

    static func all(_ environment: Environment) -> [RunningApp] {
        guard let runtime = environment.variable("XDG_RUNTIME_DIR"), runtime.first == 0x2F else {
            return []
        }
        return all(in: folder(in: String(decoding: runtime, as: UTF8.self)))
    }

    package var bytes: [UInt8] {
        var lines = [
            "id=\(id)", "store=\(store)", "demand=\(demand.rawValue)",
            "onLock=\(onLock.rawValue)", "background=\(background.rawValue)",
            "timeout=\(timeout)", "locked=\(isLocked ? 1 : 0)",
        ]
        lines += windows.prefix(Self.mostWindows).map { "window=\($0)" }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Nil if the file is not whole.
    package init?(scope: String, bytes: [UInt8]) {
        var values: [String: String] = [:]
        var windows: [String] = []
        // By bytes: a name may have characters that would join with the end of its line.
        for line in bytes.split(separator: 0x0A) {
            guard let equals = line.firstIndex(of: 0x3D) else { return nil }
            let key = String(decoding: line[..<equals], as: UTF8.self)
            let value = String(decoding: line[(equals + 1)...], as: UTF8.self)
            if key == "window" { windows.append(value) } else { values[key] = value }
        }
        func number(_ key: String) -> UInt8? { values[key].flatMap { UInt8($0) } }
        guard let id = values["id"], let store = values["store"],
            let demand = number("demand").flatMap(AppDemand.init(rawValue:)),
            let onLock = number("onLock").flatMap(AppPolicy.OnLock.init(rawValue:)),
            let background = number("background").flatMap(AppPolicy.Background.init(rawValue:)),
            let timeout = values["timeout"].flatMap({ UInt32($0) }), let locked = number("locked")
        else { return nil }
        self.init(
            scope: scope, id: id, store: store, demand: demand, onLock: onLock,
            background: background, timeout: timeout)
        isLocked = locked == 1
        self.windows = windows
    }
}

package enum AppName {
    /// Whether the daemon takes this for the id of an application.
    package static func isID(_ id: String) -> Bool { AppRules.isID(Array(id.utf8)) }
}
