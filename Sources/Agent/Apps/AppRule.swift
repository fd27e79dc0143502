import Client
import Wire

/// What becomes of an application when something happens to its store or to the person.
enum AppConsequence: Equatable {
    case lock
    /// After so many seconds, unless the person comes back before.
    case lockAfter(seconds: UInt32)
    /// It goes on where it was, without a question.
    case unlock
    case nothing
}

/// What is known of its store and of the person at that moment.
struct AppSight: Equatable {
    var isStoreOpen: Bool
    var isAway: Bool
}

extension RunningApp {
    /// Its store was locked.
    var atLock: AppConsequence {
        switch onLock {
        case .freeze, .quit: .lock
        case .stay: .nothing
        }
    }

    /// The person has left, and the store may stay open.
    var atLeave: AppConsequence {
        switch (onLock, background) {
        case (.stay, _), (_, .never): .nothing
        case (.freeze, .immediate), (.quit, .immediate): .lock
        case (.freeze, .timeout), (.quit, .timeout):
            timeout > 0 ? .lockAfter(seconds: timeout) : .nothing
        }
    }

    /// The store is open again, or the person has come back. Whoever has to show more for this
    /// application is asked by it, and not by the store.
    func atReturn(_ sight: AppSight) -> AppConsequence {
        guard sight.isStoreOpen, !sight.isAway else { return .nothing }
        switch demand {
        case .open: return .unlock
        case .finger, .passcode: return .nothing
        }
    }
}
