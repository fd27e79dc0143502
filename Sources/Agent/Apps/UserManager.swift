import Bus
import Posix

/// The person's own systemd, which starts, freezes and ends applications.
@LoopActor
final class UserManager {
    private static let name = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    private static let manager = "org.freedesktop.systemd1.Manager"
    private static let unit = "org.freedesktop.systemd1.Unit"
    /// It answers a freeze when all processes are frozen.
    private static let patience: UInt64 = 20_000

    private let bus: Bus

    init(_ bus: Bus) {
        self.bus = bus
    }

    private func call(
        _ member: String, _ arguments: [BusValue] = []
    ) async throws(BusError) -> BusMessage {
        try await bus.call(
            Self.name, Self.path, Self.manager, member, arguments,
            until: Clock.bootMilliseconds() + Self.patience)
    }

    private func property(
        _ name: String, of interface: String, at path: String
    ) async throws(BusError) -> BusValue? {
        try await bus.call(
            Self.name, path, "org.freedesktop.DBus.Properties", "Get",
            [.string(interface), .string(name)],
            until: Clock.bootMilliseconds() + Self.patience
        ).variant()
    }

    /// Tells of each unit that is over.
    func whenRemoved(_ removed: @escaping @LoopActor (String) -> Void) async throws(BusError) {
        let deadline = Clock.bootMilliseconds() + Self.patience
        try await bus.follow(Self.name, until: deadline) { _ in }
        try await bus.hear(
            "UnitRemoved", of: Self.manager, from: Self.name, until: deadline
        ) { signal in
            if let name = try? signal.string() { removed(name) }
        }
        _ = try await call("Subscribe")
    }

    /// Puts the process into a scope of its own, with all that it will start.
    func startScope(
        _ scope: String, with process: UInt32, _ description: String
    ) async throws(BusError) {
        let properties = [
            Self.setting("Description", .string(description)),
            Self.setting("Slice", .string("app.slice")),
            Self.setting("CollectMode", .string("inactive-or-failed")),
            // No order between it and the agent: at the end of all, systemd's own attempt to stop it
            // and what the agent does then need each other. See `AppKeeper.end`.
            Self.setting("PIDs", .array(of: "u", [.uint32(process)])),
        ]
        try await startUnit(scope, properties)
    }

    private static func setting(_ name: String, _ value: BusValue) -> BusValue {
        .structure([.string(name), .variant(value)])
    }

    /// Starts a program of the desktop, which ends with it. Its window may come to the front with the
    /// token.
    func start(_ service: String, _ command: [String], token: String) async throws(BusError) {
        var properties = [
            Self.setting("Description", .string("AppVault")),
            Self.setting("Slice", .string("app.slice")),
            Self.setting("CollectMode", .string("inactive-or-failed")),
            Self.setting("PartOf", .strings(["graphical-session.target"])),
            // A store may be called `$HOME`.
            Self.setting(
                "ExecStartEx",
                .array(
                    of: "(sasas)",
                    [
                        .structure([
                            .string(command[0]), .strings(command), .strings(["no-env-expand"]),
                        ])
                    ])),
        ]
        if !token.isEmpty {
            properties.append(
                Self.setting("Environment", .strings(["XDG_ACTIVATION_TOKEN=" + token])))
        }
        try await startUnit(service, properties)
    }

    private func startUnit(
        _ unit: String, _ properties: [BusValue]
    ) async throws(BusError) {
        _ = try await call(
            "StartTransientUnit",
            [
                .string(unit), .string("fail"), .array(of: "(sv)", properties),
                .array(of: "(sa(sv))", []),
            ])
    }

    private func path(of scope: String) async throws(BusError) -> String {
        try await call("GetUnit", [.string(scope)]).objectPath()
    }

    func canFreeze(_ scope: String) async throws(BusError) -> Bool {
        let path = try await path(of: scope)
        return try await property("CanFreeze", of: Self.unit, at: path) == .bool(true)
    }

    func isThere(_ scope: String) async -> Bool {
        do throws(BusError) {
            _ = try await path(of: scope)
            return true
        } catch {
            switch error {
            // Where it does not answer, nothing is known to be over.
            case .silent, .gone, .malformed, .unsent: return true
            case .refused: return false
            }
        }
    }

    /// The folder of its control group, from the mount of control groups on.
    func controlGroup(of scope: String) async throws(BusError) -> String? {
        let path = try await path(of: scope)
        let value = try await property(
            "ControlGroup", of: "org.freedesktop.systemd1.Scope", at: path)
        guard case .string(let group) = value, !group.isEmpty else { return nil }
        return group
    }

    func freeze(_ scope: String) async throws(BusError) {
        _ = try await call("FreezeUnit", [.string(scope)])
    }

    func thaw(_ scope: String) async throws(BusError) {
        _ = try await call("ThawUnit", [.string(scope)])
    }

    /// Behind systemd's back, for a scope about which systemd itself takes no order any more. False if
    /// the kernel does not do it either; likewise below.
    @discardableResult
    func thawInKernel(_ scope: String) async -> Bool {
        await tellKernel("0", scope)
    }

    func freezeInKernel(_ scope: String) async -> Bool {
        await tellKernel("1", scope)
    }

    private func tellKernel(_ word: String, _ scope: String) async -> Bool {
        guard let group = try? await controlGroup(of: scope) else { return false }
        let path = "/sys/fs/cgroup\(group)/cgroup.freeze"
        do throws(PosixError) {
            try TextFile.write(into: path, Array(word.utf8))
            return true
        } catch {
            return false
        }
    }

    /// As at a logout: SIGTERM, then SIGKILL.
    func stop(_ scope: String) async throws(BusError) {
        _ = try await call("StopUnit", [.string(scope), .string("fail")])
    }

    /// What programs of this session get. It knows the display of the login that is going on.
    func environment() async -> [String] {
        guard
            case .strings(let words)? = try? await property(
                "Environment", of: Self.manager, at: Self.path)
        else { return [] }
        return words
    }

    /// Whether a desktop runs that says so to systemd.
    func hasDesktop() async -> Bool {
        do throws(BusError) {
            let path = try await path(of: "graphical-session.target")
            return try await property("ActiveState", of: Self.unit, at: path) == .string("active")
        } catch {
            return false
        }
    }

    /// The person's last session is over, or the machine goes down.
    func isStopping() async -> Bool {
        guard
            case .string(let state)? = try? await property(
                "SystemState", of: Self.manager, at: Self.path)
        else { return true }
        return state == "stopping"
    }
}
