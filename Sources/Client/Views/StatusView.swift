import Policy
import Posix
import ToolTexts
import Wire

/// `status`: a short block for a person, an object for a program.
enum StatusView {
    static func text(_ state: State, _ voice: Voice, _ words: OwnWords) -> [UInt8] {
        let paint = voice.outputPaint
        var block = TitledBlock(paint, words)
        func row(_ title: ToolText, _ text: [UInt8]) { block.add(title, text) }
        func painted(_ text: [UInt8], _ colour: Voice.Colour) -> [UInt8] {
            Array(paint.painted(String(decoding: text, as: UTF8.self), colour).utf8)
        }
        func id() {
            if hasID(state) { row(.titleID, Array(StoreIDText.text(state.store).utf8)) }
        }
        let name = state.name.isEmpty ? Array("default".utf8) : Printable.escaped(state.name)
        let owner = Printable.escaped(state.owner.name)
        row(.titleStore, owner.isEmpty ? name : words(.storeOf, name, owner))
        let (lock, colour) = text(state)
        row(.titleState, painted(words(lock), colour))
        switch state.lock {
        case .absent: break
        case .erased: id()
        case .locked, .unlocked, .retryLocked, .damaged, .ownerChanged, .barred:
            row(.titleOpensWith, way(state, words))
            if isForMembers(state.kind) {
                row(.titleRole, words(StoreListView.text(state.role)))
                row(.titleMembers, Text(Int(state.members)).bytes)
            }
            if hasPasscode(state) {
                row(.titleFinger, words(finger(state)))
                row(.titleTries, tries(state, words))
            }
            if hasPasscode(state) || state.kind == .shared {
                row(.titleRecovery, words(state.hasRecoveryKey ? .recoveryYes : .recoveryNo))
            }
            if !isUnderDefaultPolicy(state) {
                row(.titlePolicy, Printable.escaped(state.policyKey))
            }
            if let wait = wait(state, words) { row(.titleWait, wait) }
            if state.lock == .unlocked {
                row(.titleRecords, Text(state.records).bytes)
                // They keep a member's own store open.
                if !isForMembers(state.kind) {
                    row(.titleSessions, Text(Int(state.sessions)).bytes)
                }
            }
            if state.used > 0 { row(.titleSpace, space(state, words)) }
            if hasPasscode(state) {
                if state.passcodeSetAt > 0 {
                    row(.titleSet, set(state.passcodeSetAt, ToolIO.now, words))
                }
                if state.expiresAt > 0 { row(.titleExpires, expiry(state, words)) }
                if state.followsLogin { row(.titleRules, words(rules(state))) }
            }
            if let locks = locks(state, words) { row(.titleLocks, locks) }
            if !state.pending.isEmpty { row(.titleDue, painted(due(state, words), .yellow)) }
            id()
        }
        if !state.trouble.isEmpty {
            row(.titleTrouble, painted(Printable.escaped(state.trouble), .red))
        }
        return block.bytes
    }

    private static func hasPasscode(_ state: State) -> Bool {
        switch state.passcode {
        case .passcode, .passcodeAndFingerprint: true
        case .unknown, .none: false
        }
    }

    private static func isForMembers(_ kind: StoreKind) -> Bool {
        switch kind {
        case .shared, .configuration: true
        case .own, .follows: false
        }
    }

    /// When it locks by itself; nil where it does not.
    private static func locks(_ state: State, _ words: OwnWords) -> [UInt8]? {
        switch state.kind {
        case .shared: return words(.locksMembers)
        case .configuration: return nil
        case .own, .follows: break
        }
        if state.heldUntil > 0 {
            return words(.locksHeld, ToolIO.localTime(state.heldUntil))
        }
        return state.idleTimeout > 0
            ? words(.locksIdle, span(state.idleTimeout, words)) : nil
    }

    private static func isUnderDefaultPolicy(_ state: State) -> Bool {
        state.policyKey.isEmpty || state.policyKey == Array("default".utf8)
    }

    private static func hasID(_ state: State) -> Bool {
        state.store.contains { $0 != 0 }
    }

    /// What to do next: the daemon's advice, or our own if it gave none.
    static func advice(_ state: State, _ words: OwnWords) -> [UInt8]? {
        if !state.advice.isEmpty { return state.advice }
        if !state.pending.isEmpty, state.lock == .locked || state.lock == .unlocked {
            return words(.nextDue)
        }
        switch state.lock {
        case .absent, .erased: return words(.nextCreate)
        case .locked: return words(.nextUnlock)
        case .retryLocked: return state.hasRecoveryKey ? words(.nextRecover) : nil
        case .ownerChanged: return words(.nextChown, StoreIDText.text(state.store))
        case .unlocked where hasPasscode(state) && state.meetsRules == .no:
            return words(.nextPasswd)
        case .unlocked where hasPasscode(state) && !state.hasRecoveryKey:
            return words(.nextRecoveryNew)
        case .unlocked, .damaged, .barred: return nil
        }
    }

    private static func text(_ state: State) -> (ToolText, Voice.Colour) {
        state.fingerOpens && state.lock == .locked
            ? (.stateLockedFinger, .yellow) : text(state.lock)
    }

    static func text(_ lock: State.Lock) -> (ToolText, Voice.Colour) {
        switch lock {
        case .absent: (.stateAbsent, .yellow)
        case .locked: (.stateLocked, .yellow)
        case .unlocked: (.stateOpen, .green)
        case .erased: (.stateErased, .red)
        case .retryLocked: (.stateRetryLocked, .red)
        case .damaged: (.stateDamaged, .red)
        case .ownerChanged: (.stateOwnerChanged, .red)
        case .barred: (.stateBarred, .red)
        }
    }

    private static func way(_ state: State, _ words: OwnWords) -> [UInt8] {
        switch state.kind {
        case .own: break
        case .shared: return words(.wayShared)
        case .configuration: return words(.wayConfiguration)
        case .follows:
            return state.parent.isEmpty
                ? words(.wayParentGone) : words(.wayParent, Printable.escaped(state.parent))
        }
        return switch state.passcode {
        case .unknown: words(.wayUnknown)
        case .none: words(.wayNone)
        case .passcode, .passcodeAndFingerprint:
            words(state.followsLogin ? .wayFollows : .wayOwn)
        }
    }

    static func name(_ kind: StoreKind) -> String {
        switch kind {
        case .own: "own"
        case .follows: "follows"
        case .shared: "shared"
        case .configuration: "configuration"
        }
    }

    private static func finger(_ state: State) -> ToolText {
        state.passcode == .passcodeAndFingerprint ? .fingerOn : .fingerOff
    }

    /// If the clock was turned back, the age is "today".
    static func set(_ setAt: UInt64, _ now: UInt64, _ words: OwnWords) -> [UInt8] {
        let time = ToolIO.localTime(setAt)
        return switch now > setAt ? (now - setAt) / 86_400 : 0 {
        case 0: words(.ageToday, time)
        case 1: words(.ageOne, time)
        case let days: words(.ageDays, time, days)
        }
    }

    private static func expiry(_ state: State, _ words: OwnWords) -> [UInt8] {
        let time = ToolIO.localTime(state.expiresAt)
        return state.pendingReason == .expired ? words(.expiresPast, time) : Text(time).bytes
    }

    private static func rules(_ state: State) -> ToolText {
        switch state.meetsRules {
        case .unknown: .rulesUnknown
        case .yes: .rulesMet
        case .no: .rulesUnmet
        }
    }

    private static func due(_ state: State, _ words: OwnWords) -> [UInt8] {
        let flows = FlowWords.words(state.pending, words)
        return switch state.pendingReason {
        case .none: flows
        case .policy: words(.becausePolicy, flows)
        case .migration: words(.becauseMigration, flows)
        case .recovery: words(.becauseRecovery, flows)
        case .expired: words(.becauseExpired, flows)
        }
    }

    private static func tries(_ state: State, _ words: OwnWords) -> [UInt8] {
        let own = left(state.ownTriesLeft, words)
        let apart = left(state.apartTriesLeft, words)
        return own == apart ? own : words(.triesApart, own, apart)
    }

    private static func left(_ tries: Int32, _ words: OwnWords) -> [UInt8] {
        switch tries {
        case ..<0: words(.triesNoLimit)
        case 0: words(.triesNone)
        default: words(.triesLeft, Int(tries))
        }
    }

    /// Until the next try, at each of the two places; nil where one is possible at both.
    private static func wait(_ state: State, _ words: OwnWords) -> [UInt8]? {
        let (here, elsewhere) = (state.throttledSeconds, state.apartThrottledSeconds)
        func time(_ seconds: UInt32) -> [UInt8] {
            seconds > 0 ? span(seconds, words) : words(.waitNone)
        }
        if here == 0, elsewhere == 0 { return nil }
        if here == elsewhere { return words(.waitNext, span(here, words)) }
        return words(.waitApart, time(here), time(elsewhere))
    }

    private static func space(_ state: State, _ words: OwnWords) -> [UInt8] {
        let used = ByteAmount.text(state.used)
        switch state.role {
        case .owner, .none: break
        case .writer, .reader: return Text(used).bytes
        }
        if state.quota == 0 { return words(.spaceAll, used) }
        return words(.spaceQuota, used, ByteAmount.text(state.quota))
    }

    private static func span(_ seconds: UInt32, _ words: OwnWords) -> [UInt8] {
        let seconds = Int(seconds)
        return switch seconds {
        case ..<120: words(.spanSeconds, seconds)
        case ..<7200: words(.spanMinutes, (seconds + 59) / 60)
        default: words(.spanHours, (seconds + 3599) / 3600)
        }
    }

    static func write(_ state: State, to json: inout JSON) {
        json.field("state", name(state.lock))
        json.field("passcode", name(state.passcode))
        json.field("followsLogin", state.followsLogin)
        json.field("recoveryKey", state.hasRecoveryKey)
        if hasID(state) {
            json.field("store", StoreIDText.text(state.store))
        } else {
            json.null("store")
        }
        json.field("name", state.name)
        json.field("owner", state.owner.name)
        if state.owner.uid == Subject.unknownUID {
            json.null("uid")
        } else {
            json.field("uid", Int(state.owner.uid))
        }
        json.field("kind", name(state.kind))
        json.fieldOrNull("parent", state.parent.isEmpty ? nil : state.parent)
        json.field("role", StoreListView.name(state.role))
        json.field("members", Int(state.members))
        json.field("policyKey", state.policyKey)
        json.field("ownTriesLeft", Int(state.ownTriesLeft))
        json.field("apartTriesLeft", Int(state.apartTriesLeft))
        json.field("throttledSeconds", Int(state.throttledSeconds))
        json.field("apartThrottledSeconds", Int(state.apartThrottledSeconds))
        json.field("records", state.records)
        json.field("used", state.used)
        json.field("quota", state.quota)
        json.field("passcodeSetAt", state.passcodeSetAt)
        json.field("passcodeSource", "\(state.passcodeSource)")
        json.field("expiresAt", state.expiresAt)
        json.field("idleTimeout", Int(state.idleTimeout))
        json.field("heldUntil", state.heldUntil)
        json.field("fingerOpens", state.fingerOpens)
        json.objects("pending", state.pending) { json, flow in
            json.field("number", Int(flow))
            json.field("name", FlowWords.name(flow))
        }
        if let reason = name(state.pendingReason) {
            json.field("pendingReason", reason)
        } else {
            json.null("pendingReason")
        }
        switch state.meetsRules {
        case .unknown: json.null("meetsRules")
        case .yes: json.field("meetsRules", true)
        case .no: json.field("meetsRules", false)
        }
        json.field("recoveryOffer", state.recoveryOffer)
        json.field("sessions", Int(state.sessions))
        json.field("trouble", state.trouble)
        json.field("advice", state.advice)
    }

    static func name(_ lock: State.Lock) -> String {
        switch lock {
        case .absent: "absent"
        case .locked: "locked"
        case .unlocked: "unlocked"
        case .erased: "erased"
        case .retryLocked: "retry-locked"
        case .damaged: "damaged"
        case .ownerChanged: "owner-changed"
        case .barred: "barred"
        }
    }

    private static func name(_ reason: State.PendingReason) -> String? {
        switch reason {
        case .none: nil
        case .policy: "policy"
        case .migration: "migration"
        case .recovery: "recovery"
        case .expired: "expired"
        }
    }

    static func name(_ passcode: State.Passcode) -> String {
        switch passcode {
        case .unknown: "unknown"
        case .none: "none"
        case .passcode: "passcode"
        case .passcodeAndFingerprint: "passcode+fingerprint"
        }
    }
}
