import Testing

@testable import Policy

private let person: UInt32 = 1000
private let other: UInt32 = 1001
private let greeterUID: UInt32 = 117

private func session(
    _ id: String, _ uid: UInt32 = person, _ kind: LoginSession.Kind = .person,
    remote: Bool = false, active: Bool = true, seat: Bool = true
) -> LoginSession {
    LoginSession(
        id: id, uid: uid, kind: kind, isRemote: remote, isActive: active, hasSeat: seat)
}

private func machine(
    _ sessions: [LoginSession] = [session("1")], seats: [String?] = ["1"], display: String? = "1",
    front: String? = "tty1"
) -> MachineView {
    MachineView(sessions: sessions, seats: seats, display: display, frontTerminal: front)
}

private func ask(
    _ place: ProcessPlace, real: UInt32 = 0, connector: KnownProcess.Connector? = nil,
    _ machine: MachineView? = machine(), logins: LoginUnits = .usual
) -> Whereabouts {
    whereabouts(
        of: KnownProcess(realUID: real, place: place, connector: connector), person: person,
        at: machine, logins: logins)
}

@Suite struct WhereaboutsTests {
    @Test("a process that could not be looked at is nobody's")
    func unknown() {
        let found = whereabouts(of: nil, person: person, at: machine(), logins: .usual)
        #expect(found == .elsewhere(.processUnknown))
        #expect(ask(.unknown) == .elsewhere(.notALogin))
    }

    @Test("the person's own session counts while it is in front, and nobody else's process in it")
    func desk() {
        let own = ProcessPlace.session("1", uid: person)
        #expect(ask(own) == .here(.session))
        #expect(ask(own, real: person) == .here(.session))
        #expect(ask(own, real: other) == .elsewhere(.anotherPerson))
        #expect(ask(own, nil) == .elsewhere(.logindUnknown))
        #expect(ask(.session("9", uid: person)) == .elsewhere(.noSession))
        #expect(ask(.session("1", uid: other)) == .elsewhere(.anotherSession))
        let rows: [(LoginSession, Elsewhere)] = [
            (session("1", other), .anotherSession),
            (session("1", person, .greeter), .anotherSession),
            (session("1", person, .other), .anotherSession),
            (session("1", remote: true), .sessionIsRemote),
            (session("1", active: false), .sessionIsNotInFront),
            (session("1", seat: false), .sessionIsNotInFront),
        ]
        for (found, why) in rows {
            #expect(ask(own, machine([found])) == .elsewhere(why))
            #expect(ask(.userManager(person), machine([found])) == .elsewhere(why))
        }
        #expect(ask(.userManager(person)) == .here(.session))
        #expect(ask(.userManager(other)) == .elsewhere(.anotherSession))
        #expect(ask(.userManager(person), machine(display: nil)) == .elsewhere(.noSession))
    }

    @Test("a console's login needs no logind; its finger needs its terminal in front")
    func console() {
        let place = ProcessPlace.systemUnit("getty@tty1.service")
        #expect(ask(place) == .here(.console(isInFront: true)))
        #expect(ask(place, machine(front: "tty2")) == .here(.console(isInFront: false)))
        #expect(ask(place, machine(front: nil)) == .here(.console(isInFront: false)))
        #expect(ask(place, nil) == .here(.console(isInFront: false)))
        #expect(ask(place, real: person) == .elsewhere(.notALogin))
        for unit in ["console-getty.service", "serial-getty@ttyS0.service"] {
            #expect(ask(.systemUnit(unit)) == .here(.console(isInFront: false)))
        }
        for unit in ["ssh.service", "getty.service", "agetty@tty1.service", "getty@tty1.scope"] {
            let found = ask(.systemUnit(unit))
            #expect((found == .elsewhere(.notALogin)) == (unit != "getty@tty1.scope"))
        }
    }

    @Test("a display manager's login depends on who is in front on every seat")
    func greeter() {
        let light = ProcessPlace.systemUnit("lightdm.service")
        let gdm = ProcessPlace.systemUnit("gdm3.service")
        let welcome = session("c1", greeterUID, .greeter)
        let rows: [(MachineView, Whereabouts, Whereabouts)] = [
            (machine([welcome], seats: ["c1"]), .here(.greeter), .here(.greeter)),
            (machine([session("1")], seats: ["1", nil]), .here(.greeter), .here(.greeter)),
            (machine([], seats: [nil]), .here(.greeter), .elsewhere(.nobodyInFront)),
            (
                machine([session("2", other)], seats: ["2"]), .elsewhere(.somebodyElseInFront),
                .elsewhere(.somebodyElseInFront)
            ),
            (
                machine([], seats: ["2"]), .elsewhere(.somebodyElseInFront),
                .elsewhere(.somebodyElseInFront)
            ),
            (
                machine([session("1", person, .other)], seats: ["1"]),
                .elsewhere(.somebodyElseInFront), .elsewhere(.somebodyElseInFront)
            ),
            (
                machine([welcome, session("2", other)], seats: ["c1", "2"]),
                .elsewhere(.somebodyElseInFront), .elsewhere(.somebodyElseInFront)
            ),
            (
                machine([welcome, session("2", other, remote: true, seat: false)], seats: ["c1"]),
                .here(.greeter), .elsewhere(.othersAreLoggedIn)
            ),
            (
                machine([welcome, session("2", 0, remote: true, seat: false)], seats: ["c1"]),
                .here(.greeter), .here(.greeter)
            ),
            (
                machine([welcome, session("2", other, .manager, seat: false)], seats: ["c1"]),
                .here(.greeter), .here(.greeter)
            ),
            (
                machine([welcome, session("2", other, .other, seat: false)], seats: ["c1"]),
                .here(.greeter), .elsewhere(.othersAreLoggedIn)
            ),
            (
                machine(
                    [welcome, session("c2", greeterUID, .greeter, remote: true)], seats: ["c1"]),
                .elsewhere(.remoteGreeter), .elsewhere(.remoteGreeter)
            ),
            (
                machine(
                    [welcome, session("c2", greeterUID, .greeter, seat: false)], seats: ["c1"]),
                .elsewhere(.remoteGreeter), .elsewhere(.remoteGreeter)
            ),
        ]
        for (view, atLight, atGDM) in rows {
            #expect(ask(light, view) == atLight, "\(view)")
            #expect(ask(gdm, view) == atGDM, "\(view)")
            #expect(ask(light, real: person, view) == .elsewhere(.notALogin))
        }
        #expect(ask(light, nil) == .elsewhere(.logindUnknown))
    }

    @Test("polkit's helper is whose process connected to it")
    func agent() {
        let place = ProcessPlace.systemUnit("polkit-agent-helper@3-77-1000.service")
        func asked(_ uid: UInt32, _ real: UInt32, _ at: ProcessPlace) -> Whereabouts {
            ask(place, connector: .init(uid: uid, realUID: real, place: at))
        }
        let desk = ProcessPlace.session("1", uid: person)
        #expect(asked(person, person, desk) == .here(.agent))
        #expect(asked(0, person, desk) == .here(.agent))
        #expect(asked(person, person, .userManager(person)) == .here(.agent))
        #expect(asked(other, other, desk) == .elsewhere(.agentOfAnother))
        #expect(asked(0, other, desk) == .elsewhere(.agentOfAnother))
        #expect(asked(other, person, desk) == .elsewhere(.agentOfAnother))
        #expect(asked(person, other, desk) == .elsewhere(.agentOfAnother))
        #expect(asked(person, person, .session("9", uid: person)) == .elsewhere(.noSession))
        #expect(asked(person, person, .unknown) == .elsewhere(.noSession))
        #expect(ask(place) == .elsewhere(.agentOfAnother))
        #expect(
            ask(place, real: person, connector: .init(uid: person, realUID: person, place: desk))
                == .elsewhere(.notALogin))
    }

    @Test("who started it: of polkit's helper whoever connected, of all else its real uid")
    func startedBy() {
        let helper = ProcessPlace.systemUnit("polkit-agent-helper@3-77-1000.service")
        func helped(_ uid: UInt32, _ real: UInt32) -> UInt32? {
            KnownProcess(
                realUID: 0, place: helper,
                connector: .init(uid: uid, realUID: real, place: .unknown)
            ).startedBy
        }
        #expect(KnownProcess(realUID: 7, place: .unknown).startedBy == 7)
        #expect(KnownProcess(realUID: 0, place: helper).startedBy == nil)
        #expect(helped(person, person) == person)
        #expect(helped(0, person) == person)
        #expect(helped(other, person) == nil)
    }

    @Test(
        "instances of polkit's helper in every form that systemd gives them",
        arguments: [
            ("3-1234-1000", 1234, 1000), ("0-1-0", 1, 0), ("3-99-1234-1000", 1234, 1000),
            ("3-99-1234_5678-1000", 1234, 1000), ("4294967295-1-4294967295", 1, .max),
        ] as [(String, Int32, UInt32)])
    func instances(_ name: String, _ pid: Int32, _ uid: UInt32) throws {
        let found = try #require(PolkitInstance(unit: "polkit-agent-helper@\(name).service"))
        #expect(found.pid == pid && found.uid == uid)
    }

    @Test(
        "what systemd never writes names nobody",
        arguments: [
            "", "3", "3-unknown", "3-99-unknown", "3-99-1234_5678-unknown", "1234-1000", "3-0-1000",
            "3-1234-", "3--1000", "-1234-1000", "3-1234-1000-", "3-+1234-1000", "3-1234-+1000",
            "3-1234-4294967296", "3-2147483648-1000", "3-1234_5678-1000", "3-99-1234_-1000",
            "3-99-_5678-1000", "3-99-1234_5_6-1000", "1-2-3-4-5", "x-1234-1000", "3-12a4-1000",
            "3-٣-1000",
        ])
    func noInstances(_ name: String) {
        #expect(PolkitInstance(unit: "polkit-agent-helper@\(name).service") == nil)
        #expect(PolkitInstance(unit: "another@\(name).service") == nil)
    }

    @Test("patterns of units")
    func patterns() {
        let units = LoginUnits(patterns: ["a*", "b@*.service", "*x*y", "exact", "m*n*o"])
        for unit in [
            "a.service", "abc.service", "b@1.service", "x1y.service", "exact.service",
            "mno.service", "m1n2o.service", "mnno.service",
        ] {
            #expect(units.kind(of: unit) == .displayManager, "\(unit)")
        }
        for unit in ["b.service", "exacts.service", "y.service", "mo.service", "mon.service", ""] {
            #expect(units.kind(of: unit) == nil, "\(unit)")
        }
        #expect(LoginUnits.usual.kind(of: "gdm.service") == .gdm)
        #expect(LoginUnits.usual.kind(of: "getty@tty7.service") == .console(terminal: "tty7"))
        #expect(LoginUnits.usual.kind(of: "console-getty.service") == .console(terminal: nil))
        #expect(LoginUnits.usual.kind(of: "sddm.service") == .displayManager)
        #expect(LoginUnits.usual.kind(of: "sshd.service") == nil)
        #expect(LoginUnits(patterns: []).kind(of: "gdm.service") == nil)
    }
}
