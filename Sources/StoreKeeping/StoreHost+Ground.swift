import KeySlots
import Words

/// What a store key rests on. Where that is gone, by whatever was done meanwhile, so is what the key
/// lets anybody do.
package enum Ground: Equatable, Sendable {
    /// State none: nobody was asked.
    case device
    /// The passcode slot with this salt.
    case passcode(salt: [UInt8])
    /// The recovery slot with this sequence number.
    case recovery(UInt64)
    /// A finger, and the key that a passcode has left in memory for it.
    case finger
    /// A recovery key, at a store that is not under this machine's key.
    case foreign
}

extension StoreHost {
    /// A person may take minutes between two answers, and another exchange does not wait for them.
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
