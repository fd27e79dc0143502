import KeySlots
import Policy
import Posix
import Wire

/// What `status` shows of a store.
extension StoreHost {
    func state(_ policy: Policy, sessions: Int, lock: State.Lock?) -> State {
        let now = Self.now()
        var state = State(lock: lock ?? currentLock(policy))
        switch health {
        case .live: state.passcode = hasPasscode ? .passcode : .none
        case .erased, .damaged: state.passcode = .unknown
        }
        state.followsLogin = followsLogin
        state.hasRecoveryKey = hasRecovery
        state.store = id.bytes
        state.name = identity.storeName
        state.owner = Subject(name: identity.account, uid: identity.uid)
        let tally = snapshot.tally
        state.ownTriesLeft = Int32(clamping: tally.triesLeft(.own, policy) ?? -1)
        state.apartTriesLeft = Int32(clamping: tally.triesLeft(.apart, policy) ?? -1)
        if case .throttled(let seconds) = tally.verdict(.own, policy, now) {
            state.throttledSeconds = seconds
        }
        state.records = records.count
        state.passcodeSetAt = snapshot.passcodes.first?.details.setAt ?? 0
        state.sessions = UInt32(clamping: sessions)
        let trouble = trouble(state.lock)
        state.trouble = Text.clean(trouble.what, limit: Limits.line)
        state.advice = Text.clean(trouble.advice, limit: Limits.line)
        return state
    }

    func currentLock(_ policy: Policy) -> State.Lock {
        switch health {
        case .erased: return .erased
        case .damaged: return .damaged
        case .live:
            if records.damage != nil { return .damaged }
            if records.isOpen { return .unlocked }
            return hasPasscode && snapshot.tally.isRetryLocked(policy) ? .retryLocked : .locked
        }
    }

    func trouble(_ lock: State.Lock) -> (what: String, advice: String) {
        switch lock {
        case .absent, .locked, .unlocked: return ("", "")
        case .erased: return (Refusal.deleted.message, Refusal.deleted.hint)
        case .retryLocked:
            let refusal = Refusal.retryLimitReached(erased: false)
            return (refusal.message, refusal.hint)
        case .ownerChanged:
            return (
                "the store was made for uid \(identity.uid), \(Text.clean(identity.account))",
                "root moves it: appvault chown \(id) USER, or erases it: appvault reset --user USER"
            )
        case .damaged:
            let what: String
            if case .damaged(let found) = health {
                what = found
            } else {
                what = records.damage ?? "unknown"
            }
            if isRecoverable {
                return (
                    what,
                    "`appvault recover` brings it back with the recovery key; or restore a backup"
                )
            }
            return (
                what, "restore the state folder from a backup; nothing here overwrites what is left"
            )
        }
    }
}
