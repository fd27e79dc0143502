internal import CSystemd
import Policy
import Posix

/// Which process asks and who is at this machine, according to the kernel, systemd and logind. It
/// is read from what they have written down, so that a crowd at the bus cannot delay the answer.
/// Blocking: runs on a worker only.
struct Surroundings: Equatable, Sendable {
    var process: KnownProcess?
    /// Nil if there is no logind.
    var machine: MachineView?

    static let unknown = Surroundings(process: nil, machine: nil)

    static func look(at peer: PeerProcess, person: UInt32) -> Surroundings {
        Surroundings(
            process: peer.during { pid in known(pid) }, machine: machine(person: person))
    }

    // MARK: the process

    private static func known(_ pid: Int32) -> KnownProcess? {
        guard let uid = ProcessFacts.realUID(of: pid) else { return nil }
        let place = place(of: pid)
        guard case .systemUnit(let unit) = place, let instance = PolkitInstance(unit: unit) else {
            return KnownProcess(realUID: uid, place: place)
        }
        return KnownProcess(
            realUID: uid, place: place, connector: connector(of: instance, before: pid))
    }

    /// systemd started the helper when the connecting process connected. A process that began after
    /// the helper only has the same pid by chance.
    private static func connector(
        of instance: PolkitInstance, before helper: Int32
    ) -> KnownProcess.Connector? {
        guard let started = ProcessFacts.beginning(of: helper),
            let began = ProcessFacts.beginning(of: instance.pid), began <= started,
            let uid = ProcessFacts.realUID(of: instance.pid)
        else { return nil }
        let place = place(of: instance.pid)
        guard ProcessFacts.beginning(of: instance.pid) == began else { return nil }
        return KnownProcess.Connector(uid: instance.uid, realUID: uid, place: place)
    }

    private static func place(of pid: Int32) -> ProcessPlace {
        // SAFETY: each call writes a word that ends within the room, which `word` has made. The
        // same holds in all of this file.
        guard let slice = unsafe word({ unsafe appvault_slice_of(pid, $0, room) }),
            let unit = unsafe word({ unsafe appvault_unit_of(pid, $0, room) })
        else { return .unknown }
        // The name of a slice contains the names of its parents.
        if slice == "system.slice" || slice.hasPrefix("system-") { return .systemUnit(unit) }
        let (user, end) = ("user-", ".slice")
        guard slice.hasPrefix(user), slice.hasSuffix(end),
            let uid = UInt32(slice.dropFirst(user.count).dropLast(end.count))
        else { return .unknown }
        if unit == "user@\(uid).service" { return .userManager(uid) }
        let (session, scope) = ("session-", ".scope")
        guard unit.hasPrefix(session), unit.hasSuffix(scope) else { return .unknown }
        return .session(
            String(unit.dropFirst(session.count).dropLast(scope.count)), uid: uid)
    }

    // MARK: the machine

    private static func machine(person: UInt32) -> MachineView? {
        // A running logind always knows a seat. If there is none, these files are not from a
        // running logind.
        guard let seats = unsafe words({ unsafe sd_get_seats($0) }), !seats.isEmpty,
            let ids = unsafe words({ unsafe sd_get_sessions($0) })
        else { return nil }
        var front: [String?] = []
        for seat in seats {
            var text = ""
            let result = unsafe fill(&text) { unsafe appvault_in_front(seat, $0, room) }
            // A seat that cannot be read may have anybody in front.
            guard result >= 0 else { return nil }
            front.append(result > 0 ? text : nil)
        }
        return MachineView(
            sessions: ids.compactMap(session), seats: front,
            display: unsafe word { unsafe appvault_display_of(person, $0, room) },
            frontTerminal: frontTerminal())
    }

    /// The sessions of a person that are not over. One is over, to logind, when the process that
    /// began it has ended, also where others of it are left.
    static func sessions(of person: UInt32) -> [String] {
        let ids = unsafe words { unsafe sd_uid_get_sessions(person, 0, $0) } ?? []
        return ids.filter { id in
            guard let session = session(id) else { return false }
            return session.uid == person && session.kind == .person
        }
    }

    /// Nil if the session has ended meanwhile.
    private static func session(_ id: String) -> LoginSession? {
        var uid: uid_t = 0
        guard unsafe sd_session_get_uid(id, &uid) >= 0 else { return nil }
        let state = unsafe word { unsafe appvault_session_state(id, $0, room) }
        return LoginSession(
            id: id, uid: uid,
            kind: kind(unsafe word { unsafe appvault_session_class(id, $0, room) }),
            // If logind does not say, assume the worse.
            isRemote: unsafe sd_session_is_remote(id) != 0,
            isActive: unsafe sd_session_is_active(id) > 0 && state == "active",
            hasSeat: unsafe word { unsafe appvault_session_seat(id, $0, room) } != nil)
    }

    /// All sessions, and what each seat shows. Which screens are locked is not in logind's files.
    static func seats() -> SeatNews? {
        guard let seats = unsafe words({ unsafe sd_get_seats($0) }), !seats.isEmpty,
            let ids = unsafe words({ unsafe sd_get_sessions($0) })
        else { return nil }
        var front: [String: String] = [:]
        for seat in seats {
            front[seat] = unsafe word { unsafe appvault_in_front(seat, $0, room) }
        }
        return .view(sessions: ids.compactMap(seatSession), front: front)
    }

    static func seatSession(_ id: String) -> SeatSession? {
        var uid: uid_t = 0
        guard unsafe sd_session_get_uid(id, &uid) >= 0,
            unsafe word({ unsafe appvault_session_state(id, $0, room) }) != "closing"
        else { return nil }
        let type = unsafe word { unsafe appvault_session_type(id, $0, room) }
        let isGraphical = type.map { ["x11", "wayland", "mir"].contains($0) } ?? false
        // Where a machine has no virtual terminals, logind gives its seat to whoever logs in at any
        // terminal. None of these is what the seat shows.
        let isShown = unsafe isGraphical || appvault_session_terminal(id) > 0
        return SeatSession(
            id: id, uid: uid,
            kind: kind(unsafe word { unsafe appvault_session_class(id, $0, room) }),
            seat: isShown ? unsafe word { unsafe appvault_session_seat(id, $0, room) } : nil,
            isGraphical: isGraphical)
    }

    /// logind's classes. Later versions add endings (user-early, manager-early, background-light).
    private static func kind(_ name: String?) -> LoginSession.Kind {
        guard let name else { return .other }
        if name == "greeter" { return .greeter }
        if name.hasPrefix("user") { return .person }
        return name.hasPrefix("manager") ? .manager : .other
    }

    private static func frontTerminal() -> String? {
        guard let text = try? TextFile.read(at: "/sys/class/tty/tty0/active", limit: 64) else {
            return nil
        }
        return String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)
    }

    // MARK: words

    private static let room = 512

    private static func word(_ ask: (UnsafeMutablePointer<CChar>) -> Int32) -> String? {
        var text = ""
        return unsafe fill(&text, ask) > 0 ? text : nil
    }

    private static func fill(
        _ text: inout String, _ ask: (UnsafeMutablePointer<CChar>) -> Int32
    ) -> Int32 {
        // SAFETY: the shims write a terminated string that is shorter than the room, or nothing.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) { buffer in
            unsafe buffer.initialize(repeating: 0)
            let result = unsafe ask(buffer.baseAddress!)
            text = unsafe String(cString: buffer.baseAddress!)
            return result
        }
    }

    private static func words(
        _ ask: (UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>) -> Int32
    ) -> [String]? {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard unsafe ask(&list) >= 0 else { return nil }
        defer { unsafe appvault_free_words(list) }
        var found: [String] = []
        // SAFETY: sd-login ends its lists with a null pointer; an empty one may be none.
        guard let list = unsafe list else { return found }
        var index = 0
        while let word = unsafe list[index] {
            unsafe found.append(String(cString: word))
            index += 1
        }
        return found
    }
}
