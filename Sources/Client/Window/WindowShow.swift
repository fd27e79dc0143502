import Wire

/// What a window shows next, as the thread that talks to the daemon tells it.
package enum WindowShow: Sendable {
    case screen(Screen)
    /// Of the screen that stands.
    case findings(question: UInt32, [Checklist.Entry])
    case note([UInt8])
    case scan(Scan)
    /// What a camera sees, for the screen that stands.
    case seen(CameraPicture)
    /// Somebody is to choose a picture's file; its path is the answer, as it is of a form.
    case chooseFile(question: UInt32, title: [UInt8])
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

/// What there is, for the window that stands when nothing is asked.
package struct WindowState: Equatable, Sendable {
    package struct Store: Equatable, Sendable {
        package let id: [UInt8]
        /// As the person types it.
        package let name: [UInt8]
        package let lock: State.Lock
        /// What opens it, and how it is.
        package let text: [UInt8]
        /// What another person shares is theirs to lock.
        package let mayLock: Bool
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
    /// The first store is open: something can be kept in it, and looked at.
    package var isOpen = false
    /// What is wrong with the first store or with this machine, and what helps.
    package var trouble: [UInt8] = []
    package var advice: [UInt8] = []
    /// This machine belongs to no organisation.
    package var mayJoin = false
    /// What there is besides, and can be changed.
    package var sections: [WindowSection] = []
}

/// A part of what there is.
package struct WindowSection: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package struct Button: Equatable, Sendable {
            /// As short as a button is. Whoever does not see the row hears the request's own title.
            package let label: [UInt8]
            package let request: WindowRequest
        }

        package let title: [UInt8]
        /// Below it.
        package let lines: [[UInt8]]
        /// Two at most.
        package let buttons: [Button]
    }

    /// A part of its names in style sheets.
    package let id: String
    package let title: [UInt8]
    package let rows: [Row]
}
