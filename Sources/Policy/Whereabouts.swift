/// Where systemd keeps a process, by its control group. The kernel gives it, and no process can
/// change it for a process outside its own tree.
public enum ProcessPlace: Equatable, Sendable {
    /// A unit of the system manager. The path of its control group begins with system.slice.
    case systemUnit(String)
    /// The scope of a login session, below the slice of its user.
    case session(String, uid: UInt32)
    /// A user's own manager and everything that it runs.
    case userManager(UInt32)
    /// Somewhere else, or not known: no systemd, a container's process, or no answer.
    case unknown
}

/// A process as the kernel and systemd know it.
public struct KnownProcess: Equatable, Sendable {
    /// The user who started it, even if it has root's rights now.
    public var realUID: UInt32
    public var place: ProcessPlace
    /// For polkit's helper, whose instance is named after the process that connected: that process.
    /// Nil where another process has its pid by now, where it has ended, or where it was never
    /// named.
    public var connector: Connector?

    public init(realUID: UInt32, place: ProcessPlace, connector: Connector? = nil) {
        self.realUID = realUID
        self.place = place
        self.connector = connector
    }

    public struct Connector: Equatable, Sendable {
        /// The effective uid at the moment of connecting.
        public var uid: UInt32
        public var realUID: UInt32
        public var place: ProcessPlace

        public init(uid: UInt32, realUID: UInt32, place: ProcessPlace) {
            self.uid = uid
            self.realUID = realUID
            self.place = place
        }
    }
}

/// A session as logind lists it.
public struct LoginSession: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case person, greeter
        /// A user's manager, cron, and other sessions at which no person sits.
        case manager, other
    }

    public var id: String
    public var uid: UInt32
    public var kind: Kind
    public var isRemote: Bool
    /// In front on its seat, and not closing.
    public var isActive: Bool
    public var hasSeat: Bool

    public init(
        id: String, uid: UInt32, kind: Kind, isRemote: Bool, isActive: Bool, hasSeat: Bool
    ) {
        self.id = id
        self.uid = uid
        self.kind = kind
        self.isRemote = isRemote
        self.isActive = isActive
        self.hasSeat = hasSeat
    }
}

/// Who is at this machine, as logind and the kernel report at one moment.
public struct MachineView: Equatable, Sendable {
    public var sessions: [LoginSession]
    /// The session in front on each seat; nil where there is none.
    public var seats: [String?]
    /// The person's display session.
    public var display: String?
    /// The virtual terminal in front, such as tty2; nil where the machine has none.
    public var frontTerminal: String?

    public init(
        sessions: [LoginSession], seats: [String?], display: String? = nil,
        frontTerminal: String? = nil
    ) {
        self.sessions = sessions
        self.seats = seats
        self.display = display
        self.frontTerminal = frontTerminal
    }

    func session(_ id: String) -> LoginSession? { sessions.first { $0.id == id } }
}

/// Whether the process that asks is known to belong to the person at this machine.
public enum Whereabouts: Equatable, Sendable {
    case here(Here)
    case elsewhere(Elsewhere)
}

/// What shows that it is the person.
public enum Here: Equatable, Sendable {
    /// The process belongs to the person's own session, which is in front.
    case session
    /// A console's login. A finger is asked for only where its terminal is in front.
    case console(isInFront: Bool)
    /// A display manager, with a greeter or the person's own session in front on every seat.
    case greeter
    /// polkit's helper, called by a process of the person's own session.
    case agent
}

/// Why it is not known to be the person.
public enum Elsewhere: String, CaseIterable, Equatable, Sendable {
    /// Another person started the process that asks.
    case anotherPerson
    /// The process could not be looked at, or its pid already belonged to another one.
    case processUnknown
    /// The process belongs neither to a session nor to a unit that logs people in: a service, or a
    /// machine without systemd.
    case notALogin
    case logindUnknown
    case noSession
    case sessionIsRemote
    /// The person's session is not the one in front, or has no seat.
    case sessionIsNotInFront
    case anotherSession
    /// A display manager asks, and another person's session is in front.
    case somebodyElseInFront
    case remoteGreeter
    /// GDM asks, and another person has a session: everybody who has one can make GDM ask.
    case othersAreLoggedIn
    case nobodyInFront
    /// polkit's helper, called by a process that is not known to be the person's.
    case agentOfAnother
}

/// The name of polkit's helper as systemd starts it, one instance for each connection. The name of
/// the instance ends in who connected: NR-PID-UID up to systemd 257, later NR-COOKIE-PID-UID or
/// NR-COOKIE-PID_PIDFDID-UID. Where the kernel does not say who it is, it ends in `unknown`.
public struct PolkitInstance: Equatable, Sendable {
    public var pid: Int32
    public var uid: UInt32

    private static let name = "polkit-agent-helper@"

    public static func isOne(_ unit: String) -> Bool {
        unit.hasPrefix(name) && unit.hasSuffix(".service")
    }

    public init?(unit: String) {
        guard Self.isOne(unit) else { return nil }
        let fields = unit.dropFirst(Self.name.count).dropLast(8)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard 3...4 ~= fields.count, fields.dropLast(2).allSatisfy({ Self.number($0) != nil }),
            let uid = Self.number(fields[fields.count - 1]).flatMap(UInt32.init(exactly:))
        else { return nil }
        let process = fields[fields.count - 2].split(
            separator: "_", omittingEmptySubsequences: false)
        guard 1...(fields.count == 4 ? 2 : 1) ~= process.count,
            process.allSatisfy({ Self.number($0) != nil }),
            let pid = Self.number(process[0]).flatMap(Int32.init(exactly:)), pid > 0
        else { return nil }
        self.pid = pid
        self.uid = uid
    }

    /// Only digits: Swift's own initialiser also takes signs.
    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(text)
    }
}

/// The whole decision. It uses nothing that PAM, the name of a service or an environment says.
/// `machine` is nil where logind does not answer.
public func whereabouts(
    of process: KnownProcess?, person: UInt32, at machine: MachineView?, logins: LoginUnits
) -> Whereabouts {
    guard let process else { return .elsewhere(.processUnknown) }
    guard process.realUID == 0 || process.realUID == person else {
        return .elsewhere(.anotherPerson)
    }
    switch process.place {
    case .unknown: return .elsewhere(.notALogin)
    case .session, .userManager:
        return desk(process.place, person, machine).map { .elsewhere($0) } ?? .here(.session)
    case .systemUnit(let unit):
        if PolkitInstance.isOne(unit) {
            guard process.realUID == 0 else { return .elsewhere(.notALogin) }
            return agent(process.connector, person, machine)
        }
        // A service that runs as the person and not as root logs nobody in.
        guard process.realUID == 0, let kind = logins.kind(of: unit) else {
            return .elsewhere(.notALogin)
        }
        switch kind {
        case .console(let terminal):
            let front = machine?.frontTerminal
            return .here(.console(isInFront: terminal != nil && terminal == front))
        case .displayManager: return greeter(isGDM: false, person, machine)
        case .gdm: return greeter(isGDM: true, person, machine)
        }
    }
}

/// Why a process in that place is not at the person's own desk; nil where it is.
private func desk(_ place: ProcessPlace, _ person: UInt32, _ machine: MachineView?) -> Elsewhere? {
    guard let machine else { return .logindUnknown }
    let id: String
    switch place {
    case .session(let own, let uid):
        guard uid == person else { return .anotherSession }
        id = own
    case .userManager(let uid):
        guard uid == person else { return .anotherSession }
        guard let display = machine.display else { return .noSession }
        id = display
    case .systemUnit, .unknown: return .noSession
    }
    guard let session = machine.session(id) else { return .noSession }
    guard session.uid == person, session.kind == .person else { return .anotherSession }
    if session.isRemote { return .sessionIsRemote }
    guard session.isActive, session.hasSeat else { return .sessionIsNotInFront }
    return nil
}

private func agent(
    _ connector: KnownProcess.Connector?, _ person: UInt32, _ machine: MachineView?
) -> Whereabouts {
    // pkexec asks with its own text agent, as root. Then the user who started it decides.
    guard let connector, connector.realUID == person,
        connector.uid == person || connector.uid == 0
    else { return .elsewhere(.agentOfAnother) }
    return desk(connector.place, person, machine).map { .elsewhere($0) } ?? .here(.agent)
}

private func greeter(isGDM: Bool, _ person: UInt32, _ machine: MachineView?) -> Whereabouts {
    guard let machine else { return .elsewhere(.logindUnknown) }
    var somebody = false
    for case let id? in machine.seats {
        // A session that is in front and is missing in logind's list may be anybody's.
        guard let session = machine.session(id) else { return .elsewhere(.somebodyElseInFront) }
        let isOwn = session.kind == .person && session.uid == person
        guard session.kind == .greeter || isOwn else { return .elsewhere(.somebodyElseInFront) }
        somebody = true
    }
    if machine.sessions.contains(where: { $0.kind == .greeter && ($0.isRemote || !$0.hasSeat) }) {
        return .elsewhere(.remoteGreeter)
    }
    guard isGDM else { return .here(.greeter) }
    guard somebody else { return .elsewhere(.nobodyInFront) }
    let others = machine.sessions.contains { session in
        switch session.kind {
        case .greeter, .manager: false
        // root needs no GDM channel, so root's cron jobs must not keep people from theirs.
        case .person, .other: session.uid != person && session.uid != 0
        }
    }
    return others ? .elsewhere(.othersAreLoggedIn) : .here(.greeter)
}

extension KnownProcess {
    /// The person who makes the process ask. For polkit's helper, which systemd starts, it is the
    /// person who connected to it.
    public var startedBy: UInt32? {
        guard case .systemUnit(let unit) = place, PolkitInstance.isOne(unit) else { return realUID }
        guard let connector, connector.uid == 0 || connector.uid == connector.realUID else {
            return nil
        }
        return connector.realUID
    }
}
