import DesktopEntries
import ToolTexts
import Wire

/// What somebody starts in a window.
package enum WindowRequest: Equatable, Sendable {
    case welcome
    case unlock(store: [UInt8])
    case lock(store: [UInt8])
    case change(store: [UInt8])
    case enrol(store: [UInt8])
    case deleteFinger(NamedFinger, store: [UInt8])
    case newRecoveryKey(store: [UInt8])
    case recover(store: [UInt8])
    case consents
    /// Another of the person's stores is to be open, or somebody is added or removed.
    case people
    /// This machine joins an organisation, by a link, an address or the path of a picture; empty: the person is asked.
    case join(invitation: [UInt8])
    case share(store: [UInt8])
    case unshare(store: [UInt8], SharedWith)
    /// The person themselves is no member any more.
    case leave(store: [UInt8], account: [UInt8])
    case lockApp
    case lockAppAgain(ApplicationID)
    case unlockApp(ApplicationID)
    /// A further store.
    case create
    case hold(store: [UInt8])
    case resume(store: [UInt8])
    /// Something new is kept in a store.
    case keep(store: [UInt8])
    /// What is kept in it is listed by its names; one is shown or removed.
    case names(store: [UInt8])
}

/// One of the ten: to delete a finger without a name is to delete all of them.
package struct NamedFinger: Equatable, Sendable {
    package let finger: Finger

    package init?(_ finger: Finger) {
        guard finger != .unnamed else { return nil }
        self.finger = finger
    }
}

extension WindowRequest {
    /// What the window knows of a request besides how it is carried out.
    struct Facts {
        /// Where nothing is named.
        let title: ToolText
        var picture = Screen.Picture.none
        /// The same with what it is about, for whoever does not see what stands beside it.
        var named: ToolText?
        var names: [[UInt8]] = []
        /// The store whose passcode is asked for.
        var passcodeOf: [UInt8]?
        /// What cannot be taken back is said before it is begun.
        var warning: ToolText?
    }

    var facts: Facts {
        // What changes another thing than a store asks for what opens the person's own one.
        let own: [UInt8] = []
        switch self {
        case .welcome: return Facts(title: .windowBegin, picture: .logo)
        case .unlock(let store):
            return Facts(
                title: .windowUnlock, picture: .lock, named: .windowUnlockNamed, names: [store],
                passcodeOf: store)
        case .lock(let store):
            return Facts(
                title: .windowLock, picture: .lock, named: .windowLockNamed, names: [store])
        case .change(let store):
            return Facts(title: .windowChange, picture: .lock, passcodeOf: store)
        case .enrol(let store):
            return Facts(title: .windowFinger, picture: .finger, passcodeOf: store)
        case .deleteFinger(_, let store):
            return Facts(
                title: .windowFingerDelete, picture: .finger, named: .windowFingerDeleteNamed,
                passcodeOf: store, warning: .windowFingerDeleteBody)
        case .newRecoveryKey(let store):
            return Facts(title: .windowRecovery, picture: .key, passcodeOf: store)
        case .recover(let store):
            return Facts(
                title: .windowRecover, picture: .key, named: .windowRecoverNamed, names: [store])
        case .consents: return Facts(title: .windowConsents, picture: .paper)
        case .people: return Facts(title: .windowPeople, picture: .people)
        case .join: return Facts(title: .windowJoin, picture: .organisation)
        case .share(let store):
            return Facts(
                title: .windowShare, picture: .people, named: .windowShareNamed, names: [store],
                passcodeOf: own)
        case .unshare(let store, _):
            return Facts(
                title: .windowUnshare, picture: .people, named: .windowUnshareNamed,
                names: [store], passcodeOf: own, warning: .windowUnshareBody)
        case .leave(let store, _):
            return Facts(
                title: .windowLeave, picture: .people, named: .windowLeaveNamed, names: [store],
                passcodeOf: own, warning: .windowLeaveBody)
        case .lockApp: return Facts(title: .windowAppLock, picture: .lock)
        case .lockAppAgain(let id):
            return Facts(
                title: .windowAppAgain, picture: .lock, named: .windowAppAgainNamed,
                names: [Array(id.name.utf8)])
        case .unlockApp(let id):
            return Facts(
                title: .windowAppUnlock, picture: .lock, named: .windowAppUnlockNamed,
                names: [Array(id.name.utf8)])
        case .create: return Facts(title: .windowCreate, picture: .lock, passcodeOf: own)
        case .hold(let store):
            return Facts(title: .windowHold, picture: .lock, passcodeOf: store)
        case .resume: return Facts(title: .windowResume, picture: .lock)
        case .keep: return Facts(title: .windowKeep, picture: .key)
        case .names: return Facts(title: .windowNames, picture: .paper)
        }
    }

    package var picture: Screen.Picture { facts.picture }
    /// On a button beside the name of what it is about.
    package var label: ToolText { facts.title }

    /// With what it is about, where that has a name.
    package func title(_ words: OwnWords) -> [UInt8] {
        let facts = facts
        guard let named = facts.named else { return words(facts.title) }
        let names = facts.names.map { Printable.escaped($0) } + ownNames(words)
        guard names.allSatisfy({ !$0.isEmpty }) else { return words(facts.title) }
        switch names.count {
        case 0: return words(facts.title)
        case 1: return words(named, names[0])
        case _: return words(named, names[0], names[1])
        }
    }

    /// Names that are words of ours, or are shown in another way than they are typed.
    private func ownNames(_ words: OwnWords) -> [[UInt8]] {
        switch self {
        case .deleteFinger(let named, _): [words(named.finger.text)]
        case .unshare(_, let whom): [whom.text(words)]
        case .welcome, .unlock, .lock, .change, .enrol, .newRecoveryKey, .recover, .consents,
            .people, .join, .share, .leave, .lockApp, .lockAppAgain, .unlockApp, .create, .hold,
            .resume, .keep, .names:
            []
        }
    }
}
