import Policy
import Posix
import Synchronization

@testable import VaultService

/// What the kernel and logind would say of a login on the console.
final class PlayedSurroundings: Sendable {
    enum Place: Sendable {
        /// On the virtual terminal that is in front.
        case inFront
        /// A service of the system asks, and no login is known.
        case elsewhere
    }

    private let current = Mutex(Place.inFront)

    var place: Place {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    private let listed = Mutex<[String]>([])

    /// The sessions that logind lists for the person.
    var sessions: [String] {
        get { listed.withLock { $0 } }
        set { listed.withLock { $0 = newValue } }
    }

    func look(at person: UInt32) -> Surroundings {
        let unit =
            switch place {
            case .inFront: "getty@tty1.service"
            case .elsewhere: "backup.service"
            }
        return Surroundings(
            process: KnownProcess(realUID: 0, place: .systemUnit(unit)),
            machine: MachineView(sessions: [], seats: [nil], frontTerminal: "tty1"))
    }
}
