/// A session at this machine, as far as it says whether its person is in front.
public struct SeatSession: Equatable, Sendable {
    public var id: String
    public var uid: UInt32
    public var kind: LoginSession.Kind
    /// Nil for a session over the network, and for one of a machine without a screen.
    public var seat: String?
    public var isGraphical: Bool
    /// The screen of this session is locked: a locker has said so.
    public var isLocked: Bool
    /// Nobody has used this session for a while: the desktop has said so.
    public var isIdle: Bool
    /// The session itself has said whether its screen is locked.
    public var hasAnswered = false

    public init(
        id: String, uid: UInt32, kind: LoginSession.Kind, seat: String?, isGraphical: Bool,
        isLocked: Bool = false, isIdle: Bool = false
    ) {
        self.id = id
        self.uid = uid
        self.kind = kind
        self.seat = seat
        self.isGraphical = isGraphical
        self.isLocked = isLocked
        self.isIdle = isIdle
    }

    /// Sessions that show something to a person. One of text without a seat, as over ssh, keeps
    /// nothing open against a lock of the screen.
    public var hasScreen: Bool { kind == .person && (seat != nil || isGraphical) }
}

/// What logind says of sessions and seats.
public enum SeatNews: Equatable, Sendable {
    /// Everything, as it is now. `front` has the session in front on each seat that shows one.
    case view(sessions: [SeatSession], front: [String: String])
    /// A session says that one of these has changed; nil is what this piece of news does not tell.
    case changed(session: String, isLocked: Bool?, isIdle: Bool?)
    /// A session was asked, and says how it is.
    case answered(session: String, isLocked: Bool?, isIdle: Bool?)
    /// The session's locker is told to lock. Some lockers never say that they did.
    case lock(session: String)
    /// This session is in front on its seat now; nil where the seat shows none.
    case front(seat: String, session: String?)
    case began(SeatSession)
    case ended(session: String)

    /// The session that it is about, where it must be known.
    public var session: String? {
        switch self {
        case .changed(let id, _, _), .answered(let id, _, _), .lock(let id): id
        case .front(_, let id): id
        case .view, .began, .ended: nil
        }
    }
}

/// A person has left the machine, or has come back to it.
public enum Coming: Equatable, Sendable {
    case left(uid: UInt32, Leave)
    case cameBack(uid: UInt32, Absence)
}

/// How a person left.
public enum Leave: Hashable, Sendable, CaseIterable {
    case screenLock
    /// The screen was locked because nobody used the machine.
    case screenLockByIdleness
    /// Another person's session is in front, or none.
    case anotherInFront
    /// The last session with a screen has ended, or the last one at all.
    case sessionEnd
    case sleep

    public var absence: Absence {
        switch self {
        case .screenLock, .screenLockByIdleness: .screen
        case .anotherInFront: .seat
        case .sessionEnd: .session
        case .sleep: .sleep
        }
    }
}

/// What keeps a person away. Each ends in its own way: whoever comes in front of a locked screen
/// has not unlocked it.
public enum Absence: Hashable, Sendable, CaseIterable {
    case screen, seat, session, sleep
}

/// Who is in front at this machine. It changes by what logind says, and by nothing else.
///
/// A person is in front while one of their sessions is the one that its seat shows, and its screen
/// is not locked. A graphical session without a seat, as of a remote desktop, is in front while it
/// is not locked.
public struct InFront: Sendable {
    private var sessions: [String: SeatSession] = [:]
    private var ids: [UInt32: Set<String>] = [:]
    private var front: [String: String] = [:]
    private var hasLooked = false

    public init() {}

    public func knows(_ session: String) -> Bool { sessions[session] != nil }

    /// The sessions whose screens may be locked.
    public var withScreen: [String] { sessions.values.filter(\.hasScreen).map(\.id).sorted() }

    public var all: [String] { Array(sessions.keys) }

    public func isInFront(_ uid: UInt32) -> Bool { isInFront(uid, besides: nil) }

    /// And the session has said itself that its screen is not locked.
    public func isSurelyInFront(_ uid: UInt32) -> Bool {
        sessions(of: uid).contains { $0.hasAnswered && shows($0) }
    }

    /// Whether the person has a session with a screen, locked or not.
    public func hasScreen(_ uid: UInt32) -> Bool { sessions(of: uid).contains(where: \.hasScreen) }

    private func sessions(of uid: UInt32) -> some Sequence<SeatSession> {
        (ids[uid] ?? []).lazy.compactMap { sessions[$0] }
    }

    private func isInFront(_ uid: UInt32, besides: String?) -> Bool {
        sessions(of: uid).contains { $0.id != besides && shows($0) }
    }

    private func shows(_ session: SeatSession) -> Bool {
        guard session.hasScreen, !session.isLocked else { return false }
        return session.seat == nil || isShown(session)
    }

    /// Locked or not.
    private func isShown(_ session: SeatSession) -> Bool {
        guard session.hasScreen, let seat = session.seat else { return false }
        return front[seat] == session.id
    }

    private mutating func set(_ session: SeatSession) {
        remove(session.id)
        sessions[session.id] = session
        ids[session.uid, default: []].insert(session.id)
    }

    private mutating func remove(_ id: String) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        ids[session.uid]?.remove(id)
        if ids[session.uid]?.isEmpty == true { ids[session.uid] = nil }
    }

    /// Takes in what logind says. Returns who has left by it and who has come back.
    public mutating func hear(_ news: SeatNews) -> [Coming] {
        switch news {
        case .view(let all, let shown): return look(all, shown)
        case .changed(let id, let isLocked, let isIdle):
            guard var session = sessions[id], session.hasScreen else { return [] }
            session.isIdle = isIdle ?? session.isIdle
            let wasLocked = session.isLocked
            session.isLocked = isLocked ?? session.isLocked
            sessions[id] = session
            switch isLocked {
            // Also if it counted as locked: a logind that was started again may have forgotten it.
            case true?: return screenLock(session)
            case false? where wasLocked && shows(session):
                return [.cameBack(uid: session.uid, .screen)]
            case false?, nil: return []
            }
        case .answered(let id, let isLocked, let isIdle):
            guard var session = sessions[id], session.hasScreen else { return [] }
            let isNew = isLocked == true && !session.isLocked && session.hasAnswered
            session.isIdle = isIdle ?? session.isIdle
            // A screen that is known to be locked is not unlocked by a logind that has forgotten it.
            session.isLocked = session.isLocked || isLocked == true
            session.hasAnswered = true
            sessions[id] = session
            // How it is when the daemon begins is nobody's leaving: its locker may have asked for
            // the passcode, and has not said yet that the screen is unlocked.
            return isNew ? screenLock(session) : []
        case .lock(let id):
            guard let session = sessions[id], session.hasScreen else { return [] }
            return screenLock(session)
        case .front(let seat, let id): return show(id, on: seat)
        case .began(let session):
            set(session)
            return session.kind == .person ? [.cameBack(uid: session.uid, .session)] : []
        case .ended(let id): return end(id)
        }
    }

    private func screenLock(_ session: SeatSession) -> [Coming] {
        // In front of another screen the person may be still.
        guard !isInFront(session.uid, besides: session.id) else { return [] }
        // At a console nobody says when it is used.
        let isIdle = session.isIdle && session.isGraphical
        return [.left(uid: session.uid, isIdle ? .screenLockByIdleness : .screenLock)]
    }

    private mutating func show(_ id: String?, on seat: String) -> [Coming] {
        let former = front[seat].flatMap { sessions[$0] }
        let present = id.flatMap { sessions[$0] }
        guard front[seat] != id else { return [] }
        front[seat] = id
        var comings: [Coming] = []
        // Also from a screen that counts as locked: it may have been unlocked unheard.
        if let former, former.hasScreen, !isInFront(former.uid) {
            comings.append(.left(uid: former.uid, .anotherInFront))
        }
        if let present, shows(present) {
            comings.append(.cameBack(uid: present.uid, .seat))
        }
        return comings
    }

    private mutating func end(_ id: String) -> [Coming] {
        guard let session = sessions[id] else { return [] }
        let wasInFront = isInFront(session.uid)
        remove(id)
        guard session.kind == .person, !isInFront(session.uid) else { return [] }
        let left = [Coming.left(uid: session.uid, .sessionEnd)]
        if wasInFront { return left }
        // The person opened it again from a session without a screen, and that is over now.
        let hasOther = sessions(of: session.uid).contains { $0.kind == .person && !$0.hasScreen }
        return !hasOther && hasScreen(session.uid) ? left : []
    }

    private mutating func look(_ all: [SeatSession], _ shown: [String: String]) -> [Coming] {
        let before = self
        hasLooked = true
        (sessions, ids, front) = ([:], [:], shown)
        for var session in all {
            if let known = before.sessions[session.id], known.uid == session.uid {
                session.isLocked = session.isLocked || known.isLocked
                session.hasAnswered = known.hasAnswered
            }
            set(session)
        }
        return Set(before.ids.keys).union(ids.keys).sorted().compactMap { uid in
            let (was, isNow) = (before.isInFront(uid), isInFront(uid))
            if was, !isNow {
                let isGone = before.sessions(of: uid).allSatisfy {
                    !before.shows($0) || sessions[$0.id]?.uid != uid
                }
                return .left(uid: uid, isGone ? .sessionEnd : .anotherInFront)
            }
            // Also from a screen that counts as locked: it may have been unlocked unheard.
            let hasLost = before.sessions(of: uid).contains { former in
                guard before.isShown(former), let still = sessions[former.id] else { return false }
                return still.uid == uid && !isShown(still)
            }
            if !isNow, hasLost { return .left(uid: uid, .anotherInFront) }
            // They came and left while nobody could hear it.
            if before.hasLooked, !isNow, hasScreen(uid), !before.hasScreen(uid) {
                return .left(uid: uid, .anotherInFront)
            }
            return isNow && !was ? .cameBack(uid: uid, .seat) : nil
        }
    }
}
