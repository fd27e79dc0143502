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
package enum WindowRequest: Equatable, Sendable {
    case welcome
    case unlock(store: [UInt8])
    case lock(store: [UInt8])
    case change(store: [UInt8])
    case enrol(store: [UInt8])
    case deleteFinger(store: [UInt8], Finger)
    case newRecoveryKey(store: [UInt8])
    case recover(store: [UInt8])
    case consents
    /// Another of the person's stores is to be open, or somebody is added or removed.
    case people
    /// A further store. The person is asked how it is called, and what opens it.
    case newStore
    /// The person is asked with whom.
    case share(store: [UInt8])
    case unshare(store: [UInt8], WindowMember)
    /// An application starts without asking again.
    case freeApp([UInt8])
    /// This machine joins an organisation, by a link, an address or the path of a picture; empty: the person is asked.
    case join(invitation: [UInt8])
}

/// With whom a store is shared.
package struct WindowMember: Equatable, Sendable {
    let kind: MemberKind
    let name: [UInt8]
    /// As a person reads it.
    let text: [UInt8]
}

/// What there is, for the window that stands when nothing is asked.
package struct WindowState: Equatable, Sendable {
    /// What somebody can do with something that there is.
    package struct Act: Equatable, Sendable {
        package enum Weight: Sendable { case main, other, grave }

        package let request: WindowRequest
        package let label: [UInt8]
        /// The same for whoever does not see beside what it stands.
        package let says: [UInt8]
        package var weight = Weight.other
    }

    /// One thing that there is.
    package struct Row: Equatable, Sendable {
        package enum Picture: Sendable { case lock, openLock, finger, person, organisation, app }

        package let picture: Picture
        package let title: [UInt8]
        /// How it is.
        package var lines: [[UInt8]] = []
        package var act: Act?
    }

    /// Things of one kind.
    package struct Section: Equatable, Sendable {
        package enum Kind: String, Sendable { case store, finger, member, organisation, app }

        package let kind: Kind
        package let title: [UInt8]
        package var rows: [Row]
        /// One more of them.
        package var more: Act?
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

    package var hasStore = false
    /// The stores come first.
    package var sections: [Section] = []
    package var actions: [Action] = []
    package var advice: [UInt8] = []
    package var hasConsents = false
    /// This machine belongs to no organisation.
    package var mayJoin = false
}
