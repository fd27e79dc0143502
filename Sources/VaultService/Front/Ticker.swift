import Posix
import Wire

/// Says *working* each second to whoever waits for something long, so that silence always means a
/// fault. Runs only while somebody waits: an idle daemon has no timer.
@LoopActor
final class Ticker {
    private var waiting: [ObjectIdentifier: Connection] = [:]
    private var isArmed = false
    /// A queue's minute, and what was derived in it; it begins anew with each answer of the person.
    private static let longest: UInt64 = 120_000

    func begin(_ connection: Connection, _ tag: UInt32) {
        connection.workingTag = tag
        connection.workingSince = Clock.bootMilliseconds()
        waiting[ObjectIdentifier(connection)] = connection
        arm()
    }

    func end(_ connection: Connection) {
        connection.workingTag = nil
        waiting[ObjectIdentifier(connection)] = nil
    }

    /// Whoever is asked while a secret lies with the flow is asked no longer, as if they had not answered in time.
    func endQuestions() {
        for connection in waiting.values where connection.isAsking && connection.holdsSecret {
            connection.wakeReader()
        }
    }

    private func arm() {
        guard !isArmed, !waiting.isEmpty else { return }
        isArmed = true
        let next = Clock.bootMilliseconds() + UInt64(Limits.workingEvery)
        _ = EventLoop.shared.at(next) {
            // From the timer itself: behind no queue.
            LoopActor.assumed { self.tick() }
        }
    }

    private func tick() {
        isArmed = false
        let now = Clock.bootMilliseconds()
        for connection in waiting.values where !connection.isAsking {
            // What takes longer than any queue may is a fault: silence tells the peer so.
            guard let tag = connection.workingTag, now - connection.lastSent >= 900,
                now - connection.workingSince < Self.longest
            else { continue }
            connection.sendWorking(tag: tag)
        }
        arm()
    }
}
