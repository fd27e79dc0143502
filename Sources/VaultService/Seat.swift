internal import CSystemd
import Policy
import Posix

/// Whether somebody is at the machine, asked of logind by the peer's pid. Blocking: on a worker
/// only.
enum Seat {
    static func ask(about peer: PeerCredentials, person: UInt32) -> SeatAnswer {
        // A pid can be given away while we ask: the answer counts only if its process is still the
        // same one.
        guard let before = startTime(of: peer.pid) else { return .unknown }
        guard let bus = Bus.open() else { return .unknown }
        let answer = query(bus, peer, person)
        guard startTime(of: peer.pid) == before else { return .unknown }
        return answer
    }

    /// Machines without one say that it is open.
    static func lid() -> Lid {
        guard let bus = Bus.open(), let isShut = bus.lidIsShut() else { return .unknown }
        return isShut ? .shut : .open
    }

    private static func startTime(of pid: Int32) -> [UInt8]? {
        guard pid > 0, let stat = try? TextFile.read(at: "/proc/\(pid)/stat", limit: 4096),
            let name = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(name + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? Array(fields[19]) : nil
    }

    private static func query(_ bus: borrowing Bus, _ peer: PeerCredentials, _ person: UInt32)
        -> SeatAnswer
    {
        let session: String
        switch bus.object("GetSessionByPID", UInt32(bitPattern: peer.pid)) {
        case .found(let path): session = path
        case .failed: return .unknown
        case .none:
            // A process of the user manager stands where the person's display session stands.
            switch bus.object("GetUserByPID", UInt32(bitPattern: peer.pid)) {
            case .failed: return .unknown
            case .none: return .none
            case .found(let user):
                guard let display = bus.pair(user, "org.freedesktop.login1.User", "Display") else {
                    return .unknown
                }
                guard !display.name.isEmpty else { return .none }
                session = display.path
            }
        }
        guard let owner = bus.owner(session), let remote = bus.flag(session, "Remote"),
            let active = bus.flag(session, "Active"),
            let seat = bus.pair(session, "org.freedesktop.login1.Session", "Seat")
        else { return .unknown }
        if remote { return .remote }
        guard owner == person, active, !seat.name.isEmpty else { return .elsewhere }
        return .atSeat
    }
}

/// One connection to the system bus, for one question.
@safe
private struct Bus: ~Copyable {
    private let bus: OpaquePointer

    enum Object {
        case found(String)
        case none
        case failed
    }

    static func open() -> Bus? {
        var bus: OpaquePointer?
        // SAFETY: sd-bus fills the pointer, or leaves it null.
        guard unsafe sd_bus_open_system(&bus) >= 0, let bus = unsafe bus else { return nil }
        unsafe sd_bus_set_method_call_timeout(bus, 1_000_000)
        return unsafe Bus(bus: bus)
    }

    private init(bus: OpaquePointer) {
        unsafe self.bus = bus
    }

    deinit {
        unsafe sd_bus_flush_close_unref(bus)
    }

    borrowing func object(_ method: String, _ pid: UInt32) -> Object {
        var result: Int32 = 0
        let path = unsafe Self.text { buffer in
            result = unsafe appvault_login_object(bus, method, pid, buffer, Self.room)
        }
        if result < 0 { return .failed }
        return result == 0 || path.isEmpty ? .none : .found(path)
    }

    borrowing func pair(_ object: String, _ interface: String, _ name: String) -> (
        name: String, path: String
    )? {
        var result: Int32 = 0
        var first = ""
        let second = unsafe Self.text { path in
            first = unsafe Self.text { text in
                result = unsafe appvault_login_pair(
                    bus, object, interface, name, "(so)", text, path, Self.room, nil)
            }
        }
        return result < 0 ? nil : (first, second)
    }

    borrowing func owner(_ session: String) -> UInt32? {
        var uid: UInt32 = 0
        let result = unsafe appvault_login_pair(
            bus, session, "org.freedesktop.login1.Session", "User", "(uo)", nil, nil, 0, &uid)
        return result < 0 ? nil : uid
    }

    borrowing func flag(_ session: String, _ name: String) -> Bool? {
        var value: Int32 = 0
        let interface = "org.freedesktop.login1.Session"
        return unsafe appvault_login_flag(bus, session, interface, name, &value) < 0
            ? nil : value != 0
    }

    borrowing func lidIsShut() -> Bool? {
        var value: Int32 = 0
        let manager = "org.freedesktop.login1.Manager"
        let path = "/org/freedesktop/login1"
        return unsafe appvault_login_flag(bus, path, manager, "LidClosed", &value) < 0
            ? nil : value != 0
    }

    private static let room = 512

    private static func text(_ fill: (UnsafeMutablePointer<CChar>) -> Void) -> String {
        // SAFETY: the shim writes a terminated string that is shorter than the room, or nothing.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) { buffer in
            unsafe buffer.initialize(repeating: 0)
            unsafe fill(buffer.baseAddress!)
            return unsafe String(cString: buffer.baseAddress!)
        }
    }
}
