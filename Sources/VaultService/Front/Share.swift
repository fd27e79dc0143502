import Posix
import Wire

/// What one party has of the daemon: places, time on the loop, room for large frames.
@LoopActor
final class Share: JobAccount {
    let party: Party
    private let turns: Turns
    /// Connections that came in as this party's.
    var places = 0
    /// Those beside them: of what answers for the desktop's secrets, or of whom it is not known yet.
    var spares = 0
    /// Root's connections that act for it.
    var claims = 0
    private(set) var time: Allowance
    /// In the order in which they came. Some may be over already.
    var waiting: [Wait] = []
    /// Bytes of a large frame that is coming in, or is being worked on.
    var frame = 0
    /// Bytes of large answers that wait to be read.
    var unread = 0

    /// A tenth of a processor, and 200 ms at once.
    private static let percent: Int64 = 10
    private static let burst: Int64 = 200_000_000

    init(_ party: Party, _ turns: Turns) {
        self.party = party
        self.turns = turns
        time = Allowance(percent: Self.percent, most: Self.burst, at: turns.now())
    }

    /// These limits do not hold for root, which logs people in and repairs the machine.
    var isLimited: Bool {
        switch party {
        case .root: false
        case .person, .accountless, .unresolved: true
        }
    }

    /// Only root and people with an account may send large frames.
    var mayHaveLargeFrames: Bool {
        switch party {
        case .root, .person: true
        case .accountless, .unresolved: false
        }
    }

    var mostPlaces: Int {
        switch party {
        case .root: Limits.placesOfRoot
        case .person: Limits.placesOfPerson
        case .accountless, .unresolved: Limits.placesWithoutAccount
        }
    }

    var hasSpare: Bool {
        switch party {
        case .person: spares < Limits.placesOfSecrets
        case .root, .accountless, .unresolved: false
        }
    }

    func isWithin(_ now: UInt64) -> Bool {
        time.refresh(now)
        return time.isLeft
    }

    func spend(_ nanoseconds: UInt64) {
        time.spend(nanoseconds)
    }

    /// Nothing would be lost with it, least of all a debt.
    func isForgettable(_ now: UInt64) -> Bool {
        places == 0 && spares == 0 && claims == 0 && isResting(now)
    }

    /// Time changes nothing about it any more.
    func isResting(_ now: UInt64) -> Bool {
        guard waiting.isEmpty, frame == 0, unread == 0 else { return false }
        time.refresh(now)
        return time.isFull
    }

    nonisolated func took(nanoseconds: UInt64) {
        LoopActor.assumed { turns.took(nanoseconds, self) }
    }
}
