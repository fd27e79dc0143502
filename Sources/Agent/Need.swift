/// Why the agent stays.
enum Need: Hashable, Sendable {
    /// It has its name, and has not looked for everything yet.
    case beginning
    /// A screen locker is on the bus.
    case locker
    /// The daemon tells of changes, and they are shown.
    case watch
    /// An application that is locked with its store.
    case application
    /// Somebody waits for an answer.
    case call

    var word: String {
        switch self {
        case .beginning: "beginning"
        case .locker: "locker"
        case .watch: "watch"
        case .application: "application"
        case .call: "call"
        }
    }
}

/// Whether the agent stays. D-Bus starts it again when it is called.
enum Stay: Equatable {
    case needed
    /// Nothing needs it. It waits until this moment of the boot clock, in case something comes.
    case until(UInt64)
    case leaves

    static let grace: UInt64 = 60_000
}

/// Since when nothing has needed the agent: since the first look that has found nothing. Nobody
/// looks while a need lasts, so the last look that found one may be hours ago.
struct Idleness {
    private var since: UInt64?

    mutating func stay(_ needs: Set<Need>, now: UInt64) -> Stay {
        guard needs.isEmpty else {
            since = nil
            return .needed
        }
        let began = since ?? now
        since = began
        return now >= began + Stay.grace ? .leaves : .until(began + Stay.grace)
    }
}
