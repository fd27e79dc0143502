import KeySlots
import Policy
import Posix
import Wire
import Words

/// What `status` shows of a store.
extension StoreHost {
    package func state(
        _ inForce: PolicyInForce, _ voice: Voice, _ hardware: Hardware, sessions: Int,
        lock: State.Lock?
    ) -> State {
        let policy = inForce.policy
        let now = Self.now()
        var state = State(lock: lock ?? currentLock(policy))
        switch health {
        case .live: tellOfPasscode(in: &state, inForce, hardware)
        case .erased, .damaged, .barred: state.passcode = .unknown
        }
        state.followsLogin = followsLogin
        state.hasRecoveryKey = hasRecovery
        state.recoveryOffer = isRecoveryOfferDue(policy)
        state.store = id.bytes
        state.name = identity.storeName
        state.kind = kind
        state.parent = parent.map { isFollower ? $0.identity.storeName : [] } ?? []
        state.members = UInt16(clamping: sharedWith.count)
        state.policyKey = identity.policyKey
        state.owner = Subject(name: identity.account, uid: identity.uid)
        let tally = tally(policy)
        state.ownTriesLeft = Int32(clamping: tally.triesLeft(.own, policy) ?? -1)
        state.apartTriesLeft = Int32(clamping: tally.triesLeft(.apart, policy) ?? -1)
        if case .throttled(let seconds) = tally.verdict(.own, policy, now) {
            state.throttledSeconds = seconds
        }
        if case .throttled(let seconds) = tally.verdict(.apart, policy, now) {
            state.apartThrottledSeconds = seconds
        }
        state.records = records.count
        state.passcodeSetAt = snapshot.passcodes.first?.details.setAt ?? 0
        state.passcodeSource = passcodeSource
        state.idleTimeout =
            isOpen ? policy.idleSeconds(ownerHasSession: sessions > 0) : policy.idleTimeout
        if let until = timekeeper.heldUntil {
            let left = (until - min(until, Clock.bootMilliseconds())) / 1000
            state.heldUntil = left > 0 ? Clock.wallSeconds() + left : 0
        }
        state.fingerOpens =
            state.lock == .locked && fingerprintIsOn && policy.allowFingerprint
            && residentAge(policy) == .good && fingerFailuresLeft(policy) > 0
            && state.pending.isEmpty
        state.sessions = UInt32(clamping: sessions)
        let trouble = trouble(state.lock, policy)
        state.trouble = trouble.map { voice.bytes($0.what) } ?? []
        state.advice = trouble?.advice.map { voice.bytes($0) } ?? []
        return state
    }

    /// What a list of stores says of it.
    package func entry(_ policy: Policy) -> StoreList.Entry {
        var entry = StoreList.Entry()
        entry.store = id.bytes
        entry.name = identity.storeName
        entry.owner = Subject(name: identity.account, uid: identity.uid)
        entry.kind = kind
        entry.parent = parent.map { isFollower ? $0.identity.storeName : [] } ?? []
        entry.lock = currentLock(policy)
        entry.passcode = passcode
        entry.policyKey = identity.policyKey
        entry.createdAt = identity.createdAt
        entry.records = records.count
        entry.bytes = UInt64(clamping: records.bytes)
        entry.members = UInt16(clamping: sharedWith.count)
        return entry
    }

    private var passcodeSource: State.Source {
        switch snapshot.passcodes.first?.details.source {
        case .user?: .user
        case .device?: .device
        case .unknown?, nil: .unknown
        }
    }

    /// Unknown where no slot of its own opens it.
    private var passcode: State.Passcode {
        guard isUsable, identity.kind == .own else { return .unknown }
        return switch passcodeState {
        case .none: .none
        case .passcode: .passcode
        case .passcodeAndFingerprint, .fingerprintOnly: .passcodeAndFingerprint
        }
    }

    /// Fills in what opens the store, for how long, and what is due before it opens again.
    private func tellOfPasscode(
        in state: inout State, _ inForce: PolicyInForce, _ hardware: Hardware
    ) {
        state.passcode = passcode
        switch expiry(inForce.policy) {
        case .never, .clockNotBelieved: state.expiresAt = 0
        case .expires(let end), .expired(let end): state.expiresAt = end
        }
        let due = due(inForce, hardware, compliance(inForce.policy))
        state.pending = due.flows.map(\.rawValue)
        state.pendingReason =
            switch due.reason {
            case nil: .none
            case .policy: .policy
            case .migration: .migration
            case .recovery: .recovery
            case .expired: .expired
            }
        if followsLogin {
            state.meetsRules =
                switch compliance(inForce.policy) {
                case .notYetKnown: .unknown
                case .meetsTheRules: .yes
                case .fallsShort: .no
                }
        }
        state.recoveryOffer =
            inForce.policy.allowRecoveryKey && !hasRecovery && !snapshot.terms.recoveryWasOffered
    }

    package var kind: StoreKind {
        switch identity.kind {
        case .own: .own
        case .follows: .follows
        case .shared: .shared
        case .configuration: .configuration
        }
    }

    /// Flow 1 or 2 may follow; which of them depends on whether there is a reader.
    package var mayGetPasscode: Bool {
        if identity.kind != .own { return false }
        return switch passcodeState {
        case .none, .fingerprintOnly: true
        case .passcode, .passcodeAndFingerprint: false
        }
    }

    package func currentLock(_ policy: Policy) -> State.Lock {
        switch health {
        case .erased: return .erased
        case .damaged: return .damaged
        case .barred: return .barred
        case .live:
            if records.damage?.isOfAllRecords == true || mayBeErasing(policy) { return .damaged }
            if isOpen { return .unlocked }
            return hasPasscode && isRetryLocked(policy) ? .retryLocked : .locked
        }
    }

    /// The store is in use, and something in it is damaged.
    private var troubleOfRecords: (what: Phrase, advice: Phrase?)? {
        if let damage = records.damage { return (damage.phrase, damage.advice) }
        guard records.marked > 0 else { return nil }
        return (Phrase(.troubleRecordsMarked), Phrase(.adviceMend))
    }

    package func trouble(_ lock: State.Lock, _ policy: Policy) -> (what: Phrase, advice: Phrase?)? {
        switch lock {
        case .absent: return nil
        case .locked, .unlocked:
            if let trouble = troubleOfRecords { return trouble }
            guard records.keepsLogs else { return nil }
            return (Refusal.Damage.recordsJournal.phrase, Phrase(.adviceLostChanges))
        case .erased: return (gone.message, gone.hint)
        case .barred:
            guard let bar else { return nil }
            return (Refusal.barred(bar).message, Refusal.barred(bar).hint)
        case .retryLocked:
            let refusal = limitReached(policy)
            return (refusal.message, refusal.hint)
        case .ownerChanged:
            return (
                Phrase(
                    .troubleOwnerChanged, .count(identity.uid), .text(Text.clean(identity.account))),
                Phrase(.adviceOwnerChanged, .text(id.description))
            )
        case .damaged:
            let what: Refusal.Damage
            if case .damaged(let found) = health {
                what = found
            } else if mayBeErasing(policy) {
                what = .slotsBlock(0)
            } else {
                what = records.damage ?? .unknown
            }
            // Nothing is advised that would be refused.
            let recovers =
                isRecoverable && policy.allowRecoveryKey && !mayBeErasing(policy)
            return (what.phrase, Phrase(recovers ? .adviceRecover : .adviceRestore))
        }
    }
}

extension StoreHost {
    /// A store that opens without a passcode needs no other way in.
    package func isRecoveryOfferDue(_ policy: Policy) -> Bool {
        isUsable && hasPasscode && !hasRecovery && policy.allowRecoveryKey
            && !snapshot.terms.recoveryWasOffered
    }
}
