import Testing

@testable import Policy

private let day: UInt64 = 86_400
private let year = 365 * day
private let built: UInt64 = 1_700_000_000

@Suite struct ExpiryTests {
    private func expiry(
        _ now: UInt64, setAt: UInt64 = built + 10 * day, days: UInt32 = 30,
        known: UInt64 = 0, state: PasscodeState = .passcode, follows: Bool = false
    ) -> Expiry {
        Expiry(
            state: state, followsLogin: follows, setAt: setAt, expireDays: days,
            ClockReading(now: now, builtAt: built, lastKnown: known))
    }

    @Test("a passcode expires at the second at which its age is reached, and not one before")
    func bound() {
        let end = built + 40 * day
        #expect(expiry(end - 1) == .expires(at: end))
        #expect(expiry(end) == .expired(since: end))
        #expect(expiry(end + 1) == .expired(since: end))
        #expect(expiry(end, state: .passcodeAndFingerprint).isExpired)
    }

    @Test("a clock before it was set is age 0")
    func clockBeforeSetting() {
        #expect(!expiry(built + day).isExpired)
        #expect(expiry(built, setAt: .max, days: 1) == .expires(at: .max))
    }

    @Test("a clock before the build date expires nothing")
    func beforeBuild() {
        let now = built - 1
        #expect(expiry(now, setAt: 0) == .clockNotBelieved(.beforeBuild))
        #expect(expiry(built, setAt: 0, days: 1).isExpired)
    }

    @Test("a clock that jumped by more than a year expires nothing, and by a year it does")
    func jumped() {
        let known = built + 100 * day
        #expect(expiry(known + year, known: known).isExpired)
        #expect(expiry(known + year + 1, known: known) == .clockNotBelieved(.jumped))
        #expect(expiry(.max, known: known) == .clockNotBelieved(.jumped))
    }

    @Test("what was known may be older than the build, and then the build counts")
    func knownBeforeBuild() {
        let known = built - 3 * year
        #expect(expiry(built + year, setAt: 0, known: known).isExpired)
        #expect(expiry(built + year + 1, setAt: 0, known: known) == .clockNotBelieved(.jumped))
    }

    @Test("without anything known no clock is doubted for being late")
    func nothingKnown() {
        #expect(expiry(built + 5 * year).isExpired)
    }

    @Test("what was known may lie ahead")
    func knownAhead() {
        #expect(expiry(built + 50 * day, known: .max).isExpired)
    }

    @Test("without a passcode nothing expires", arguments: WithoutReason.allCases)
    func none(reason: WithoutReason) {
        #expect(expiry(.max, state: .none(reason)) == .never(.noPasscode))
        #expect(expiry(.max, state: .fingerprintOnly) == .never(.noPasscode))
    }

    @Test("0 days is never, and so is the login password's age")
    func never() {
        #expect(expiry(built + 900 * day, days: 0) == .never(.noRule))
        #expect(expiry(built + 900 * day, follows: true) == .never(.followsLogin))
    }

    @Test("the longest age of the latest passcode does not trap")
    func overflow() {
        #expect(!expiry(built + day, setAt: .max, days: .max).isExpired)
    }
}
