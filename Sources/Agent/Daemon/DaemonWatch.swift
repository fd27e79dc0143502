import Bus
import Client
import Posix
import Wire

/// Hears from the daemon what happens to the person's stores, over a connection that stays. Where
/// it ends, or cannot be made, it is tried again, ever more rarely.
@LoopActor
final class DaemonWatch {
    struct Store: Equatable {
        var name: String
        var isOpen: Bool
    }

    /// By the store's id.
    private(set) var stores: [[UInt8]: Store] = [:]
    private(set) var isAway = false
    var heard: (@LoopActor (Event) -> Void)?
    /// Called when it is known anew whether there is a store, and when nobody can say it any more.
    var whenChanged: (@LoopActor () -> Void)?

    private let path: [UInt8]
    private let language: [UInt8]
    private let pool = WorkerPool(name: "daemon", threads: 1)
    private(set) var isConnected = false
    private var waiting: [First<Bool>] = []
    /// Milliseconds for a daemon that has accepted to tell how things are.
    private static let patience: UInt64 = 30_000

    init(path: [UInt8], language: [UInt8]) {
        self.path = path
        self.language = language
    }

    func isOpen(_ name: String) -> Bool {
        stores.values.contains { $0.name == (name.isEmpty ? "default" : name) && $0.isOpen }
    }

    func begin() {
        EventLoop.shared.task { await self.run() }
    }

    /// True once it is known of each store whether it is open; false if that takes too long.
    func isReady(until deadline: UInt64) async -> Bool {
        if isConnected { return true }
        let ready = First<Bool>()
        waiting.append(ready)
        let timer = EventLoop.shared.at(deadline) {
            EventLoop.shared.task { ready.settle(false) }
        }
        defer {
            EventLoop.shared.cancel(timer)
            waiting.removeAll { $0 === ready }
        }
        return await ready.value()
    }

    private func run() async {
        var backOff = BackOff()
        while true {
            var wasHeard = false
            if let channel = await connect() {
                wasHeard = await listen(to: channel)
                channel.close()
                isConnected = false
                whenChanged?()
            }
            if wasHeard {
                // The next daemon may be there already, and have them open.
                backOff.succeeded()
                continue
            }
            lockAll()
            await EventLoop.sleep(until: Clock.bootMilliseconds() + backOff.milliseconds())
        }
    }

    /// Nobody can say any more that they are open.
    private func lockAll() {
        for (id, store) in stores where store.isOpen {
            stores[id]?.isOpen = false
            heard?(Event(.locked, store: id, name: Array(store.name.utf8)))
        }
    }

    /// The loop does not wait for the daemon, which may be starting.
    private func connect() async -> Channel? {
        let (path, language) = (path, language)
        let made: Int32? = await pool.run {
            var hello = Hello(frontEnd: .program, realUID: ToolIO.realUID)
            hello.service = Array("appvault".utf8)
            hello.language = language
            guard let connection = try? Connection(path: path, hello: hello),
                let descriptor = try? connection.watch()
            else { return nil }
            return descriptor.release()
        }
        guard let made else { return nil }
        return try? Channel(owning: FileDescriptor(owning: made))
    }

    /// Until the connection ends. False if the daemon has not told how things are.
    private func listen(to channel: Channel) async -> Bool {
        var bytes: [UInt8] = []
        var beginning: [Event] = []
        let deadline = Clock.bootMilliseconds() + Self.patience
        while await channel.readable(until: isConnected ? nil : deadline) == .ready {
            var piece = [UInt8](repeating: 0, count: 4096)
            // SAFETY: the channel writes no more than the array has.
            let transfer = unsafe piece.withUnsafeMutableBytes { unsafe channel.read(into: $0) }
            switch transfer {
            case .bytes(let count): bytes += piece.prefix(count)
            case .wouldBlock: continue
            case .ended, .failed: return isConnected
            }
            do throws(WireError) {
                while let event = try Self.next(&bytes) {
                    if isConnected {
                        take(event)
                    } else if event.what == .told {
                        begin(with: beginning)
                    } else {
                        beginning.append(event)
                    }
                }
            } catch {
                // A refusal, or nonsense: the next attempt comes later.
                return isConnected
            }
        }
        return isConnected
    }

    /// What has happened while nobody listened is what is different now.
    private func begin(with events: [Event]) {
        let former = stores
        stores = [:]
        isConnected = true
        if isAway, !events.contains(where: { $0.what == .left }) { take(Event(.cameBack)) }
        for event in events { take(event) }
        for (id, store) in former where store.isOpen && stores[id] == nil {
            heard?(Event(.locked, store: id, name: Array(store.name.utf8)))
        }
        for ready in waiting { ready.settle(true) }
        waiting = []
        whenChanged?()
    }

    private static func next(_ bytes: inout [UInt8]) throws(WireError) -> Event? {
        guard let header = try FrameHeader.decode(bytes.span, limit: Limits.smallFrame) else {
            return nil
        }
        let whole = FrameHeader.size + header.length
        guard bytes.count >= whole else { return nil }
        guard header.type == AnswerType.event.rawValue else { throw .unknownValue }
        let body = Array(bytes[FrameHeader.size..<whole])
        bytes.removeFirst(whole)
        var reader = Reader()
        let event = try Event(&reader, body.span)
        try reader.end(body.span)
        return event
    }

    private func take(_ event: Event) {
        let name = String(decoding: event.name, as: UTF8.self)
        switch event.what {
        case .locked: stores[event.store] = Store(name: name, isOpen: false)
        case .opened: stores[event.store] = Store(name: name, isOpen: true)
        case .left: isAway = true
        case .cameBack: isAway = false
        case .changed, .fingerAdded, .told, .members, .records: break
        case .removed: stores[event.store] = nil
        }
        heard?(event)
    }
}
