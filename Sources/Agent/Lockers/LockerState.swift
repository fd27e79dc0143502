/// What one locker is doing, as far as the bus tells. Every decision about it is here.
enum LockerState: Equatable, Sendable {
    case absent
    /// The screen is in use.
    case inUse
    /// The screen is blank, and the locker's settings are being read. `sinceUnknown`: it was blank
    /// before we looked, so its delay may be over.
    case blank(sinceUnknown: Bool)
    /// The locker locks when its delay is over.
    case delayed
    /// The screen is blank, and the locker does not lock.
    case blankOnly
    case locked
    /// The locker has ended, or crashed, while the screen was locked.
    case lost

    enum Event: Equatable, Sendable {
        /// The name has a new owner.
        case came
        case left
        /// A signal.
        case says(isActive: Bool)
        /// The answer of an owner that has just come.
        case answers(isActive: Bool)
        case rule(LockRule)
        case delayOver
    }

    enum Step: Equatable, Sendable {
        case nothing
        case ask
        case readSettings
        case wait(UInt64)
    }

    /// The session is to be shown as locked.
    var isLocked: Bool {
        switch self {
        case .locked, .lost: true
        case .absent, .inUse, .blank, .delayed, .blankOnly: false
        }
    }

    /// The person is back: they have unlocked the screen, or it never was locked.
    static func isReturn(_ event: Event) -> Bool {
        switch event {
        case .says(isActive: false): true
        case .came, .left, .says, .answers, .rule, .delayOver: false
        }
    }

    func after(_ event: Event) -> (state: LockerState, step: Step) {
        switch event {
        case .came:
            // A former owner may have left at the same moment.
            return (after(.left).state == .lost ? .lost : .inUse, .ask)
        case .left:
            switch self {
            // Nobody has unlocked the screen. A locker that crashes shows the desktop, and whoever
            // is there must not find the store open as well. It stays so until the next locker
            // under this name says that it is not active, or the person unlocks another one.
            case .locked, .lost, .blank: return (.lost, .nothing)
            case .absent, .inUse, .delayed, .blankOnly: return (.absent, .nothing)
            }
        case .says(isActive: false), .answers(isActive: false):
            return (self == .absent ? .absent : .inUse, .nothing)
        case .says(isActive: true):
            switch self {
            case .inUse: return (.blank(sinceUnknown: false), .readSettings)
            case .lost: return (.locked, .nothing)
            case .absent, .blank, .delayed, .blankOnly, .locked: return (self, .nothing)
            }
        case .answers(isActive: true):
            switch self {
            case .inUse: return (.blank(sinceUnknown: true), .readSettings)
            case .lost: return (.locked, .nothing)
            case .absent, .blank, .delayed, .blankOnly, .locked: return (self, .nothing)
            }
        case .rule(let rule):
            guard case .blank(let sinceUnknown) = self else { return (self, .nothing) }
            switch rule {
            case .never: return (.blankOnly, .nothing)
            case .after(0): return (.locked, .nothing)
            case .after(let delay):
                return sinceUnknown ? (.locked, .nothing) : (.delayed, .wait(delay))
            }
        case .delayOver: return (self == .delayed ? .locked : self, .nothing)
        }
    }
}
