import Testing

@testable import Policy

private func circumstances(
    _ service: String = "sudo", peer: Peer = .root, typed: Bool = true, host: String = "",
    realUID: UInt32 = 1000, personUID: UInt32 = 1000, remoteUser: String = "alice",
    seat: SeatAnswer = .atSeat
) -> Circumstances {
    Circumstances(
        peer: peer, service: bytes(service), typedAtOurPrompt: typed, remoteHost: bytes(host),
        realUID: realUID, personUID: personUID, remoteUser: bytes(remoteUser),
        personName: bytes("alice"), seat: seat)
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
        "login at a console", circumstances("login", realUID: 0, remoteUser: "", seat: .none), .own),
    Scene("GDM's greeter", circumstances("gdm-password", realUID: 0, remoteUser: ""), .own),
    Scene(
        "LightDM, logind silent",
        circumstances("lightdm", realUID: 0, remoteUser: "", seat: .unknown), .own),
    Scene("sudo at the desktop", circumstances(), .own),
    Scene("sudo over ssh", circumstances(seat: .remote), .apart(.sessionIsRemote)),
    Scene(
        "sudo in a session switched away", circumstances(seat: .elsewhere),
        .apart(.sessionIsElsewhere)),
    Scene("sudo from cron", circumstances(seat: .none), .apart(.noSession)),
    Scene("sudo, logind silent", circumstances(seat: .unknown), .apart(.seatUnknown)),
    Scene(
        "sudo as real uid 0 over ssh", circumstances(realUID: 0, seat: .remote),
        .apart(.sessionIsRemote)),
    Scene(
        "bob's su to alice", circumstances("su", realUID: 1001, remoteUser: "bob"),
        .apart(.anotherRealUser)),
    Scene(
        "a real uid of hers and bob's name", circumstances("su", remoteUser: "bob"),
        .apart(.anotherRemoteUser)),
    Scene("polkit's helper", circumstances("polkit-1", remoteUser: ""), .own),
    Scene(
        "sshd", circumstances("sshd", host: "203.0.113.9", realUID: 0), .apart(.serviceIsNotLocal)),
    Scene(
        "login with a remote host", circumstances("login", host: "::1", realUID: 0),
        .apart(.remoteHost)),
    Scene(
        "behind pam_unix", circumstances("login", typed: false, realUID: 0),
        .apart(.tokenOfAnotherModule)),
    Scene("a locker", circumstances("swaylock", peer: .other), .apart(.peerIsNotRoot)),
    Scene(
        "somebody's own program that says sudo", circumstances(peer: .other), .apart(.peerIsNotRoot)
    ),
    Scene("a private daemon", circumstances(peer: .privateOwner, seat: .unknown), .own),
    Scene(
        "a private daemon, over ssh", circumstances(peer: .privateOwner, host: "h"),
        .apart(.remoteHost)),
    Scene(
        "root's own store", circumstances("login", realUID: 0, personUID: 0, remoteUser: ""), .own),
]

@Suite struct StandingTests {
    @Test("situations of real life stand where they should", arguments: scenes)
    func realLife(scene: Scene) {
        #expect(Policy.builtIn.standing(scene.at) == scene.standing)
        #expect(scene.standing.kind == (scene.standing == .own ? .own : .apart))
    }

    @Test("over the whole product, own needs every rule, and the first that fails is the reason")
    func product() {
        var counts: [Standing.Label: Int] = [:]
        for peer in Peer.allCases {
            for service in ["sudo", "swaylock"] {
                for typed in [true, false] {
                    for host in ["", "h"] {
                        for realUID in [0, 1000, 1001] as [UInt32] {
                            for remoteUser in ["", "alice", "bob"] {
                                for seat in SeatAnswer.allCases {
                                    let at = circumstances(
                                        service, peer: peer, typed: typed, host: host,
                                        realUID: realUID, remoteUser: remoteUser, seat: seat)
                                    let standing = Policy.builtIn.standing(at)
                                    #expect(standing == expected(at), "\(at)")
                                    counts[Standing.Label(standing), default: 0] += 1
                                }
                            }
                        }
                    }
                }
            }
        }
        // Of 1,080: a root peer 2 names x (4 answers at uid 0 + 1 at the person's), a private owner 2 x 2 x 5.
        #expect(counts[.own] == 30)
        #expect(counts.values.reduce(0, +) == 1080)
        for reason in ApartReason.allCases { #expect(counts[.apart(reason), default: 0] > 0) }
    }

    // The rules once more, as a list: the first that holds is the answer.
    private func expected(_ at: Circumstances) -> Standing {
        let isPerson = at.realUID == 1000
        let asksSeat = at.peer == .root
        let rules: [(Bool, ApartReason)] = [
            (at.peer == .other, .peerIsNotRoot),
            (at.service == bytes("swaylock"), .serviceIsNotLocal),
            (!at.typedAtOurPrompt, .tokenOfAnotherModule),
            (at.remoteHost == bytes("h"), .remoteHost),
            (at.realUID == 1001, .anotherRealUser),
            (at.remoteUser == bytes("bob"), .anotherRemoteUser),
            (asksSeat && at.seat == .remote, .sessionIsRemote),
            (asksSeat && isPerson && at.seat == .elsewhere, .sessionIsElsewhere),
            (asksSeat && isPerson && at.seat == .none, .noSession),
            (asksSeat && isPerson && at.seat == .unknown, .seatUnknown),
        ]
        return rules.first { $0.0 }.map { .apart($0.1) } ?? .own
    }

    @Test("LocalServices decides which services are local")
    func services() {
        var policy = Policy.builtIn
        policy.localServices = ServiceList(names: ["kiosk"])
        #expect(policy.standing(circumstances("sudo")) == .apart(.serviceIsNotLocal))
        #expect(policy.standing(circumstances("kiosk")) == .own)
    }
}

extension Standing {
    fileprivate enum Label: Hashable {
        case own
        case apart(ApartReason)

        init(_ standing: Standing) {
            switch standing {
            case .own: self = .own
            case .apart(let reason): self = .apart(reason)
            }
        }
    }
}
