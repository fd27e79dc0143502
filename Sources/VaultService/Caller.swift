import Policy
import Posix
import Wire

/// An account, by both its names. A store belongs to the pair: uids are given away again.
struct Person: Equatable, Hashable, Sendable {
    let uid: UInt32
    let name: [UInt8]
}

/// Who is at the other end, and what it says it is.
@LoopActor
final class Caller {
    let credentials: PeerCredentials
    let hello: Hello
    let standing: Peer
    /// The peer's own account, once it was asked for: the directory service has no part in every
    /// single get.
    var account: Person?

    init(credentials: PeerCredentials, hello: Hello, daemonUID: UInt32) {
        self.credentials = credentials
        self.hello = hello
        standing = Self.standing(of: credentials.uid, daemonUID: daemonUID)
    }

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

    /// At a remote front end neither the tries left nor an erasure are told.
    var isRemote: Bool { !hello.remoteHost.isEmpty }

    var isTerminal: Bool {
        switch hello.frontEnd {
        case .terminal: true
        case .program, .pamAuth, .pamPassword, .pamSession: false
        }
    }
}
