import Posix
import Wire

/// Sends *working* each second to every peer that waits for something long, so that silence always
/// means a fault. Its timer runs only while a peer waits, so an idle daemon has none.
@LoopActor
final class Ticker {
    private var waiting: [ObjectIdentifier: Connection] = [:]
    private var isArmed = false
    /// A minute in a queue, and the derivation after it. It begins anew with each answer of the
    /// person.
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

    /// Ends every question whose flow holds a secret, as if the person had not answered in time.
    func endQuestions(of uid: UInt32? = nil) {
        for connection in waiting.values where connection.isAsking && connection.holdsSecret {
            guard uid == nil || connection.share.party == uid.map({ .person($0) }) else { continue }
            connection.wakeReader()
        }
    }

    private func arm() {
        guard !isArmed, !waiting.isEmpty else { return }
        isArmed = true
        let next = Clock.bootMilliseconds() + UInt64(Limits.workingEvery)
        _ = EventLoop.shared.at(next) {
            // Called from the timer itself, so that it waits behind no queue.
            LoopActor.assumed { self.tick() }
        }
    }

    private func tick() {
        isArmed = false
        let now = Clock.bootMilliseconds()
        for connection in waiting.values where !connection.isAsking {
            // What takes longer than any queue may take is a fault. Silence tells the peer so.
            guard let tag = connection.workingTag, now - connection.lastSent >= 900,
                now - connection.workingSince < Self.longest
            else { continue }
            connection.sendWorking(tag: tag)
        }
        arm()
    }
}
