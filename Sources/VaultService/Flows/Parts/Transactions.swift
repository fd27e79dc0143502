import KeySlots
import Posix
import Secrets
import StoreKeeping
import Wire

/// What one PAM transaction did, kept until setcred confirms it, for a minute at most.
struct Transaction: Sendable {
    /// The store will follow a new login password, once the login with it is confirmed.
    struct Rekey: Sendable {
        let opening: Opening
        let token: TypedPasscode
    }

    /// What a confirmed login teaches the daemon about the login password.
    enum Lesson: Sendable {
        case none
        /// The token that the stack will end with. It is not known yet.
        case awaited
        case learned(TypedPasscode)
    }

    let store: StoreID
    let person: Person
    /// The wrong own try of this transaction: the hash of its token.
    var wrongOwn: TokenHash?
    /// Whether the stack ended with the token of that wrong try.
    var token = EndingToken.unseen
    var rekey: Rekey?
    /// A passcode for a store without one, to be set once the login is confirmed.
    var coming: NewPasscode?
    /// A finger to be kept with that passcode.
    var finger: ComingFinger?
    var lesson = Lesson.none
}

@LoopActor
final class Transactions {
    private struct Entry {
        var transaction: Transaction
        let timer: UInt64
    }

    private var entries: [Handle: Entry] = [:]
    private let life: UInt64

    init(lifeMilliseconds: UInt64) {
        life = lifeMilliseconds
    }

    var isEmpty: Bool { entries.isEmpty }

    func keep(_ transaction: Transaction) throws(SecretsError) -> Handle {
        let handle = Handle(bytes: try Random.bytes(Handle.size))
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + life) {
            EventLoop.shared.task { self.entries[handle] = nil }
        }
        entries[handle] = Entry(transaction: transaction, timer: timer)
        return handle
    }

    /// Changes a transaction without taking it: for an `unlock` line behind an `or_password` line
    /// of the same PAM transaction.
    func update(_ handle: Handle, _ change: (inout Transaction) -> Void) {
        guard entries[handle] != nil else { return }
        change(&entries[handle]!.transaction)
    }

    func peek(_ handle: Handle) -> Transaction? {
        entries[handle]?.transaction
    }

    /// A lock wipes what opens the store, also what waits for a confirmation.
    func forgetKeys(of store: StoreID) {
        for handle in entries.keys where entries[handle]?.transaction.store == store {
            entries[handle]?.transaction.rekey = nil
            entries[handle]?.transaction.coming = nil
            entries[handle]?.transaction.finger = nil
        }
        forgetLessons(of: store)
    }

    /// After the passcode changed: an earlier wrong try says nothing about the new passcode.
    func forgetWrong(of store: StoreID) {
        for handle in entries.keys where entries[handle]?.transaction.store == store {
            entries[handle]?.transaction.wrongOwn = nil
        }
    }

    func forgetLessons(of store: StoreID) {
        for handle in entries.keys where entries[handle]?.transaction.store == store {
            switch entries[handle]?.transaction.lesson {
            case .learned: entries[handle]?.transaction.lesson = .awaited
            case .awaited, .some(.none), nil: break
            }
        }
    }

    func forgetKeys() {
        for transaction in entries.values.map(\.transaction) { forgetKeys(of: transaction.store) }
    }

    /// Each transaction is confirmed at most once.
    func take(_ handle: Handle) -> Transaction? {
        guard let entry = entries.removeValue(forKey: handle) else { return nil }
        EventLoop.shared.cancel(entry.timer)
        return entry.transaction
    }
}

/// The login sessions of each person, as PAM registered them or logind lists them.
@LoopActor
final class Sessions {
    private var open: [UInt32: [[UInt8]: Int]] = [:]
    /// The sessions that logind knew of when they began.
    private var listed: Set<[UInt8]> = []

    var isEmpty: Bool { open.isEmpty }

    func count(of uid: UInt32) -> Int {
        open[uid]?.count ?? 0
    }

    func has(_ id: [UInt8], of uid: UInt32) -> Bool {
        open[uid]?[id] != nil
    }

    /// For the next daemon.
    var all: [HandOver.LoginSession] {
        open.flatMap { uid, sessions in
            sessions.map { id, times in
                HandOver.LoginSession(
                    id: id, uid: uid, times: UInt32(clamping: times),
                    isListed: listed.contains(id))
            }
        }
    }

    func add(_ id: [UInt8], of uid: UInt32, isListed: Bool, times: Int = 1) {
        open[uid, default: [:]][id, default: 0] += times
        if isListed { listed.insert(id) }
    }

    /// True if this was the person's last session.
    func remove(_ id: [UInt8], of uid: UInt32) -> Bool {
        guard var sessions = open[uid], let times = sessions[id] else { return false }
        sessions[id] = times > 1 ? times - 1 : nil
        if times == 1 { listed.remove(id) }
        open[uid] = sessions.isEmpty ? nil : sessions
        return sessions.isEmpty
    }

    /// Forgets the sessions that logind knew of and no longer knows. Returns the uids that have no
    /// session left.
    func forget(where isGone: ([UInt8]) -> Bool) -> [UInt32] {
        let gone = listed.filter(isGone)
        listed.subtract(gone)
        var left: [UInt32] = []
        for (uid, sessions) in open {
            let others = sessions.filter { !gone.contains($0.key) }
            guard others.count < sessions.count else { continue }
            open[uid] = others.isEmpty ? nil : others
            if others.isEmpty { left.append(uid) }
        }
        return left
    }
}
