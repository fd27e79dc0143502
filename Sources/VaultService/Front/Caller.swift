import Policy
import Posix
import StoreKeeping
import Wire
import WorkerLinks

/// Who is at the other end, and what it says it is.
@LoopActor
final class Caller {
    let credentials: PeerCredentials
    let hello: Hello
    let standing: Peer
    /// The peer's own account, once it was asked for: the directory service has no part in every
    /// single get.
    var account: Person?
    private let findProcess: () -> PeerProcess
    private let hangsUp: () -> Bool
    /// The process itself. Of root's it is held on to from the greeting: it speaks for others, and its pid must not
    /// be another's by the time somebody looks.
    private(set) lazy var process = findProcess()

    init(
        _ credentials: PeerCredentials, hello: Hello, daemonUID: UInt32,
        process: @escaping () -> PeerProcess, hangsUp: @escaping () -> Bool
    ) {
        self.credentials = credentials
        findProcess = process
        self.hangsUp = hangsUp
        self.hello = hello
        standing = Self.standing(of: credentials.uid, daemonUID: daemonUID)
        if standing == .root { _ = process }
    }

    /// Its program has left, or another one has its socket now.
    var hasHungUp: Bool { hangsUp() }

    /// A private daemon of an ordinary user takes its own uid for root.
    nonisolated static func standing(of uid: UInt32, daemonUID: UInt32) -> Peer {
        if uid == 0 { return .root }
        return uid == daemonUID ? .privateOwner : .other
    }

    var isTrusted: Bool {
        switch standing {
        case .root, .privateOwner: true
        case .other: false
        }
    }

    /// A PAM module asks.
    var isPAM: Bool {
        switch hello.frontEnd {
        case .pamAuth, .pamPassword, .pamSession: true
        case .terminal, .program: false
        }
    }

    /// At a remote front end neither the tries left nor an erasure are told.
    var isRemote: Bool { !hello.remoteHost.isEmpty }

    var isTerminal: Bool {
        switch hello.frontEnd {
        case .terminal: true
        case .program, .pamAuth, .pamPassword, .pamSession: false
        }
    }
}

extension Caller {
    /// Root's programs speak for whoever started them; those that nobody started, for the person.
    func asker(for person: Person) -> RuleAsker {
        guard isTrusted else { return RuleAsker(isTrusted: false, uid: credentials.uid) }
        return RuleAsker(
            isTrusted: true, uid: hello.realUID != 0 ? hello.realUID : person.uid)
    }
}
