/// Who is at the other end of the socket.
public enum Peer: CaseIterable, Sendable {
    case root
    /// The user who runs a private daemon, and who counts as root there.
    case privateOwner
    /// The person, without root's rights.
    case other
}

/// What is known of a try when it arrives. Names are bytes, as PAM has them. They can only make a
/// try count for less.
public struct Circumstances: Equatable, Sendable {
    public var peer: Peer
    public var service: [UInt8]
    /// A PAM module asks: on behalf of an application, which is not one of the person's own
    /// programs.
    public var isPAM: Bool
    /// The token answers a prompt of ours in this exchange. Another module did not ask for it.
    public var typedAtOurPrompt: Bool
    /// PAM_RHOST.
    public var remoteHost: [UInt8]
    /// The real uid that the front end says it has.
    public var realUID: UInt32
    /// The real uid that the kernel gives; nil where the process could not be looked at.
    public var knownUID: UInt32?
    public var personUID: UInt32
    /// PAM_RUSER.
    public var remoteUser: [UInt8]
    public var personName: [UInt8]
    /// Not determined and not used where the peer is the user of a private daemon.
    public var whereabouts: Whereabouts

    public init(
        peer: Peer, service: [UInt8], isPAM: Bool, typedAtOurPrompt: Bool, remoteHost: [UInt8],
        realUID: UInt32, knownUID: UInt32?, personUID: UInt32, remoteUser: [UInt8],
        personName: [UInt8], whereabouts: Whereabouts
    ) {
        self.peer = peer
        self.service = service
        self.isPAM = isPAM
        self.typedAtOurPrompt = typedAtOurPrompt
        self.remoteHost = remoteHost
        self.realUID = realUID
        self.knownUID = knownUID
        self.personUID = personUID
        self.remoteUser = remoteUser
        self.personName = personName
        self.whereabouts = whereabouts
    }
}

/// Why a try is not known to be made by the person at this machine, at our own prompt.
public enum NotOwn: Equatable, Sendable {
    case peerIsNotRoot
    case serviceIsNotLocal
    case tokenOfAnotherModule
    case remoteHost
    case anotherRealUser
    case anotherRemoteUser
    case notHere(Elsewhere)
}

/// Which count a try goes to.
public enum Standing: Equatable, Sendable {
    /// The person at this machine, at our own prompt.
    case own
    /// The person, as far as the kernel, systemd and logind know.
    case apart(NotOwn)
    /// Possibly anybody. Such a try uses up none of the person's tries, and is told nothing.
    case stranger(NotOwn)

    public var kind: TryKind {
        switch self {
        case .own: .own
        case .apart: .apart
        case .stranger: .stranger
        }
    }
}

extension Policy {
    /// A try is own, or counts as the person's at all, only where everything shows it. If something
    /// is not known, the try counts as a stranger's.
    public func standing(_ at: Circumstances) -> Standing {
        let narrowed = narrowing(at)
        switch at.peer {
        // The kernel itself says that it is the person, whatever the front end says.
        case .other: return .apart(.peerIsNotRoot)
        case .privateOwner: if let narrowed { return .apart(narrowed) }
        case .root:
            if let narrowed { return .stranger(narrowed) }
            switch at.whereabouts {
            case .here: break
            case .elsewhere(let why):
                return startedByPerson(at) ? .apart(.notHere(why)) : .stranger(.notHere(why))
            }
        }
        guard acts(.local, at: at.service) else { return .apart(.serviceIsNotLocal) }
        guard at.typedAtOurPrompt else { return .apart(.tokenOfAnotherModule) }
        return .own
    }

    private func narrowing(_ at: Circumstances) -> NotOwn? {
        if !at.remoteHost.isEmpty { return .remoteHost }
        guard at.realUID == 0 || at.realUID == at.personUID else { return .anotherRealUser }
        guard at.remoteUser.isEmpty || at.remoteUser == at.personName else {
            return .anotherRemoteUser
        }
        return nil
    }

    /// sudo over ssh is run by the person, although not at this machine. Root starts every program
    /// that logs people in. So for root's own store, only a peer that is no PAM module is certainly
    /// root's.
    private func startedByPerson(_ at: Circumstances) -> Bool {
        at.knownUID == at.personUID && (at.personUID != 0 || !at.isPAM)
    }
}
