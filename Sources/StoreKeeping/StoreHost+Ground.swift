import KeySlots
import Words

/// What a store key rests on. If another exchange removes that, the key no longer allows anything.
package enum Ground: Equatable, Sendable {
    /// The store has no passcode, so no person was asked.
    case device
    /// The passcode slot with this salt.
    case passcode(salt: [UInt8])
    /// The recovery slot with this sequence number.
    case recovery(UInt64)
    /// A finger, and the key that a passcode has left in memory for the finger.
    case finger
    /// A recovery key, for a store that is not under this machine's key.
    case foreign
}

extension StoreHost {
    /// Checks that the ground still stands: a person may take minutes between two answers, and
    /// another exchange may change the store meanwhile.
    package func require(_ ground: Ground) throws(Refusal) {
        guard stands(ground) else { throw .passcodeChanged }
    }

    private func stands(_ ground: Ground) -> Bool {
        switch ground {
        case .device: !hasPasscode
        case .passcode: slot(of: ground) != nil
        case .recovery(let sequence): snapshot.recovery.contains { $0.sequence == sequence }
        case .finger: fingerprintIsOn && resident != nil
        case .foreign: foreign != nil
        }
    }

    /// The passcode slot that was proven, as it is now.
    package func slot(of ground: Ground) -> PasscodeSlot? {
        switch ground {
        case .passcode(let salt): snapshot.passcodes.first { $0.details.salt == salt }
        case .device, .recovery, .finger, .foreign: nil
        }
    }
}
