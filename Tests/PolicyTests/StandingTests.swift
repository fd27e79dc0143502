import Testing

@testable import Policy

private func circumstances(
    _ service: String = "sudo", peer: Peer = .root, isPAM: Bool = true, typed: Bool = true,
    host: String = "", realUID: UInt32 = 1000, knownUID: UInt32? = 1000, personUID: UInt32 = 1000,
    remoteUser: String = "alice", _ whereabouts: Whereabouts = .here(.session)
) -> Circumstances {
    Circumstances(
        peer: peer, service: bytes(service), isPAM: isPAM, typedAtOurPrompt: typed,
        remoteHost: bytes(host), realUID: realUID, knownUID: knownUID, personUID: personUID,
        remoteUser: bytes(remoteUser), personName: bytes("alice"), whereabouts: whereabouts)
}

/// One situation of real life.
struct Scene: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let at: Circumstances
    let standing: Standing

    init(_ description: String, _ at: Circumstances, _ standing: Standing) {
        testDescription = description
        self.at = at
        self.standing = standing
    }
}

private let scenes: [Scene] = [
    Scene(
        "login at a console",
        circumstances(
            "login", realUID: 0, knownUID: 0, remoteUser: "", .here(.console(isInFront: false))),
        .own),
    Scene(
        "GDM's greeter",
        circumstances("gdm-password", realUID: 0, knownUID: 0, remoteUser: "", .here(.greeter)),
        .own),
    Scene(
        "GDM, and somebody else is logged in",
        circumstances(
            "gdm-password", realUID: 0, knownUID: 0, remoteUser: "",
            .elsewhere(.othersAreLoggedIn)), .stranger(.notHere(.othersAreLoggedIn))),
    Scene(
        "LightDM, no logind",
        circumstances(
            "lightdm", realUID: 0, knownUID: 0, remoteUser: "", .elsewhere(.logindUnknown)),
        .stranger(.notHere(.logindUnknown))),
    Scene("sudo at the desktop", circumstances(), .own),
    Scene(
        "sudo over ssh", circumstances("sudo", .elsewhere(.sessionIsRemote)),
        .apart(.notHere(.sessionIsRemote))),
    Scene(
        "sudo in a session switched away", circumstances("sudo", .elsewhere(.sessionIsNotInFront)),
        .apart(.notHere(.sessionIsNotInFront))),
    Scene(
        "bob's su to alice",
        circumstances(
            "su", realUID: 1001, knownUID: 1001, remoteUser: "bob", .elsewhere(.anotherPerson)),
        .stranger(.anotherRealUser)),
    Scene(
        "bob's su, which says that it is alice's",
        circumstances("su", knownUID: 1001, .elsewhere(.anotherPerson)),
        .stranger(.notHere(.anotherPerson))),
    Scene(
        "a real uid of hers and bob's name", circumstances("su", remoteUser: "bob"),
        .stranger(.anotherRemoteUser)),
    Scene(
        "polkit's helper for her own agent",
        circumstances("polkit-1", realUID: 0, remoteUser: "", .here(.agent)), .own),
    Scene(
        "polkit's helper for her agent over ssh",
        circumstances("polkit-1", realUID: 0, remoteUser: "", .elsewhere(.sessionIsRemote)),
        .apart(.notHere(.sessionIsRemote))),
    Scene(
        "polkit's helper for bob, in her name",
        circumstances(
            "polkit-1", realUID: 0, knownUID: 1001, .elsewhere(.agentOfAnother)),
        .stranger(.notHere(.agentOfAnother))),
    Scene(
        "sshd",
        circumstances(
            "sshd", typed: false, host: "203.0.113.9", realUID: 0, knownUID: 0, remoteUser: "",
            .elsewhere(.notALogin)), .stranger(.remoteHost)),
    Scene(
        "behind pam_unix at a console",
        circumstances(
            "login", typed: false, realUID: 0, knownUID: 0, remoteUser: "",
            .here(.console(isInFront: true))), .apart(.tokenOfAnotherModule)),
    Scene(
        "a setuid locker at the desktop", circumstances("xscreensaver"),
        .apart(.serviceIsNotLocal)),
    Scene(
        "a locker", circumstances("swaylock", peer: .other, .elsewhere(.notALogin)),
        .apart(.peerIsNotRoot)),
    Scene(
        "somebody's own program that says sudo", circumstances(peer: .other),
        .apart(.peerIsNotRoot)),
    Scene(
        "root's command for her, in bob's session",
        circumstances(
            "", isPAM: false, realUID: 0, knownUID: 0, remoteUser: "",
            .elsewhere(.anotherSession)), .stranger(.notHere(.anotherSession))),
    Scene("a private daemon", circumstances(peer: .privateOwner, .elsewhere(.notALogin)), .own),
    Scene(
        "a private daemon, over ssh", circumstances(peer: .privateOwner, host: "h"),
        .apart(.remoteHost)),
    Scene(
        "root's own store at a console",
        circumstances(
            "login", realUID: 0, knownUID: 0, personUID: 0, remoteUser: "",
            .here(.console(isInFront: true))), .own),
    Scene(
        "root's own store, guessed at over ssh",
        circumstances(
            "sshd", typed: false, realUID: 0, knownUID: 0, personUID: 0, remoteUser: "",
            .elsewhere(.notALogin)), .stranger(.notHere(.notALogin))),
    Scene(
        "root's own command",
        circumstances(
            "", isPAM: false, realUID: 0, knownUID: 0, personUID: 0, remoteUser: "",
            .elsewhere(.anotherSession)), .apart(.notHere(.anotherSession))),
]

@Suite struct StandingTests {
    @Test("situations of real life stand where they should", arguments: scenes)
    func realLife(scene: Scene) {
        #expect(Policy.builtIn.standing(scene.at) == scene.standing)
    }

    @Test("over the whole product: own needs every rule, and nothing said makes a try better")
    func product() {
        let places: [Whereabouts] =
            [.here(.session), .here(.greeter), .here(.agent), .here(.console(isInFront: false))]
            + Elsewhere.allCases.map { .elsewhere($0) }
        var counts: [TryKind: Int] = [:]
        for peer in Peer.allCases {
            for service in ["sudo", "swaylock"] {
                for typed in [true, false] {
                    for host in ["", "h"] {
                        for realUID in [0, 1000, 1001] as [UInt32] {
                            for knownUID in [nil, 0, 1000, 1001] as [UInt32?] {
                                for remoteUser in ["", "alice", "bob"] {
                                    for place in places {
                                        let at = circumstances(
                                            service, peer: peer, typed: typed, host: host,
                                            realUID: realUID, knownUID: knownUID,
                                            remoteUser: remoteUser, place)
                                        let kind = Policy.builtIn.standing(at).kind
                                        #expect(kind == expected(at), "\(at)")
                                        counts[kind, default: 0] += 1
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        // Own are root's tries in the 4 places at this machine and those of private owners in all
        // places: with 2 real uids, 2 names, 4 known uids.
        #expect(counts[.own] == (4 + places.count) * 2 * 2 * 4)
        #expect(counts[.apart, default: 0] > 0 && counts[.stranger, default: 0] > 0)
    }

    // The rules, written a second time in another way.
    private func expected(_ at: Circumstances) -> TryKind {
        let isNarrowed =
            at.remoteHost == bytes("h") || at.realUID == 1001 || at.remoteUser == bytes("bob")
        let isOurs = at.service == bytes("sudo") && at.typedAtOurPrompt
        let isHere: Bool
        if case .here = at.whereabouts { isHere = true } else { isHere = false }
        return switch at.peer {
        case .other: .apart
        case .privateOwner: isOurs && !isNarrowed ? .own : .apart
        case .root where isNarrowed: .stranger
        case .root where isHere: isOurs ? .own : .apart
        case .root: at.knownUID == 1000 ? .apart : .stranger
        }
    }

    @Test("LocalServices decides which services are local")
    func services() {
        var policy = Policy.builtIn
        policy.localServices = ServiceList(names: ["kiosk"])
        #expect(policy.standing(circumstances("sudo")) == .apart(.serviceIsNotLocal))
        #expect(policy.standing(circumstances("kiosk")) == .own)
    }
}
