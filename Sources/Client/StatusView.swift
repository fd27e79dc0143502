import Posix
import Wire

/// `status`: a short block for a person, an object for a program.
enum StatusView {
    static func text(_ state: State, _ voice: Voice) -> [UInt8] {
        var text = Text()
        func row(_ title: String, _ pieces: any TextPiece...) {
            let padding = String(repeating: " ", count: max(0, 11 - title.utf8.count))
            text += voice.outputPaint.painted(title, .faint) + padding
            for piece in pieces { text += piece }
            text += "\n"
        }
        let name = state.name.isEmpty ? Array("default".utf8) : Printable.escaped(state.name)
        let owner = Printable.escaped(state.owner.name)
        row("store", name, owner.isEmpty ? "" : Text(" of ", owner))
        let (lock, colour) = words(state.lock)
        row("state", voice.outputPaint.painted(lock, colour))
        switch state.lock {
        case .absent: break
        case .erased: id(state, row)
        case .locked, .unlocked, .retryLocked, .damaged, .ownerChanged:
            row("opens with", way(state))
            if hasPasscode(state) {
                row("finger", finger(state))
                row("tries", tries(state))
                row("recovery", state.hasRecoveryKey ? "a recovery key exists" : "no recovery key")
            }
            if state.throttledSeconds > 0 {
                row("wait", span(state.throttledSeconds), " until the next try")
            }
            if state.lock == .unlocked {
                row("records", state.records)
                row("sessions", Int(state.sessions))
            }
            if hasPasscode(state) {
                if state.passcodeSetAt > 0 {
                    let age = age(state.passcodeSetAt, ToolIO.now)
                    row("set", ToolIO.localTime(state.passcodeSetAt), age)
                }
                if state.expiresAt > 0 { row("expires", expiry(state)) }
                if state.followsLogin { row("rules", rules(state)) }
            }
            if state.idleTimeout > 0 {
                row("locks", "after ", span(state.idleTimeout), " without a request")
            }
            if !state.pending.isEmpty {
                let words = FlowWords.words(state.pending) + because(state.pendingReason)
                row("due", voice.outputPaint.painted(words, .yellow))
            }
            id(state, row)
        }
        if !state.trouble.isEmpty {
            row(
                "trouble",
                voice.outputPaint.painted(
                    String(decoding: Printable.escaped(state.trouble), as: UTF8.self), .red))
        }
        return text.bytes
    }

    private static func id(_ state: State, _ row: (String, any TextPiece...) -> Void) {
        if hasID(state) { row("id", StoreID.text(state.store)) }
    }

    private static func hasPasscode(_ state: State) -> Bool {
        switch state.passcode {
        case .passcode, .passcodeAndFingerprint: true
        case .unknown, .none: false
        }
    }

    private static func hasID(_ state: State) -> Bool {
        state.store.contains { $0 != 0 }
    }

    /// What to do next, where the daemon did not say.
    static func advice(_ state: State) -> [UInt8]? {
        if !state.advice.isEmpty { return state.advice }
        if !state.pending.isEmpty, state.lock == .locked || state.lock == .unlocked {
            return Array("`appvault unlock` goes on with what is due".utf8)
        }
        let words: String? =
            switch state.lock {
            case .absent, .erased: "`appvault create` makes one"
            case .locked: "`appvault unlock` opens it"
            case .retryLocked: "`appvault recover` opens it with the recovery key"
            case .ownerChanged:
                "root moves it with `appvault chown \(StoreID.text(state.store)) USER`"
            case .unlocked:
                hasPasscode(state) && state.meetsRules == .no
                    ? "`passwd` sets another login password"
                    : hasPasscode(state) && !state.hasRecoveryKey
                        ? "`appvault recovery new` makes a way back for a forgotten passcode" : nil
            case .damaged: nil
            }
        return words.map { Array($0.utf8) }
    }

    private static func words(_ lock: State.Lock) -> (String, Voice.Colour) {
        switch lock {
        case .absent: ("there is none", .yellow)
        case .locked: ("locked", .yellow)
        case .unlocked: ("open", .green)
        case .erased: ("erased", .red)
        case .retryLocked: ("locked after too many wrong tries", .red)
        case .damaged: ("damaged", .red)
        case .ownerChanged: ("shut: its owner's account has changed", .red)
        }
    }

    private static func way(_ state: State) -> String {
        switch state.passcode {
        case .unknown: "unknown"
        case .none: "no passcode: it is encrypted, but opens for its owner without a question"
        case .passcode, .passcodeAndFingerprint:
            state.followsLogin ? "the login password" : "a passcode of its own"
        }
    }

    private static func finger(_ state: State) -> String {
        state.passcode == .passcodeAndFingerprint ? "a fingerprint opens it as well" : "not in use"
    }

    /// A clock that was turned back makes nothing younger than today.
    static func age(_ setAt: UInt64, _ now: UInt64) -> String {
        switch now > setAt ? (now - setAt) / 86_400 : 0 {
        case 0: " (today)"
        case 1: " (1 day ago)"
        case let days: " (\(days) days ago)"
        }
    }

    private static func expiry(_ state: State) -> Text {
        let time = ToolIO.localTime(state.expiresAt)
        return state.pendingReason == .expired ? Text("it has, ", time) : Text(time)
    }

    private static func rules(_ state: State) -> String {
        switch state.meetsRules {
        case .unknown: "whether the login password meets them shows at the next login"
        case .yes: "the login password meets them"
        case .no: "the login password does not meet them"
        }
    }

    private static func because(_ reason: State.PendingReason) -> String {
        switch reason {
        case .none: ""
        case .policy: ": the rules have changed"
        case .migration: ": the store comes from an older release"
        case .recovery: ": the recovery key was used"
        case .expired: ": the passcode has expired"
        }
    }

    private static func tries(_ state: State) -> String {
        let own = left(state.ownTriesLeft)
        let apart = left(state.apartTriesLeft)
        return own == apart ? own : "\(own) at this machine, \(apart) from elsewhere"
    }

    private static func left(_ tries: Int32) -> String {
        switch tries {
        case ..<0: "no limit"
        case 0: "none left"
        default: "\(tries) left"
        }
    }

    private static func span(_ seconds: UInt32) -> String {
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7200 ? "\((seconds + 59) / 60) min" : "\((seconds + 3599) / 3600) h"
    }

    static func write(_ state: State, to json: inout JSON) {
        json.field("state", name(state.lock))
        json.field("passcode", name(state.passcode))
        json.field("followsLogin", state.followsLogin)
        json.field("recoveryKey", state.hasRecoveryKey)
        if hasID(state) {
            json.field("store", StoreID.text(state.store))
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
        json.field("ownTriesLeft", Int(state.ownTriesLeft))
        json.field("apartTriesLeft", Int(state.apartTriesLeft))
        json.field("throttledSeconds", Int(state.throttledSeconds))
        json.field("records", state.records)
        json.field("passcodeSetAt", state.passcodeSetAt)
        json.field("expiresAt", state.expiresAt)
        json.field("idleTimeout", Int(state.idleTimeout))
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

    private static func name(_ lock: State.Lock) -> String {
        switch lock {
        case .absent: "absent"
        case .locked: "locked"
        case .unlocked: "unlocked"
        case .erased: "erased"
        case .retryLocked: "retry-locked"
        case .damaged: "damaged"
        case .ownerChanged: "owner-changed"
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

    private static func name(_ passcode: State.Passcode) -> String {
        switch passcode {
        case .unknown: "unknown"
        case .none: "none"
        case .passcode: "passcode"
        case .passcodeAndFingerprint: "passcode+fingerprint"
        }
    }
}
