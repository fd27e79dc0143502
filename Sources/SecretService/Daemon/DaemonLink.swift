import Posix
import Wire

/// The connection for requests: one is under way at a time, and others wait in the order in which
/// they came. So answers come in the order of what has happened.
@LoopActor
final class DaemonLink {
    private let path: String
    private var connection: DaemonConnection?
    private var wasConnected = false
    private var isBusy = false
    /// Milliseconds that a restart of the daemon may take.
    static let restart: UInt64 = 5_000
    private var waiting: [First<Bool>] = []

    init(path: String) {
        self.path = path
    }

    /// What changes nothing is asked once more where the daemon has ended meanwhile.
    enum Kind {
        case reads
        case changes
    }

    func exchange(
        _ request: consuming OutgoingFrame, _ kind: Kind, until deadline: UInt64
    ) async throws(KeeperError) -> IncomingFrame {
        guard await enter(until: deadline) else { throw .unavailable }
        defer { leave() }
        // Its caller does not wait any more: what is not begun now is certainly not done.
        guard Clock.bootMilliseconds() < deadline else { throw .unavailable }
        // A daemon that was there a moment ago may be on its way back.
        let began = Clock.bootMilliseconds()
        let comesBack = min(deadline, began + (wasConnected ? Self.restart : 0))
        while true {
            var isSent = false
            do throws(DaemonConnection.Failure) {
                let connection = try await connected(until: deadline)
                isSent = true
                try await connection.send(request, until: deadline)
                return try await answer(connection, until: deadline)
            } catch {
                switch error {
                case .refused(let refused, let tag):
                    if tag == 0 { drop() }
                    // The places are taken, of which one may be free in a moment.
                    guard !isSent, refused.code == Code.busy.rawValue,
                        Clock.bootMilliseconds() < min(deadline, began + Self.restart)
                    else { throw KeeperError(refused) }
                case .late:
                    drop()
                    throw isSent && kind == .changes ? .unknown : .unavailable
                case .lost:
                    drop()
                    if isSent, kind == .changes { throw .unknown }
                    guard Clock.bootMilliseconds() < comesBack else { throw .unavailable }
                }
            }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 50)
        }
    }

    private func answer(
        _ connection: DaemonConnection, until deadline: UInt64
    ) async throws(DaemonConnection.Failure) -> IncomingFrame {
        while true {
            let frame = try await connection.next(until: deadline)
            // It is still at it, or names what of the store is damaged, or has something to show.
            if [.working, .damaged, .show].contains(frame.type) { continue }
            // Nobody is here to answer a question.
            if [.ask, .scan, .reveal].contains(frame.type) { throw .lost }
            return frame
        }
    }

    private func connected(
        until deadline: UInt64
    ) async throws(DaemonConnection.Failure) -> DaemonConnection {
        if let connection {
            if !connection.hasEnded { return connection }
            drop()
        }
        let made = try await DaemonConnection.open(path, until: deadline)
        connection = made
        wasConnected = true
        return made
    }

    func drop() {
        connection?.close()
        connection = nil
    }

    // MARK: whose turn it is

    private func enter(until deadline: UInt64) async -> Bool {
        guard isBusy else {
            isBusy = true
            return true
        }
        let turn = First<Bool>()
        waiting.append(turn)
        let timer = EventLoop.shared.at(deadline) {
            EventLoop.shared.task { turn.settle(false) }
        }
        let isOurs = await turn.value()
        EventLoop.shared.cancel(timer)
        waiting.removeAll { $0 === turn }
        return isOurs
    }

    private func leave() {
        while let next = waiting.first {
            waiting.removeFirst()
            guard !next.isSettled else { continue }
            return next.settle(true)
        }
        isBusy = false
    }
}

extension KeeperError {
    init(_ refused: Refused) {
        let text = String(decoding: refused.message, as: UTF8.self)
        let code = Code(rawValue: refused.code) ?? .unknown
        if [.locked, .passcodeRequired].contains(code) {
            self = .locked
        } else if code == .doesNotExist {
            self = .notFound
        } else if code == .notPermitted {
            self = .notPermitted(text)
        } else if code == .tooLarge {
            self = .tooLarge
        } else if [.storageFailed, .outOfMemory].contains(code) {
            self = .full(text)
        } else if [.busy, .serviceUnavailable].contains(code) {
            self = .unavailable
        } else {
            self = .invalid(text)
        }
    }
}
