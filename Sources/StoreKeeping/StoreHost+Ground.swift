import KeySlots
import Words

extension StoreHost {
    /// Checks that the ground still stands: a person may take minutes between two answers, and
    /// another exchange may change the store meanwhile.
    package func require(_ ground: Ground) throws(Refusal) {
        guard stands(ground) else { throw .passcodeChanged }
    }

    private func stands(_ ground: Ground) -> Bool {
        switch ground {
        case .device: !hasPasscode && !isFollower && !isShared
        case .passcode: slot(of: ground) != nil
        case .recovery(let sequence): snapshot.recovery.contains { $0.sequence == sequence }
        case .finger: fingerprintIsOn && resident != nil
        case .parent(nil): isFollower
        case .parent(let proven?): isFollower && parent?.stands(proven) == true
        // What was shown was shown at the member's own store.
        case .member: isShared
        case .foreign: foreign != nil
        }
    }

    /// The passcode slot that was proven, as it is now.
    package func slot(of ground: Ground) -> PasscodeSlot? {
        switch ground {
        case .passcode(let salt): snapshot.passcodes.first { $0.details.salt == salt }
        case .device, .recovery, .finger, .parent, .member, .foreign: nil
        }
    }
}
