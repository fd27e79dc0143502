/// Who is at the other end of the socket.
public enum Peer: CaseIterable, Sendable {
    case root
    /// The user that runs a private daemon: root there.
    case privateOwner
    case other
}

/// What logind says of the process that asks.
public enum SeatAnswer: CaseIterable, Sendable {
    /// Its session is active, local and has a seat.
    case atSeat
    case remote
    /// Its session is not the active one, or has no seat.
    case elsewhere
    /// It is in no session.
    case none
    /// No answer, or one that changed while it was asked.
    case unknown
}

/// What is known of a try when it arrives. Names are bytes as PAM has them.
public struct Circumstances: Equatable, Sendable {
    public var peer: Peer
    public var service: [UInt8]
    /// The answer to a prompt of ours in this exchange, not a token that another module asked for.
    public var typedAtOurPrompt: Bool
    /// PAM_RHOST.
    public var remoteHost: [UInt8]
    /// The real uid of the process that loaded the module.
    public var realUID: UInt32
    public var personUID: UInt32
    /// PAM_RUSER.
    public var remoteUser: [UInt8]
    public var personName: [UInt8]
    /// Not asked for, and not looked at, where the peer is a private daemon's own user.
    public var seat: SeatAnswer

    public init(
        peer: Peer, service: [UInt8], typedAtOurPrompt: Bool, remoteHost: [UInt8], realUID: UInt32,
        personUID: UInt32, remoteUser: [UInt8], personName: [UInt8], seat: SeatAnswer
    ) {
        self.peer = peer
        self.service = service
        self.typedAtOurPrompt = typedAtOurPrompt
        self.remoteHost = remoteHost
        self.realUID = realUID
        self.personUID = personUID
        self.remoteUser = remoteUser
        self.personName = personName
        self.seat = seat
    }
}

/// Why a try is not known to be the person's at this machine.
public enum ApartReason: String, CaseIterable, Sendable {
    case peerIsNotRoot
    case serviceIsNotLocal
    case tokenOfAnotherModule
    case remoteHost
    case anotherRealUser
    case anotherRemoteUser
    case sessionIsRemote
    case sessionIsElsewhere
    case noSession
    case seatUnknown
}

/// On whose count a try goes.
public enum Standing: Equatable, Sendable {
    case own
    case apart(ApartReason)

    public var kind: TryKind {
        switch self {
        case .own: .own
        case .apart: .apart
        }
    }
}

extension Policy {
    /// A try is own only where everything says so; what is not known counts as a stranger's.
    public func standing(_ at: Circumstances) -> Standing {
        guard at.peer != .other else { return .apart(.peerIsNotRoot) }
        guard acts(.local, at: at.service) else { return .apart(.serviceIsNotLocal) }
        guard at.typedAtOurPrompt else { return .apart(.tokenOfAnotherModule) }
        guard at.remoteHost.isEmpty else { return .apart(.remoteHost) }
        guard at.realUID == 0 || at.realUID == at.personUID else { return .apart(.anotherRealUser) }
        guard at.remoteUser.isEmpty || at.remoteUser == at.personName else {
            return .apart(.anotherRemoteUser)
        }
        switch at.peer {
        case .privateOwner, .other: return .own
        case .root: return at.realUID == 0 ? forRoot(at.seat) : forPerson(at.seat)
        }
    }

    // login and the display managers ask before there is a session: only a remote one speaks against them.
    private func forRoot(_ seat: SeatAnswer) -> Standing {
        switch seat {
        case .remote: .apart(.sessionIsRemote)
        case .atSeat, .elsewhere, .none, .unknown: .own
        }
    }

    // sudo, su and polkit's helper run for anything that the person's account runs, from wherever it was started.
    private func forPerson(_ seat: SeatAnswer) -> Standing {
        switch seat {
        case .atSeat: .own
        case .remote: .apart(.sessionIsRemote)
        case .elsewhere: .apart(.sessionIsElsewhere)
        case .none: .apart(.noSession)
        case .unknown: .apart(.seatUnknown)
        }
    }
}
