import Wire

/// What a window shows next, as the thread that talks to the daemon tells it.
package enum WindowShow: Sendable {
    case screen(Screen)
    /// Of the screen that stands.
    case findings(question: UInt32, [Checklist.Entry])
    case note([UInt8])
    case scan(Scan)
    /// A secret that is shown once, with what was said about it.
    case reveal(Screen, Typed)
}

/// How an exchange ended.
package enum WindowEnd: Sendable {
    /// What was said at last, and what was done.
    case done([[UInt8]])
    case cancelled(message: [UInt8], hint: [UInt8])
    case refused(message: [UInt8], hint: [UInt8])
}

/// What somebody starts in a window.
package enum WindowRequest: Sendable {
    case welcome
    case unlock(store: [UInt8])
    case lock(store: [UInt8])
    case change(store: [UInt8])
    case enrol(store: [UInt8])
    case newRecoveryKey(store: [UInt8])
    case recover(store: [UInt8])
    case consents
    /// Another of the person's stores is to be open, or somebody is added or removed.
    case people
    /// This machine joins an organisation, by a link, an address or the path of a picture; empty: the person is asked.
    case join(invitation: [UInt8])
}

/// What there is, for the window that stands when nothing is asked.
package struct WindowState: Equatable, Sendable {
    package struct Store: Equatable, Sendable {
        package let id: [UInt8]
        package let name: [UInt8]
        package let lock: State.Lock
        /// What opens it, and how it is.
        package let text: [UInt8]
        package let isFollowing: Bool
    }

    /// One that somebody may begin, or why they may not.
    package struct Action: Equatable, Sendable {
        package enum Name: String, Sendable, CaseIterable {
            case change = "change-passcode"
            case recovery = "new-recovery-key"
        }

        package let name: Name
        package let isAllowed: Bool
        package let reason: [UInt8]
    }

    package var stores: [Store] = []
    package var actions: [Action] = []
    package var advice: [UInt8] = []
    package var hasReader = false
    package var hasConsents = false
    /// This machine belongs to no organisation.
    package var mayJoin = false
}
