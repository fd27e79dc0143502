import Policy
import Testing

@testable import KeySlots

@Suite struct TermsTests {
    private static func all() -> [Terms] {
        let flags = [false, true]
        return flags.flatMap { allowed in
            flags.flatMap { isOn in
                flags.map {
                    Terms(
                        fingerprintWasAllowed: allowed, fingerprintIsOn: isOn,
                        recoveryWasOffered: $0, seenAt: 1_700_000_000,
                        fingerFailures: allowed ? 5 : 0, fingersTellWho: isOn && allowed)
                }
            }
        }
    }

    @Test("whoever turns fingers off takes back that theirs say who they are")
    func offAndOn() throws {
        var terms = Terms(fingerprintIsOn: true, fingersTellWho: true)
        #expect(try Terms(payload: terms.payload()).fingersTellWho)
        terms.fingerprintIsOn = false
        terms.fingerprintIsOn = true
        #expect(!terms.fingersTellWho)
    }

    @Test("terms are read as they were written, after the file was opened anew")
    func roundTrip() throws {
        let fixture = try Fixture()
        let slot = try fixture.open(try fixture.bytes()).passcodeSlots[0]
        for var terms in Self.all() {
            for flow in [nil] + Flow.allCases.map(Optional.some) {
                for reason in DueReason.allCases {
                    if let flow { terms.begin(Terms.Pending(flow, reason), on: slot) }
                    let again = try Terms(payload: terms.payload())
                    #expect(again == terms)
                    #expect(again.pending(on: slot)?.flow == flow)
                }
            }
        }
        let disk = PowerDisk(try fixture.bytes())
        var terms = Terms(fingerprintWasAllowed: false, fingerprintIsOn: true, seenAt: 7)
        terms.begin(Terms.Pending(.change, .recovery), on: slot)
        try fixture.open(disk).write(terms)
        #expect(try fixture.open(disk.bytes).terms == terms)
    }

    @Test("a store made before has the terms of one that nothing was ever said about")
    func madeBefore() throws {
        let fixture = try Fixture()
        let bytes = try fixture.bytes(recovery: true)
        #expect(bytes[content(8)].allSatisfy { $0 == 0 })
        let file = try fixture.open(bytes)
        #expect(file.terms == Terms())
        #expect(file.terms.fingerprintWasAllowed)
        #expect(!file.terms.fingerprintIsOn)
        #expect(!file.terms.recoveryWasOffered)
        #expect(try file.history(storeKey: try secret(Fixture.storeKey)).former.isEmpty)
    }

    @Test("a marker counts for the passcode it was made at, and for no other")
    func marker() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        let old = try file.passcodeSlots[0]
        var terms = file.terms
        terms.begin(Terms.Pending(.change, .recovery), on: old)
        try file.write(terms)
        try file.write(policyDigest: [UInt8](repeating: 5, count: 32), on: old)
        let judged = try file.passcodeSlots[0]
        #expect(file.terms.pending(on: judged) == Terms.Pending(.change, .recovery))
        #expect(file.terms.pending(on: nil) == nil)
        try file.replacePasscode(
            try Fixture.details(), derived: try secret(Fixture.second),
            storeKey: try secret(Fixture.storeKey), proven: judged)
        #expect(file.terms.pending(on: try file.passcodeSlots[0]) == nil)

        terms.begin(Terms.Pending(.create, .migration), on: nil)
        #expect(terms.pending(on: nil) == Terms.Pending(.create, .migration))
        #expect(terms.pending(on: judged) == nil)
        terms.end()
        #expect(terms.pending(on: nil) == nil)
    }

    @Test("content that no terms can have is damage", arguments: [8, 9, 10, 11, 12, 13, 30, 430])
    func damage(place: Int) throws {
        var payload = Terms().payload() + [UInt8](repeating: 0, count: 432 - 30)
        payload[place] = 9
        #expect(throws: KeyError.damaged(.block(8))) { _ = try Terms(payload: payload) }
    }

    @Test("terms that were changed are lost, and the store has those of a new one")
    func changedByte() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        try fixture.open(disk).write(Terms(seenAt: 3))
        for place in content(8) {
            var bytes = disk.bytes
            bytes[place] ^= 0x13
            let file = try fixture.open(bytes)
            #expect(file.lost == [8])
            #expect(file.terms == Terms())
        }
    }

    @Test("what was said without a success is written again")
    func doubtful() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        disk.budget = 0
        #expect(throws: KeyError.self) { try file.write(Terms(fingerprintIsOn: true)) }
        disk.budget = nil
        #expect(try fixture.open(disk.bytes).terms.fingerprintIsOn)
        #expect(!file.terms.fingerprintIsOn)
        try file.write(file.terms)
        #expect(try !fixture.open(disk.bytes).terms.fingerprintIsOn)
    }

    @Test("slots and terms say how a store opens")
    func state() {
        var identity = Fixture.identity
        func state(_ has: Bool, _ isOn: Bool) -> PasscodeState {
            PasscodeState(hasPasscode: has, Terms(fingerprintIsOn: isOn), identity)
        }
        #expect(state(true, false) == .passcode)
        #expect(state(true, true) == .passcodeAndFingerprint)
        #expect(state(false, true) == .fingerprintOnly)
        let reasons: [Identity.WithoutPasscode: WithoutReason] = [
            .hasPasscode: .unknown, .byChoice: .byChoice, .byPolicyDefault: .byPolicyDefault,
            .inNoPasscodeMode: .inNoPasscodeMode,
        ]
        #expect(reasons.count == Identity.WithoutPasscode.allCases.count)
        for (without, reason) in reasons {
            identity.withoutPasscode = without
            #expect(state(false, false) == .none(reason))
        }
    }

    @Test("which way a store goes is its passcode's word, as long as there is one")
    func way() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        var details = try Fixture.details()
        details.way = .followsLogin
        try file.replacePasscode(
            details, derived: try secret(Fixture.second), storeKey: try secret(Fixture.storeKey),
            proven: nil)
        #expect(file.identity.way == .followsLogin)
        #expect(try fixture.open(disk.bytes).identity.way == .followsLogin)
        try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        #expect(file.identity.way == .own)
        var identity = file.identity
        identity.way = .followsLogin
        try file.write(identity)
        #expect(try fixture.open(disk.bytes).identity.way == .followsLogin)
    }
}
