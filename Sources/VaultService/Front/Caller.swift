import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import WorkerLinks

/// The peer of a connection: who it is according to the kernel, and what it says of itself.
@LoopActor
final class Caller {
    let credentials: PeerCredentials
    let hello: Hello
    let standing: Peer
    /// The peer's own account, once it was looked up, so that a get does not ask the directory
    /// service each time.
    var account: Person?
    /// The stores whose names it is listing, and their keys: under another one the names have other
    /// places, so no listing goes on.
    private var listings: [StoreID: UInt32] = [:]

    func isListing(_ store: StoreID, under keyGeneration: UInt32) -> Bool {
        (listings[store] ?? keyGeneration) == keyGeneration
    }

    func lists(_ store: StoreID, under keyGeneration: UInt32) {
        // More than anybody has.
        if listings.count >= 256 { listings = [:] }
        listings[store] = keyGeneration
    }

    private let findProcess: () -> PeerProcess
    private let hangsUp: () -> Bool
    /// The peer's process. A process of root's is held from the greeting on: it speaks for others,
    /// and its pid must not belong to another process when the daemon looks at it.
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

    /// The peer's end of the socket is closed, or this connection is over.
    var hasHungUp: Bool { hangsUp() }

    /// A private daemon of an ordinary user treats its own uid as root.
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
        case .terminal, .program, .device, .dialog: false
        }
    }

    /// A remote front end is told neither how many tries are left nor that a store was erased.
    var isRemote: Bool { !hello.remoteHost.isEmpty }

    /// Only here a secret may be shown, and something be done that needs it to be written down.
    var isTerminal: Bool {
        switch hello.frontEnd {
        case .terminal: true
        case .program, .device, .dialog, .pamAuth, .pamPassword, .pamSession: false
        }
    }

    /// A person has called this front end and answers it, at a terminal or in dialogs.
    var hasPerson: Bool {
        switch hello.frontEnd {
        case .terminal, .dialog: true
        case .program, .device, .pamAuth, .pamPassword, .pamSession: false
        }
    }

    /// Of the passcodes that it answers with.
    var source: PasscodeSource {
        switch hello.frontEnd {
        case .pamAuth, .pamPassword, .pamSession, .terminal, .dialog: .user
        case .program: .unknown
        case .device: .device
        }
    }

    /// Dialogs have a button that cancels; everywhere else it is an empty line.
    var cancelsByEnter: Bool {
        switch hello.frontEnd {
        case .dialog: false
        case .terminal, .program, .device, .pamAuth, .pamPassword, .pamSession: true
        }
    }
}

extension Caller {
    /// A program of root's speaks for the user who started it, or, if root started it, for the
    /// person that the request is about.
    func asker(for person: Person) -> RuleAsker {
        guard isTrusted else { return RuleAsker(isTrusted: false, uid: credentials.uid) }
        return RuleAsker(
            isTrusted: true, uid: hello.realUID != 0 ? hello.realUID : person.uid)
    }
}
