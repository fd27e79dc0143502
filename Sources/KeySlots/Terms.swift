import Policy

/// On what terms a store was left, beside its slots: block 8. A store made before has none, and `Terms()` is what
/// holds there.
public struct Terms: Equatable, Sendable {
    static let block = 8

    /// AllowFingerprint when the store was judged last. A store that was never judged has heard of nothing new.
    public var fingerprintWasAllowed: Bool
    public var fingerprintIsOn: Bool
    /// The recovery key was offered, and is not offered again by itself.
    public var recoveryWasOffered: Bool
    /// The latest time at which a clock that was believed was seen here, in seconds since 1970; 0 where none was.
    public var seenAt: UInt64
    /// Failed matches since the passcode was typed or a finger matched; each is counted before its scan begins.
    public var fingerFailures: UInt8
    private var marker: Marker?

    private struct Marker: Equatable {
        var pending: Pending
        /// Of the passcode that was there when the flow began; zero without one.
        var salt: [UInt8]
    }

    /// A flow that began and was not ended.
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
        recoveryWasOffered: Bool = false, seenAt: UInt64 = 0, fingerFailures: UInt8 = 0
    ) {
        self.fingerprintWasAllowed = fingerprintWasAllowed
        self.fingerprintIsOn = fingerprintIsOn
        self.recoveryWasOffered = recoveryWasOffered
        self.seenAt = seenAt
        self.fingerFailures = fingerFailures
    }

    /// The marker of a flow that begins at a store with this passcode, or with none.
    package mutating func begin(_ pending: Pending, on slot: PasscodeSlot?) {
        marker = Marker(pending: pending, salt: Self.salt(slot))
    }

    public mutating func end() {
        marker = nil
    }

    /// What began at this very passcode. With another one in its place the flow is ended, even where a crash came
    /// before the marker could go.
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
        return writer.bytes
    }

    init(payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let seenAt = reader.number(UInt64.self), let allowed = reader.flag(),
            let isOn = reader.flag(), let offered = reader.flag(),
            let flow = reader.number(UInt8.self), let reason = reader.number(UInt8.self),
            let salt = reader.bytes(PasscodeDetails.saltSize),
            let failures = reader.number(UInt8.self), reader.restIsZero
        else { throw .damaged(.block(Self.block)) }
        self.init(
            fingerprintWasAllowed: allowed, fingerprintIsOn: isOn, recoveryWasOffered: offered,
            seenAt: seenAt, fingerFailures: failures)
        if flow == 0, reason == 0, salt == Self.salt(nil) { return }
        guard let flow = Flow(rawValue: flow), let reason = DueReason(rawValue: reason)
        else { throw .damaged(.block(Self.block)) }
        marker = Marker(pending: Pending(flow, reason), salt: salt)
    }
}

extension PasscodeState {
    /// What a store's slots and terms say of it.
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
