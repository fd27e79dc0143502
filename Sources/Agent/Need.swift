/// Why the agent stays.
enum Need: Hashable, Sendable {
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

    /// `idle` is since when nothing has needed it.
    static func decide(_ needs: Set<Need>, idle: UInt64, now: UInt64) -> Stay {
        guard needs.isEmpty else { return .needed }
        let end = idle + grace
        return now >= end ? .leaves : .until(end)
    }
}
