import Posix
import Wire

/// A connection that has, or waits for, room for a large frame.
@LoopActor
protocol Lodger: AnyObject {
    var share: Share { get }
    var lodging: Lodging { get set }
}

enum Lodging {
    case none, unlimited
    case some(Share, Int)
}

/// Memory for what does not fit in a small frame: large frames as they come in, and large answers
/// that are not read at once. Root's are not counted.
@LoopActor
final class Rooms {
    private var used = 0
    private var entering: [(lodger: any Lodger, bytes: Int, wait: Wait)] = []
    private var answering: [(share: Share, wait: Wait)] = []

    /// Bytes: the limit for all together, and for the unread answers of one party.
    private static let most = 64 << 20
    private static let mostUnread = 4 << 20

    // MARK: frames

    /// Asks for room. Each person has one large frame at a time. Nil if it may come now.
    func enter(_ lodger: any Lodger, _ bytes: Int) -> Wait? {
        if take(lodger, bytes) { return nil }
        let wait = Wait()
        entering.append((lodger, bytes, wait))
        return wait
    }

    private func take(_ lodger: any Lodger, _ bytes: Int) -> Bool {
        let share = lodger.share
        guard share.isLimited else {
            lodger.lodging = .unlimited
            return true
        }
        guard share.mayHaveLargeFrames, share.frame == 0, used + bytes <= Self.most else {
            return false
        }
        share.frame = bytes
        used += bytes
        lodger.lodging = .some(share, bytes)
        return true
    }

    func leave(_ lodger: any Lodger) {
        let room = lodger.lodging
        lodger.lodging = .none
        guard case .some(let share, let bytes) = room else { return }
        share.frame = 0
        used -= bytes
        admit()
    }

    /// Called after room was given back, or after a connection's party became known.
    func admit() {
        entering.removeAll { entry in
            if entry.wait.isOver { return true }
            switch entry.lodger.share.party {
            case .accountless: entry.wait.end(.closed)
            case .unresolved: return false
            case .root, .person:
                guard take(entry.lodger, entry.bytes) else { return false }
                entry.wait.end(.ready)
            }
            return true
        }
    }

    // MARK: answers

    /// Nil if this party has no large answer that it has not read.
    func answer(_ share: Share) -> Wait? {
        guard share.isLimited, share.unread > 0 else { return nil }
        let wait = Wait()
        answering.append((share, wait))
        return wait
    }

    enum Kept { case kept, noRoom }

    /// Counts an answer that is made already and that its peer does not read at once.
    func keep(_ bytes: Int, _ share: Share) -> Kept {
        guard share.isLimited else { return .kept }
        guard share.unread + bytes <= Self.mostUnread, used + bytes <= Self.most else {
            return .noRoom
        }
        share.unread += bytes
        used += bytes
        return .kept
    }

    func read(_ bytes: Int, _ share: Share) {
        guard share.isLimited else { return }
        share.unread -= bytes
        used -= bytes
        if share.unread == 0 {
            // Wake all of them: each looks again before it makes an answer.
            answering.removeAll { entry in
                guard entry.share === share else { return entry.wait.isOver }
                entry.wait.end(.ready)
                return true
            }
        }
        admit()
    }
}
