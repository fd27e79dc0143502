import Policy

/// What the daemon remembers about a store, beside its slots: block 8. Stores of an earlier release
/// have an empty block, which reads as `Terms()`.
public struct Terms: Equatable, Sendable {
    static let block = 8

    /// AllowFingerprint when the store was judged last. True by default: a store that was never
    /// judged is not told that fingerprints are newly allowed.
    public var fingerprintWasAllowed: Bool
    /// Whoever turns fingers on again agrees anew to what theirs may do.
    public var fingerprintIsOn: Bool { didSet { if !fingerprintIsOn { fingersTellWho = false } } }
    /// A finger of this store may be looked for among those of its owner's other stores.
    public var fingersTellWho: Bool
    /// The recovery key was offered, and the daemon does not offer it again by itself.
    public var recoveryWasOffered: Bool
    /// The latest time that a trusted clock showed here, in seconds since 1970; 0 where there is
    /// none.
    public var seenAt: UInt64
    /// Failed matches since the passcode was last typed or a finger last matched. Each is counted
    /// before its scan begins.
    public var fingerFailures: UInt8
    /// A member was removed, and the store has not got its new key yet.
    public var newKeyIsDue: Bool
    private var marker: Marker?

    private struct Marker: Equatable {
        var pending: Pending
        /// The salt of the passcode slot when the flow began; zero where there was none.
        var salt: [UInt8]
    }

    /// A flow that began and has not ended.
    public struct Pending: Equatable, Sendable {
        public var flow: Flow
        public var reason: DueReason

        public init(_ flow: Flow, _ reason: DueReason) {
            self.flow = flow
            self.reason = reason
        }
    }

    public init(
        fingerprintWasAllowed: Bool = true, fingerprintIsOn: Bool = false,
        recoveryWasOffered: Bool = false, seenAt: UInt64 = 0, fingerFailures: UInt8 = 0,
        newKeyIsDue: Bool = false, fingersTellWho: Bool = false
    ) {
        self.fingerprintWasAllowed = fingerprintWasAllowed
        self.fingerprintIsOn = fingerprintIsOn
        self.recoveryWasOffered = recoveryWasOffered
        self.seenAt = seenAt
        self.fingerFailures = fingerFailures
        self.newKeyIsDue = newKeyIsDue
        self.fingersTellWho = fingersTellWho
    }

    /// Marks a flow as begun at a store with this passcode, or without one.
    package mutating func begin(_ pending: Pending, on slot: PasscodeSlot?) {
        marker = Marker(pending: pending, salt: Self.salt(slot))
    }

    public mutating func end() {
        marker = nil
    }

    /// The flow that began at this same passcode. Once another passcode has replaced it the flow
    /// has ended, even if a crash came before the marker was removed.
    package func pending(on slot: PasscodeSlot?) -> Pending? {
        guard let marker, marker.salt == Self.salt(slot) else { return nil }
        return marker.pending
    }

    private static func salt(_ slot: PasscodeSlot?) -> [UInt8] {
        slot?.details.salt ?? [UInt8](repeating: 0, count: PasscodeDetails.saltSize)
    }

    func payload() -> [UInt8] {
        var writer = FieldWriter()
        writer.put(seenAt)
        for flag in [fingerprintWasAllowed, fingerprintIsOn, recoveryWasOffered] {
            writer.put(UInt8(flag ? 1 : 0))
        }
        writer.put(marker?.pending.flow.rawValue ?? 0)
        writer.put(marker?.pending.reason.rawValue ?? 0)
        writer.put(marker?.salt ?? Self.salt(nil))
        writer.put(fingerFailures)
        writer.put(UInt8(newKeyIsDue ? 1 : 0))
        writer.put(UInt8(fingersTellWho ? 1 : 0))
        return writer.bytes
    }

    init(payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let seenAt = reader.number(UInt64.self), let allowed = reader.flag(),
            let isOn = reader.flag(), let offered = reader.flag(),
            let flow = reader.number(UInt8.self), let reason = reader.number(UInt8.self),
            let salt = reader.bytes(PasscodeDetails.saltSize),
            let failures = reader.number(UInt8.self), let newKeyIsDue = reader.flag(),
            let tellsWho = reader.flag(),
            reader.restIsZero
        else { throw .damaged(.block(Self.block)) }
        self.init(
            fingerprintWasAllowed: allowed, fingerprintIsOn: isOn, recoveryWasOffered: offered,
            seenAt: seenAt, fingerFailures: failures, newKeyIsDue: newKeyIsDue,
            fingersTellWho: tellsWho)
        if flow == 0, reason == 0, salt == Self.salt(nil) { return }
        guard let flow = Flow(rawValue: flow), let reason = DueReason(rawValue: reason)
        else { throw .damaged(.block(Self.block)) }
        marker = Marker(pending: Pending(flow, reason), salt: salt)
    }
}

extension PasscodeState {
    /// The state that follows from a store's slots, terms and identity.
    public init(hasPasscode: Bool, _ terms: Terms, _ identity: Identity) {
        switch (hasPasscode, terms.fingerprintIsOn) {
        case (true, true): self = .passcodeAndFingerprint
        case (true, false): self = .passcode
        case (false, true): self = .fingerprintOnly
        case (false, false):
            switch identity.withoutPasscode {
            case .byChoice: self = .none(.byChoice)
            case .byPolicyDefault: self = .none(.byPolicyDefault)
            case .inNoPasscodeMode: self = .none(.inNoPasscodeMode)
            case .hasPasscode: self = .none(.unknown)
            }
        }
    }
}
