import Testing

@testable import Policy

private let alice: UInt32 = 1000
private let bob: UInt32 = 1001

private func session(
    _ id: String, _ uid: UInt32 = alice, seat: String? = "seat0", graphical: Bool = true,
    locked: Bool = false, idle: Bool = false, kind: LoginSession.Kind = .person
) -> SeatSession {
    SeatSession(
        id: id, uid: uid, kind: kind, seat: seat, isGraphical: graphical, isLocked: locked,
        isIdle: idle)
}

private func hint(_ id: String, locked: Bool? = nil, idle: Bool? = nil) -> SeatNews {
    .changed(session: id, isLocked: locked, isIdle: idle)
}

@Suite("who is in front at this machine")
struct InFrontTests {
    /// Hears the first pieces of news, and returns what the last one says.
    private func last(_ news: SeatNews...) -> [Coming] {
        var inFront = InFront()
        var comings: [Coming] = []
        for piece in news { comings = inFront.hear(piece) }
        return comings
    }

    private func view(_ sessions: SeatSession..., front: String? = nil) -> SeatNews {
        .view(sessions: sessions, front: front.map { ["seat0": $0] } ?? [:])
    }

    @Test("the screen is locked, and unlocked")
    func lock() {
        let before = view(session("1"), front: "1")
        let left = [Coming.left(uid: alice, .screenLock)]
        #expect(last(before) == [.cameBack(uid: alice, .seat)])
        #expect(last(before, hint("1", locked: true)) == left)
        // Also if it counted as locked: logind says so only when it changes.
        #expect(last(before, hint("1", locked: true), hint("1", locked: true)) == left)
        #expect(last(before, hint("1", locked: false)).isEmpty)
        #expect(
            last(before, hint("1", locked: true), hint("1", locked: false))
                == [.cameBack(uid: alice, .screen)])
    }

    @Test("a lock that idleness brought is told as one")
    func idle() {
        let before = view(session("1"), front: "1")
        let left = [Coming.left(uid: alice, .screenLockByIdleness)]
        #expect(last(before, hint("1", idle: true), hint("1", locked: true)) == left)
        #expect(last(before, hint("1", locked: true, idle: true)) == left)
        #expect(last(before, hint("1", idle: true), .lock(session: "1")) == left)
        #expect(
            last(before, hint("1", idle: true), hint("1", idle: false), hint("1", locked: true))
                == [.left(uid: alice, .screenLock)])
    }

    @Test("a locker that is told to lock and says nothing: each such word counts")
    func silentLocker() {
        let before = view(session("1"), front: "1")
        let left = [Coming.left(uid: alice, .screenLock)]
        #expect(last(before, .lock(session: "1")) == left)
        #expect(last(before, .lock(session: "1"), .lock(session: "1")) == left)
    }

    @Test("another person's session comes in front, or none")
    func switching() {
        let before = view(session("1"), session("2", bob), front: "1")
        #expect(
            last(before, .front(seat: "seat0", session: "2"))
                == [.left(uid: alice, .anotherInFront), .cameBack(uid: bob, .seat)])
        #expect(
            last(before, .front(seat: "seat0", session: nil))
                == [.left(uid: alice, .anotherInFront)])
        #expect(
            last(before, .front(seat: "seat0", session: "unknown"))
                == [.left(uid: alice, .anotherInFront)])
    }

    @Test(
        "a change between two of one's own sessions is none; from a locked to an open one neither")
    func ownSessions() {
        let before = view(session("1"), session("3"), front: "1")
        #expect(
            last(before, .front(seat: "seat0", session: "3")) == [.cameBack(uid: alice, .seat)])
        let locked = view(session("1"), session("3", locked: true), front: "1")
        #expect(
            last(locked, .front(seat: "seat0", session: "3")) == [
                .left(uid: alice, .anotherInFront)
            ])
        // A session begins.
        #expect(last(before, .began(session("4"))) == [.cameBack(uid: alice, .session)])
        // A session behind another one of one's own is locked: the person is in front still.
        #expect(last(before, hint("3", locked: true)).isEmpty)
        #expect(last(before, .lock(session: "3")).isEmpty)
    }

    @Test("the session with the screen ends, and ssh is left")
    func ssh() {
        let remote = session("9", seat: nil, graphical: false)
        #expect(
            last(view(session("1"), remote, front: "1"), .ended(session: "1"))
                == [.left(uid: alice, .sessionEnd)])
        // What was opened over ssh behind a locked screen is open until that session ends.
        let locked = view(session("1", locked: true), remote, front: "1")
        #expect(last(locked, .ended(session: "9")) == [.left(uid: alice, .sessionEnd)])
        let two = view(
            session("1", locked: true), remote, session("8", seat: nil, graphical: false),
            front: "1")
        #expect(last(two, .ended(session: "9")).isEmpty)
        // Nobody waits for a screen where there is none.
        let alone = view(remote, session("8", seat: nil, graphical: false))
        #expect(last(alone, .ended(session: "9")).isEmpty)
        // In front, ssh says nothing.
        #expect(last(view(session("1"), remote, front: "1"), .ended(session: "9")).isEmpty)
    }

    @Test("a remote desktop is in front until it is locked")
    func remoteDesktop() {
        let before = view(session("1", seat: nil))
        #expect(last(before) == [.cameBack(uid: alice, .seat)])
        #expect(last(before, hint("1", locked: true)) == [.left(uid: alice, .screenLock)])
        #expect(last(before, .ended(session: "1")) == [.left(uid: alice, .sessionEnd)])
    }

    @Test("greeters, managers and services are nobody")
    func others() {
        for kind in [LoginSession.Kind.greeter, .manager, .other] {
            #expect(last(view(session("1", kind: kind), front: "1")).isEmpty)
            #expect(last(view(session("1", kind: kind), front: "1"), .lock(session: "1")).isEmpty)
        }
    }

    @Test("a logind that was started again has forgotten the lock: it holds until it is taken back")
    func restarted() {
        let before = view(session("1"), front: "1")
        let locked = hint("1", locked: true)
        let open = SeatNews.answered(session: "1", isLocked: false, isIdle: false)
        #expect(last(before, open, locked, before).isEmpty)
        #expect(last(before, open, locked, before, open).isEmpty)
        #expect(
            last(before, open, locked, before, open, hint("1", locked: false))
                == [.cameBack(uid: alice, .screen)])
        // The next lock counts, and so does another person in front.
        #expect(
            last(before, open, locked, before, open, locked) == [.left(uid: alice, .screenLock)])
        #expect(
            last(before, open, locked, before, open, .front(seat: "seat0", session: nil))
                == [.left(uid: alice, .anotherInFront)])
        // What changed meanwhile is told by the view, and by what the session answers.
        #expect(
            last(before, view(session("1"), session("2", bob), front: "2"))
                == [.left(uid: alice, .anotherInFront), .cameBack(uid: bob, .seat)])
        #expect(last(before, view()) == [.left(uid: alice, .sessionEnd)])
        let shut = SeatNews.answered(session: "1", isLocked: true, isIdle: nil)
        #expect(last(before, open, before, shut) == [.left(uid: alice, .screenLock)])
        // An id that another person has now is another session.
        #expect(
            last(before, locked, view(session("1", bob), front: "1"))
                == [.cameBack(uid: bob, .seat)])
    }

    @Test("how it is when the daemon begins is nobody's leaving: the locker may have asked already")
    func first() {
        let before = view(session("1"), front: "1")
        let shut = SeatNews.answered(session: "1", isLocked: true, isIdle: nil)
        #expect(last(before, shut).isEmpty)
        #expect(last(before, shut, hint("1", locked: false)) == [.cameBack(uid: alice, .screen)])
    }

    @Test("who came and left while nobody could hear it has left")
    func unheard() {
        let before = view(session("2", bob), front: "2")
        let after = view(session("1"), session("2", bob), front: "2")
        #expect(last(before, after) == [.left(uid: alice, .anotherInFront)])
        #expect(last(before, after, after).isEmpty)
        // Who came and stayed has come back.
        let stayed = view(session("1"), session("2", bob), front: "1")
        #expect(
            last(before, stayed)
                == [.cameBack(uid: alice, .seat), .left(uid: bob, .anotherInFront)])
    }

    @Test("a locked screen that is not in front any more may have been unlocked unheard, too")
    func unheardUnlock() {
        let before = view(session("1"), session("2", bob), front: "1")
        let after = view(session("1"), session("2", bob), front: "2")
        let left = [Coming.left(uid: alice, .anotherInFront), .cameBack(uid: bob, .seat)]
        #expect(last(before, hint("1", locked: true), after) == left)
        #expect(last(before, hint("1", locked: true), view(session("1"))) == [left[0]])
        #expect(last(before, hint("1", locked: true), before).isEmpty)
        // It was away already, or ends: the end of its session is another word.
        #expect(last(after, hint("1", locked: true), after).isEmpty)
        #expect(
            last(before, hint("1", locked: true), view(session("2", bob), front: "2"))
                == [left[1]])
    }

    @Test("whoever comes in front of a locked screen has not unlocked it")
    func passerBy() {
        let before = view(session("1"), front: "1")
        let away = SeatNews.front(seat: "seat0", session: nil)
        let back = SeatNews.front(seat: "seat0", session: "1")
        #expect(last(before, hint("1", locked: true), away, back).isEmpty)
        // A locker that says nothing: what comes back is the seat, and not the screen.
        #expect(last(before, .lock(session: "1"), away, back) == [.cameBack(uid: alice, .seat)])
    }

    @Test("a session of text says nothing of idleness: its lock is one that was asked for")
    func console() {
        let before = view(session("1", graphical: false, idle: true), front: "1")
        #expect(last(before, .lock(session: "1")) == [.left(uid: alice, .screenLock)])
    }

    @Test("sessions that nobody knows say nothing")
    func unknown() {
        #expect(last(.lock(session: "7")).isEmpty)
        #expect(last(hint("7", locked: true)).isEmpty)
        #expect(last(.ended(session: "7")).isEmpty)
    }

    @Test("what happens then is the policy's word")
    func consequences() {
        var rules = Policy.builtIn.leaving
        #expect(rules.consequence(of: .screenLock) == .lock)
        #expect(rules.consequence(of: .screenLockByIdleness) == .lockAfter(seconds: 5))
        rules.grace = 0
        #expect(Leave.allCases.allSatisfy { rules.consequence(of: $0) == .lock })
        rules.onBackground = .timeout
        #expect(Leave.allCases.allSatisfy { rules.consequence(of: $0) == .stay })
        rules.timeout = 90
        #expect(Leave.allCases.allSatisfy { rules.consequence(of: $0) == .lockAfter(seconds: 90) })
        rules.onBackground = .never
        #expect(Leave.allCases.allSatisfy { rules.consequence(of: $0) == .stay })
    }

    @Test("a finger opens what was locked for as long as the policy says, from the lock on")
    func fingers() {
        var rules = Policy.builtIn.leaving
        let away = Away(.screenLock, since: 1_000)
        let idle = Away(.screenLockByIdleness, since: 1_000)
        rules.grace = 5
        // Factory: half a day.
        #expect(rules.fingerEnd(of: away) == 1_000 + 12 * 3_600_000)
        rules.finger = .time(2)
        #expect(rules.fingerEnd(of: away) == 3_000)
        #expect(rules.fingerEnd(of: idle) == 8_000)
        rules.finger = .never
        #expect(rules.fingerEnd(of: away) == 1_000)
        #expect(rules.fingerEnd(of: idle) == 6_000)
        rules.finger = .always
        #expect(rules.fingerEnd(of: away) == nil)
        // A store that is not locked keeps it.
        rules.finger = .never
        (rules.onBackground, rules.timeout) = (.timeout, 90)
        #expect(rules.fingerEnd(of: away) == 91_000)
        rules.onBackground = .never
        #expect(rules.fingerEnd(of: away) == nil)
    }
}
