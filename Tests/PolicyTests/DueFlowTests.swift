import Testing

@testable import Policy

private let one = [UInt8](repeating: 1, count: 32)
private let two = [UInt8](repeating: 2, count: 32)
private let none = [UInt8](repeating: 0, count: 32)

/// A passcode that was judged by the present rules, where nothing else is due.
private func at(
    _ state: PasscodeState, _ target: DueTarget, _ change: (inout DueInput) -> Void = { _ in }
) -> DueInput {
    var input = DueInput(
        state: state, followsLogin: false, target: target, judgedDigest: one, presentDigest: one,
        fingerprintWasAllowed: true, hardware: .none, compliance: .meetsTheRules, isExpired: false,
        pending: nil)
    change(&input)
    return input
}

private func inForce(
    noPasscode: Bool = true, fingerprint: Bool = true, _ change: ChangeDemand = .everybody
) -> DueTarget {
    .inForce(allowNoPasscode: noPasscode, allowFingerprint: fingerprint, change: change)
}

private func changed(_ input: inout DueInput) {
    input.presentDigest = two
}

/// The table of BEHAVIOURS 3, each row by hand.
@Suite struct DueFlowTests {
    @Test(
        "none, no-passcode mode: nothing",
        arguments: WithoutReason.allCases, [DueReason?.none] + DueReason.allCases.map { $0 })
    func noneInNoPasscodeMode(reason: WithoutReason, pending: DueReason?) {
        let input = at(.none(reason), .noPasscodeMode) { $0.pending = pending }
        #expect(due(input) == .nothing(.noPasscodeMode))
    }

    @Test("none by choice or by NoPasscodeByDefault, AllowNoPasscode: nothing")
    func noneAllowed() {
        #expect(due(at(.none(.byChoice), inForce())) == .nothing(.withoutByChoice))
        #expect(due(at(.none(.byPolicyDefault), inForce())) == .nothing(.withoutByPolicyDefault))
    }

    @Test("none, otherwise, a policy in force: 2 with a reader that may be used, else 1")
    func noneOtherwise() {
        let forbidden = inForce(noPasscode: false)
        for input in [
            at(.none(.byChoice), forbidden), at(.none(.byPolicyDefault), forbidden),
            at(.none(.inNoPasscodeMode), inForce()), at(.none(.unknown), inForce()),
            at(.none(.inNoPasscodeMode), forbidden), at(.none(.unknown), forbidden),
        ] {
            #expect(due(input) == .steps([DueStep(.create, .policy)]))
            var reader = input
            reader.hardware = .readerUsable
            #expect(due(reader) == .steps([DueStep(.createOfferingFingerprint, .policy)]))
            reader.target = inForce(noPasscode: false, fingerprint: false)
            #expect(due(reader) == .steps([DueStep(.create, .policy)]))
        }
    }

    @Test("passcode, no-passcode mode: 4, whatever else is the matter")
    func passcodeToNone() {
        let input = at(.passcode, .noPasscodeMode) { input in
            changed(&input)
            input.isExpired = true
            input.pending = .recovery
            input.fingerprintWasAllowed = false
        }
        #expect(due(input) == .steps([DueStep(.dropPasscode, .policy)]))
    }

    @Test(
        "passcode, a policy in force: 3 if the rules changed; then 5 if AllowFingerprint became yes"
    )
    func passcodeToPasscode() {
        #expect(due(at(.passcode, inForce())) == .nothing(.sameRules))
        #expect(due(at(.passcode, inForce(), changed)) == .steps([DueStep(.change, .policy)]))
        let news = at(.passcode, inForce()) { $0.fingerprintWasAllowed = false }
        #expect(due(news) == .steps([DueStep(.announceFingerprint, .policy)]))
        var both = news
        changed(&both)
        #expect(due(both).flows == [.change, .announceFingerprint])
        both.target = inForce(fingerprint: false)
        #expect(due(both).flows == [.change])
    }

    @Test("passcode and fingerprint, no-passcode mode: 7")
    func bothToNone() {
        let input = at(.passcodeAndFingerprint, .noPasscodeMode, changed)
        #expect(due(input) == .steps([DueStep(.dropBoth, .policy)]))
    }

    @Test("passcode and fingerprint, AllowFingerprint=no: 6; then 3 if the rules changed")
    func bothToPasscode() {
        let forbidden = inForce(fingerprint: false)
        #expect(
            due(at(.passcodeAndFingerprint, forbidden))
                == .steps([DueStep(.dropFingerprint, .policy)]))
        #expect(
            due(at(.passcodeAndFingerprint, forbidden, changed))
                == .steps([DueStep(.dropFingerprint, .policy), DueStep(.change, .policy)]))
    }

    @Test("passcode and fingerprint, AllowFingerprint=yes: 3 if the rules changed, else nothing")
    func bothStay() {
        #expect(due(at(.passcodeAndFingerprint, inForce())) == .nothing(.sameRules))
        #expect(
            due(at(.passcodeAndFingerprint, inForce(), changed))
                == .steps([DueStep(.change, .policy)]))
        let news = at(.passcodeAndFingerprint, inForce()) { $0.fingerprintWasAllowed = false }
        #expect(due(news) == .nothing(.sameRules))
    }

    @Test(
        "the fingerprint stays without a reader",
        arguments: [inForce(), inForce(noPasscode: false)])
    func absentReader(target: DueTarget) {
        #expect(due(at(.passcodeAndFingerprint, target)).flows.isEmpty)
    }

    @Test(
        "ChangeOnUpdate=noncompliant: 3 only where the passcode falls short, and who knows before")
    func noncompliant() {
        let target = inForce(.whoFallsShort)
        func input(_ compliance: Compliance) -> DueInput {
            at(.passcode, target) { input in
                changed(&input)
                input.compliance = compliance
            }
        }
        #expect(due(input(.fallsShort)) == .steps([DueStep(.change, .policy)]))
        #expect(due(input(.meetsTheRules)) == .nothing(.meetsTheRules))
        let open = due(input(.notYetKnown))
        #expect(open.flows == [.change])
        #expect(open.certainty == .onlyWhereItFallsShort)
        var same = input(.fallsShort)
        same.presentDigest = one
        #expect(due(same) == .nothing(.sameRules))
    }

    @Test(
        "a passcode that nobody ever judged is not under changed rules",
        arguments: ChangeDemand.allCases)
    func neverJudged(change: ChangeDemand) {
        let input = at(.passcode, inForce(change)) { input in
            input.judgedDigest = none
            input.compliance = .fallsShort
        }
        #expect(due(input) == .nothing(.neverJudged))
    }

    @Test("a store that follows the login password has flows 4, 6 and 7 only")
    func followsLogin() {
        func follower(_ state: PasscodeState, _ target: DueTarget) -> DueInput {
            at(state, target) { input in
                changed(&input)
                input.followsLogin = true
                input.isExpired = true
                input.pending = .recovery
                input.fingerprintWasAllowed = false
                input.compliance = .fallsShort
            }
        }
        #expect(due(follower(.passcode, inForce())) == .nothing(.followsLogin))
        #expect(due(follower(.passcode, .noPasscodeMode)).flows == [.dropPasscode])
        #expect(due(follower(.passcodeAndFingerprint, inForce())) == .nothing(.followsLogin))
        #expect(
            due(follower(.passcodeAndFingerprint, inForce(fingerprint: false))).flows
                == [.dropFingerprint])
        #expect(due(follower(.passcodeAndFingerprint, .noPasscodeMode)).flows == [.dropBoth])
        #expect(due(follower(.none(.unknown), inForce())) == .nothing(.followsLogin))
    }

    @Test("an expired passcode runs 3 with its own reason; changed rules are the better one")
    func expired() {
        var input = at(.passcode, inForce()) { $0.isExpired = true }
        #expect(due(input) == .steps([DueStep(.change, .expired)]))
        input.presentDigest = two
        #expect(due(input) == .steps([DueStep(.change, .policy)]))
        input.target = inForce(.whoFallsShort)
        input.compliance = .notYetKnown
        #expect(due(input) == .steps([DueStep(.change, .expired)]))
        let both = at(.passcodeAndFingerprint, inForce(fingerprint: false)) { $0.isExpired = true }
        #expect(
            due(both)
                == .steps([DueStep(.dropFingerprint, .policy), DueStep(.change, .expired)]))
    }

    @Test("a recovery that was not ended goes on; a migration is ended by the passcode")
    func pending() {
        let recovered = at(.passcode, inForce()) { $0.pending = .recovery }
        #expect(due(recovered) == .steps([DueStep(.change, .recovery)]))
        for reason in [DueReason.migration, .policy, .expired] {
            #expect(due(at(.passcode, inForce()) { $0.pending = reason }) == .nothing(.sameRules))
        }
        let half = at(.none(.byChoice), inForce()) { $0.pending = .migration }
        #expect(due(half) == .steps([DueStep(.create, .migration)]))
    }

    @Test("a store that opens by fingerprint alone goes to a passcode, whatever was chosen")
    func migration() {
        let input = at(.fingerprintOnly, inForce())
        #expect(due(input) == .steps([DueStep(.create, .migration)]))
        var reader = input
        reader.hardware = .readerUsable
        #expect(due(reader) == .steps([DueStep(.createOfferingFingerprint, .migration)]))
        reader.target = inForce(fingerprint: false)
        #expect(due(reader) == .steps([DueStep(.create, .migration)]))
        reader.target = .noPasscodeMode
        #expect(due(reader) == .steps([DueStep(.dropBoth, .migration)]))
    }

    @Test("a policy in force says where a store has to go, whoever wrote it")
    func target() {
        for without in [false, true] {
            for finger in [false, true] {
                for choice in ChangeOnUpdate.allCases {
                    var policy = Policy.builtIn
                    policy.allowNoPasscode = without
                    policy.allowFingerprint = finger
                    policy.changeOnUpdate = choice
                    let expected = inForce(
                        noPasscode: without, fingerprint: finger,
                        choice == .always ? .everybody : .whoFallsShort)
                    #expect(DueTarget(.administrators(policy)) == expected)
                    #expect(DueTarget(.standard(policy)) == expected)
                    #expect(DueTarget(.noPasscodeMode(policy)) == .noPasscodeMode)
                }
            }
        }
    }

    @Test("the numbers are the table's, and the wire's")
    func numbers() {
        #expect(Flow.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7])
        #expect(DueReason.allCases.map(\.rawValue) == [1, 2, 3, 4])
    }
}

/// What the specification says, written a second time and in another way: as rows of a table, of
/// which the first that fits counts.
private struct Row: Sendable {
    let text: String
    let fits: @Sendable (DueInput) -> Bool
    let flows: @Sendable (DueInput) -> [(Flow, DueReason)]
}

private struct Oracle {
    static func mode(_ i: DueInput) -> Bool { i.target == .noPasscodeMode }
    static func allows(_ i: DueInput) -> (without: Bool, finger: Bool, always: Bool) {
        guard case .inForce(let without, let finger, let change) = i.target else {
            return (false, false, false)
        }
        return (without, finger, change == .everybody)
    }
    static func isNone(_ i: DueInput) -> Bool {
        if case .none = i.state { return true }
        return false
    }
    static func isChosen(_ i: DueInput) -> Bool {
        i.state == .none(.byChoice) || i.state == .none(.byPolicyDefault)
    }
    /// "R = the digest differs and (ChangeOnUpdate=always or the present passcode falls short)"
    static func r(_ i: DueInput) -> Bool {
        i.judgedDigest != i.presentDigest && i.judgedDigest != none
            && (allows(i).always || i.compliance == .fallsShort)
    }
    static func why(_ i: DueInput) -> [(Flow, DueReason)] {
        if i.pending == .recovery { return [(.change, .recovery)] }
        if r(i) { return [(.change, .policy)] }
        return i.isExpired ? [(.change, .expired)] : []
    }
    static func made(_ i: DueInput) -> Flow {
        allows(i).finger && i.hardware == .readerUsable ? .createOfferingFingerprint : .create
    }

    static let rows = [
        Row(
            text: "none | no-passcode mode | nothing", fits: { isNone($0) && mode($0) },
            flows: { _ in [] }),
        Row(
            text: "none, in the middle of a migration",
            fits: { isNone($0) && $0.pending == .migration }, flows: { [(made($0), .migration)] }),
        Row(
            text: "(a) has 4, 6 and 7 only", fits: { isNone($0) && $0.followsLogin },
            flows: { _ in [] }),
        Row(
            text: "none, by choice or default | AllowNoPasscode | nothing",
            fits: { isChosen($0) && allows($0).without }, flows: { _ in [] }),
        Row(
            text: "none, otherwise | a policy in force | 2 or 1", fits: { isNone($0) },
            flows: { [(made($0), .policy)] }),
        Row(
            text: "by fingerprint alone | no-passcode mode",
            fits: { $0.state == .fingerprintOnly && mode($0) },
            flows: { _ in [(.dropBoth, .migration)] }),
        Row(
            text: "by fingerprint alone | a policy in force",
            fits: { $0.state == .fingerprintOnly }, flows: { [(made($0), .migration)] }),
        Row(
            text: "passcode | no-passcode mode | 4", fits: { $0.state == .passcode && mode($0) },
            flows: { _ in [(.dropPasscode, .policy)] }),
        Row(
            text: "passcode, (a) | a policy in force | nothing",
            fits: { $0.state == .passcode && $0.followsLogin }, flows: { _ in [] }),
        Row(
            text: "passcode | a policy in force | 3 if R; then 5 if AllowFingerprint became yes",
            fits: { $0.state == .passcode },
            flows: { i in
                why(i)
                    + (allows(i).finger && !i.fingerprintWasAllowed
                        ? [(.announceFingerprint, .policy)] : [])
            }),
        Row(
            text: "passcode + fingerprint | no-passcode mode | 7",
            fits: { $0.state == .passcodeAndFingerprint && mode($0) },
            flows: { _ in [(.dropBoth, .policy)] }),
        Row(
            text: "passcode + fingerprint, (a) | AllowFingerprint=no | 6",
            fits: {
                $0.state == .passcodeAndFingerprint && $0.followsLogin && !allows($0).finger
            }, flows: { _ in [(.dropFingerprint, .policy)] }),
        Row(
            text: "passcode + fingerprint, (a) | AllowFingerprint=yes | nothing",
            fits: { $0.state == .passcodeAndFingerprint && $0.followsLogin }, flows: { _ in [] }),
        Row(
            text: "passcode + fingerprint | AllowFingerprint=no | 6; then 3 if R",
            fits: { $0.state == .passcodeAndFingerprint && !allows($0).finger },
            flows: { [(.dropFingerprint, .policy)] + why($0) }),
        Row(
            text: "passcode + fingerprint | AllowFingerprint=yes | 3 if R, else nothing",
            fits: { $0.state == .passcodeAndFingerprint }, flows: { why($0) }),
    ]
}

@Suite struct DueFlowSpaceTests {
    private static let states: [PasscodeState] =
        WithoutReason.allCases.map(PasscodeState.none) + [
            .passcode, .passcodeAndFingerprint, .fingerprintOnly,
        ]
    private static let bools = [false, true]
    private static let targets: [DueTarget] =
        [.noPasscodeMode]
        + bools.flatMap { without in
            bools.flatMap { finger in
                ChangeDemand.allCases.map {
                    .inForce(allowNoPasscode: without, allowFingerprint: finger, change: $0)
                }
            }
        }

    /// Every input there is, state by state.
    private static func each(_ state: PasscodeState, _ body: (DueInput) -> Void) {
        for follows in bools {
            for target in targets {
                for digest in [one, two, none] {
                    for allowed in bools {
                        for hardware in Hardware.allCases {
                            for compliance in Compliance.allCases {
                                for expired in bools {
                                    for pending in [nil] + DueReason.allCases.map(Optional.some) {
                                        body(
                                            DueInput(
                                                state: state, followsLogin: follows,
                                                target: target, judgedDigest: digest,
                                                presentDigest: two,
                                                fingerprintWasAllowed: allowed,
                                                hardware: hardware, compliance: compliance,
                                                isExpired: expired, pending: pending))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("every input there is gets what the specification's table says", arguments: states)
    func everyInput(state: PasscodeState) {
        var rows: Set<String> = []
        var wrong: [String] = []
        var count = 0
        Self.each(state) { input in
            count += 1
            guard let row = Oracle.rows.first(where: { $0.fits(input) }) else {
                wrong.append("no row for \(input)")
                return
            }
            rows.insert(row.text)
            let found = due(input)
            // Before the passcode is typed: certain is what is due if it meets the rules, and
            // uncertain is what may be due in addition.
            if input.compliance == .notYetKnown {
                var (good, bad) = (input, input)
                good.compliance = .meetsTheRules
                bad.compliance = .fallsShort
                let certain = row.flows(good).map(\.0)
                let worst = row.flows(bad).map(\.0)
                let isOpen = certain != worst
                if found.flows != worst || (found.certainty == .certain) == isOpen {
                    wrong.append("\(row.text): \(input) gave \(found)")
                }
                let sure = steps(found).filter { $0.certainty == .certain }.map(\.flow)
                if sure != certain { wrong.append("\(row.text): certain is \(sure) in \(input)") }
                return
            }
            let expected = row.flows(input)
            let isRight =
                steps(found).map(\.flow) == expected.map(\.0)
                && steps(found).map(\.reason) == expected.map(\.1)
                && found.certainty == .certain
            if !isRight { wrong.append("\(row.text): \(input) gave \(found)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(count): \(wrong.prefix(3))")
        #expect(count == 9720)
        #expect(!rows.isEmpty)
    }

    @Test("each row of the table is met by some input")
    func everyRow() {
        var rows: Set<String> = []
        for state in Self.states {
            Self.each(state) { input in
                if let row = Oracle.rows.first(where: { $0.fits(input) }) { rows.insert(row.text) }
            }
        }
        #expect(rows == Set(Oracle.rows.map(\.text)))
    }

    @Test("what cannot be, is not: in every input", arguments: states)
    func invariants(state: PasscodeState) {
        var wrong: [String] = []
        Self.each(state) { input in
            let found = due(input)
            let flows = found.flows
            func never(_ what: String, _ isSo: Bool) {
                if isSo { wrong.append("\(what): \(input)") }
            }
            never("a flow twice", Set(flows).count != flows.count)
            never("an empty row", found == .steps([]))
            never(
                "a passcode goes although a policy is in force",
                flows.contains { [.dropPasscode, .dropBoth].contains($0) }
                    && input.target != .noPasscodeMode)
            never(
                "a change for one who follows",
                input.followsLogin
                    && flows.contains { [.change, .announceFingerprint].contains($0) })
            var other = input
            other.hardware = input.hardware == .none ? .readerUsable : .none
            func drops(_ due: Due) -> [Flow] {
                due.flows.filter { [.dropFingerprint, .dropBoth].contains($0) }
            }
            never("a reader decides what goes", drops(due(other)) != drops(found))
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    /// The store as the step leaves it once the person has gone through it.
    private func after(_ step: DueStep, _ input: DueInput) -> DueInput {
        var input = input
        let allowed = Oracle.allows(input).finger
        switch step.flow {
        case .create, .createOfferingFingerprint:
            input.state = .passcode
            input.judgedDigest = input.presentDigest
            input.fingerprintWasAllowed = allowed
            (input.isExpired, input.pending, input.compliance) = (false, nil, .meetsTheRules)
        case .change:
            input.judgedDigest = input.presentDigest
            (input.isExpired, input.pending, input.compliance) = (false, nil, .meetsTheRules)
        case .dropPasscode, .dropBoth:
            (input.state, input.pending) = (.none(.inNoPasscodeMode), nil)
        case .announceFingerprint: input.fingerprintWasAllowed = true
        case .dropFingerprint:
            input.state = .passcode
            input.fingerprintWasAllowed = false
        }
        return input
    }

    @Test(
        "a flow that was gone through is due no more, and the rest of them still is",
        arguments: states)
    func eachStepEnds(state: PasscodeState) {
        var wrong: [String] = []
        Self.each(state) { input in
            guard input.compliance != .notYetKnown else { return }
            let steps = steps(due(input))
            guard let first = steps.first else { return }
            let rest = Array(steps.dropFirst())
            let left = self.steps(due(after(first, input)))
            if left != rest { wrong.append("\(input): after \(first.flow) \(left), not \(rest)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
    }

    private func steps(_ due: Due) -> [DueStep] {
        switch due {
        case .nothing: []
        case .steps(let steps): steps
        }
    }
}
