import Posix
import Wire

/// Memory for what does not fit in a small frame: large frames as they come in, and large answers
/// that are not read at once. Root's are not counted.
@LoopActor
final class Rooms {
    private var used = 0
    private var entering: [(connection: Connection, bytes: Int, wait: Wait)] = []
    private var answering: [(share: Share, wait: Wait)] = []

    /// All together, and the answers of one party.
    private static let most = 64 << 20
    private static let mostUnread = 4 << 20

    // MARK: frames

    /// One large frame of each person at a time; nil where it may come now.
    func enter(_ connection: Connection, _ bytes: Int) -> Wait? {
        if take(connection, bytes) { return nil }
        let wait = Wait()
        entering.append((connection, bytes, wait))
        return wait
    }

    private func take(_ connection: Connection, _ bytes: Int) -> Bool {
        let share = connection.share
        guard share.isLimited else {
            connection.hasRoom = .unlimited
            return true
        }
        guard share.mayHaveLargeFrames, share.frame == 0, used + bytes <= Self.most else {
            return false
        }
        share.frame = bytes
        used += bytes
        connection.hasRoom = .some(share, bytes)
        return true
    }

    func leave(_ connection: Connection) {
        let room = connection.hasRoom
        connection.hasRoom = .none
        guard case .some(let share, let bytes) = room else { return }
        share.frame = 0
        used -= bytes
        admit()
    }

    /// After room was given back, or a connection became a person's.
    func admit() {
        entering.removeAll { entry in
            if entry.wait.isOver { return true }
            switch entry.connection.share.party {
            case .accountless: entry.wait.end(.closed)
            case .unresolved: return false
            case .root, .person:
                guard take(entry.connection, entry.bytes) else { return false }
                entry.wait.end(.ready)
            }
            return true
        }
    }

    // MARK: answers

    /// nil where nothing large of this party waits to be read.
    func answer(_ share: Share) -> Wait? {
        guard share.isLimited, share.unread > 0 else { return nil }
        let wait = Wait()
        answering.append((share, wait))
        return wait
    }

    enum Kept { case kept, noRoom }

    /// An answer that is there already, and that its peer does not read.
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
            // All of them: each looks again before it makes an answer.
            answering.removeAll { entry in
                guard entry.share === share else { return entry.wait.isOver }
                entry.wait.end(.ready)
                return true
            }
        }
        admit()
    }
}
