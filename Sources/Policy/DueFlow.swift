/// A change of a store that the policy, or something else, demands of the person.
public enum Flow: UInt8, CaseIterable, Sendable {
    case create = 1
    case createOfferingFingerprint = 2
    case change = 3
    case dropPasscode = 4
    case announceFingerprint = 5
    case dropFingerprint = 6
    case dropBoth = 7
}

public enum DueReason: UInt8, CaseIterable, Sendable {
    case policy = 1
    case migration = 2
    case recovery = 3
    case expired = 4
}

/// How a store opens now.
public enum PasscodeState: Equatable, Hashable, Sendable {
    case none(WithoutReason)
    case passcode
    case passcodeAndFingerprint
    /// As an older release left the store: a finger, and no passcode as a fallback.
    case fingerprintOnly
}

/// Why a store is without a passcode.
public enum WithoutReason: CaseIterable, Sendable {
    case byChoice
    case byPolicyDefault
    case inNoPasscodeMode
    case unknown
}

public enum Hardware: CaseIterable, Sendable {
    case none
    /// There is a reader, but the policy allows built-in ones only, and it is not known to be one.
    case onlyExternal
    /// A reader that can be used in this session.
    case readerUsable
}

/// The part of the policy in force that decides which flow is due.
public enum DueTarget: Equatable, Hashable, Sendable {
    case noPasscodeMode
    case inForce(allowNoPasscode: Bool, allowFingerprint: Bool, change: ChangeDemand)
}

extension DueTarget {
    public init(_ inForce: PolicyInForce) {
        switch inForce {
        case .noPasscodeMode: self = .noPasscodeMode
        case .administrators(let policy), .standard(let policy):
            self = .inForce(
                allowNoPasscode: policy.allowNoPasscode, allowFingerprint: policy.allowFingerprint,
                change: ChangeDemand(policy.changeOnUpdate))
        }
    }
}

/// Who has to change the passcode after the rules changed.
public enum ChangeDemand: CaseIterable, Sendable {
    case everybody
    /// Only people whose present passcode the new rules would refuse.
    case whoFallsShort
}

extension ChangeDemand {
    public init(_ choice: ChangeOnUpdate) {
        switch choice {
        case .always: self = .everybody
        case .noncompliant: self = .whoFallsShort
        }
    }
}

/// Whether the present passcode meets the rules in force. It is judged when it is typed.
public enum Compliance: CaseIterable, Sendable {
    case notYetKnown
    case meetsTheRules
    case fallsShort
}

/// All that decides which flow is due.
public struct DueInput: Equatable, Sendable {
    public var state: PasscodeState
    /// Way (a): the passcode is the login password, whose rules count instead.
    public var followsLogin: Bool
    public var target: DueTarget
    /// The digest of the rules that the passcode was judged by last; all zero where it was never
    /// judged.
    public var judgedDigest: [UInt8]
    public var presentDigest: [UInt8]
    /// AllowFingerprint when the store was judged last.
    public var fingerprintWasAllowed: Bool
    public var hardware: Hardware
    public var compliance: Compliance
    public var isExpired: Bool
    /// The reason of a flow that began and has not ended.
    public var pending: DueReason?

    public init(
        state: PasscodeState, followsLogin: Bool, target: DueTarget, judgedDigest: [UInt8],
        presentDigest: [UInt8], fingerprintWasAllowed: Bool, hardware: Hardware,
        compliance: Compliance, isExpired: Bool, pending: DueReason?
    ) {
        self.state = state
        self.followsLogin = followsLogin
        self.target = target
        self.judgedDigest = judgedDigest
        self.presentDigest = presentDigest
        self.fingerprintWasAllowed = fingerprintWasAllowed
        self.hardware = hardware
        self.compliance = compliance
        self.isExpired = isExpired
        self.pending = pending
    }
}

/// What is due at a store, and why; or why nothing is.
public enum Due: Equatable, Sendable {
    case nothing(NothingDue)
    /// In this order, at least one.
    case steps([DueStep])

    public var flows: [Flow] {
        switch self {
        case .nothing: []
        case .steps(let steps): steps.map(\.flow)
        }
    }

    /// The reason of the first step.
    public var reason: DueReason? {
        switch self {
        case .nothing: nil
        case .steps(let steps): steps.first?.reason
        }
    }

    /// Before the passcode is typed, it may be uncertain whether a step is needed.
    public var certainty: Certainty {
        switch self {
        case .nothing: .certain
        case .steps(let steps):
            steps.contains { $0.certainty == .onlyWhereItFallsShort }
                ? .onlyWhereItFallsShort : .certain
        }
    }
}

public struct DueStep: Equatable, Sendable {
    public var flow: Flow
    public var reason: DueReason
    public var certainty: Certainty

    public init(_ flow: Flow, _ reason: DueReason, _ certainty: Certainty = .certain) {
        self.flow = flow
        self.reason = reason
        self.certainty = certainty
    }
}

public enum Certainty: UInt8, CaseIterable, Sendable {
    case certain = 0
    case onlyWhereItFallsShort = 1
}

public enum NothingDue: CaseIterable, Sendable {
    /// There is no passcode, and none is wanted.
    case noPasscodeMode
    case withoutByChoice
    case withoutByPolicyDefault
    /// The rules are those of the login password.
    case followsLogin
    /// The passcode was judged by the rules that are in force.
    case sameRules
    /// The passcode was never judged, so it is not known whether the rules changed.
    case neverJudged
    /// The passcode was judged by other rules, and it meets the present ones.
    case meetsTheRules
}

/// The table of the flows. It is a pure function and asked anew at each unlock, so that a flow does
/// not go on when the policy changed again and no longer demands it. Where the compliance is not
/// yet known, the answer is what is known so far.
public func due(_ input: DueInput) -> Due {
    switch input.state {
    case .none(let reason): dueWithoutPasscode(input, reason)
    case .fingerprintOnly: dueWithFingerprintAlone(input)
    case .passcode: dueWithPasscode(input)
    case .passcodeAndFingerprint: dueWithBoth(input)
    }
}

private func dueWithoutPasscode(_ input: DueInput, _ without: WithoutReason) -> Due {
    switch input.target {
    case .noPasscodeMode: return .nothing(.noPasscodeMode)
    case .inForce(let allowNoPasscode, let allowFingerprint, _):
        // A migration was interrupted: the fingerprint that stood alone is removed already, and
        // there is no passcode yet.
        if input.pending == .migration { return create(allowFingerprint, input, .migration) }
        if input.followsLogin { return .nothing(.followsLogin) }
        switch without {
        case .byChoice where allowNoPasscode: return .nothing(.withoutByChoice)
        case .byPolicyDefault where allowNoPasscode: return .nothing(.withoutByPolicyDefault)
        case .byChoice, .byPolicyDefault, .inNoPasscodeMode, .unknown:
            return create(allowFingerprint, input, .policy)
        }
    }
}

/// `followsLogin` and the reason for having no passcode do not matter here: there is no passcode
/// that could follow anything, and the person made no choice.
private func dueWithFingerprintAlone(_ input: DueInput) -> Due {
    switch input.target {
    case .noPasscodeMode: .steps([DueStep(.dropBoth, .migration)])
    case .inForce(_, let allowFingerprint, _): create(allowFingerprint, input, .migration)
    }
}

private func create(_ allowFingerprint: Bool, _ input: DueInput, _ reason: DueReason) -> Due {
    switch input.hardware {
    case .readerUsable where allowFingerprint:
        .steps([DueStep(.createOfferingFingerprint, reason)])
    case .readerUsable, .onlyExternal, .none: .steps([DueStep(.create, reason)])
    }
}

private func dueWithPasscode(_ input: DueInput) -> Due {
    switch input.target {
    case .noPasscodeMode: return .steps([DueStep(.dropPasscode, .policy)])
    case .inForce(_, let allowFingerprint, let demand):
        if input.followsLogin { return .nothing(.followsLogin) }
        let isNew = allowFingerprint && !input.fingerprintWasAllowed
        return steps([], change(input, demand), isNew ? [.announceFingerprint] : [])
    }
}

private func dueWithBoth(_ input: DueInput) -> Due {
    switch input.target {
    case .noPasscodeMode: return .steps([DueStep(.dropBoth, .policy)])
    case .inForce(_, let allowFingerprint, let demand):
        return steps(
            allowFingerprint ? [] : [.dropFingerprint],
            input.followsLogin ? .not(.followsLogin) : change(input, demand), [])
    }
}

/// Flow 3 (`change`), or why it is not due.
private enum Change {
    case due(DueStep)
    case not(NothingDue)
}

/// A recovery comes first: a person who used the recovery key has no passcode to go on with.
private func change(_ input: DueInput, _ demand: ChangeDemand) -> Change {
    if input.pending == .recovery { return .due(DueStep(.change, .recovery)) }
    let byPolicy = changeByPolicy(input, demand)
    if case .due(let step) = byPolicy, step.certainty == .certain { return byPolicy }
    // A change that is certain is reported rather than one that may be needed.
    return input.isExpired ? .due(DueStep(.change, .expired)) : byPolicy
}

private func changeByPolicy(_ input: DueInput, _ demand: ChangeDemand) -> Change {
    guard input.judgedDigest != input.presentDigest else { return .not(.sameRules) }
    // The store was made before digests were kept. An update of the package must not demand a new
    // passcode of everybody, and it is not known whether these rules changed. They count from the
    // next unlock on.
    guard input.judgedDigest.contains(where: { $0 != 0 }) else { return .not(.neverJudged) }
    switch demand {
    case .everybody: return .due(DueStep(.change, .policy))
    case .whoFallsShort:
        switch input.compliance {
        case .fallsShort: return .due(DueStep(.change, .policy))
        case .meetsTheRules: return .not(.meetsTheRules)
        case .notYetKnown: return .due(DueStep(.change, .policy, .onlyWhereItFallsShort))
        }
    }
}

private func steps(_ before: [Flow], _ change: Change, _ after: [Flow]) -> Due {
    func byPolicy(_ flows: [Flow]) -> [DueStep] { flows.map { DueStep($0, .policy) } }
    switch change {
    case .due(let step): return .steps(byPolicy(before) + [step] + byPolicy(after))
    case .not(let why):
        let flows = before + after
        return flows.isEmpty ? .nothing(why) : .steps(byPolicy(flows))
    }
}
