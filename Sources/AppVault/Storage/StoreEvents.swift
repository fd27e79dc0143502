/// The events of a store, for one caller. They are kept from the moment in which the sequence was
/// made until they are read; where too many have come, they are dropped and one
/// ``StoreEvent/Kind/missed`` stands for all of them. The sequence ends with the task that reads it.
public struct StoreEvents: AsyncSequence, Sendable {
    /// What has happened.
    public typealias Element = StoreEvent
    /// Reading never fails.
    public typealias Failure = Never

    let mailbox: Mailbox

    /// Reads the events one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let mailbox: Mailbox

        /// The next event; nil once the task is cancelled.
        public mutating func next() async -> StoreEvent? { await mailbox.next() }

        /// The next event; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> StoreEvent? {
            await mailbox.next()
        }
    }

    /// A reader. Readers of the same sequence share its events: each goes to one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: mailbox) }
}

/// What one caller has not read yet.
final class Mailbox: Sendable {
    static let room = 64

    private struct Content {
        var events: [StoreEvent] = []
        var readers: [(id: UInt64, continuation: CheckedContinuation<StoreEvent?, Never>)] = []
        var lastID: UInt64 = 0
    }

    private let content = Locked(Content())
    private let whenGone: @Sendable () -> Void

    init(whenGone: @escaping @Sendable () -> Void) { self.whenGone = whenGone }

    deinit { whenGone() }

    func put(_ event: StoreEvent) {
        let reader = content.withLock { content -> CheckedContinuation<StoreEvent?, Never>? in
            if !content.readers.isEmpty { return content.readers.removeFirst().continuation }
            if content.events.count >= Mailbox.room { content.events = [StoreEvent(.missed)] }
            // Two of them say no more than one.
            if event.kind == .missed, content.events.last?.kind == .missed { return nil }
            content.events.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    func next() async -> StoreEvent? {
        let id = content.withLock { content in
            content.lastID += 1
            return content.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Looked at under the lock: a cancel that comes later finds the reader.
                let (answered, event) = content.withLock { content -> (Bool, StoreEvent?) in
                    if Task.isCancelled { return (true, nil) }
                    if !content.events.isEmpty { return (true, content.events.removeFirst()) }
                    content.readers.append((id, continuation))
                    return (false, nil)
                }
                if answered { continuation.resume(returning: event) }
            }
        } onCancel: {
            let reader = content.withLock { content in
                content.readers.firstIndex { $0.id == id }.map {
                    content.readers.remove(at: $0).continuation
                }
            }
            reader?.resume(returning: nil)
        }
    }
}

/// Gives each event to all who listen.
public final class StoreEventHub: Sendable {
    private struct Listener {
        weak var mailbox: Mailbox?
        let isMeant: @Sendable (StoreEvent, StoreName?) -> Bool
    }

    private struct Listeners {
        var all: [UInt64: Listener] = [:]
        var lastID: UInt64 = 0
    }

    private let listeners = Locked(Listeners())
    private let whenCountChanges: @Sendable (Int) -> Void

    /// A hub for a back end of your own.
    public convenience init() { self.init(whenCountChanges: { _ in }) }

    init(whenCountChanges: @escaping @Sendable (Int) -> Void) {
        self.whenCountChanges = whenCountChanges
    }

    /// A sequence of what is posted from now on.
    public func events() -> StoreEvents { events { _, _ in true } }

    /// Gives the event to all sequences.
    public func post(_ event: StoreEvent) { post(event, nil) }

    /// Without a name it concerns every store.
    func post(_ event: StoreEvent, _ name: StoreName?) {
        let mailboxes = listeners.withLock { listeners in
            listeners.all.values.filter { $0.isMeant(event, name) }.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.put(event) }
    }

    /// Whoever posts here is kept as long as somebody listens.
    func events(
        keeping source: (any AnyObject & Sendable)? = nil,
        where isMeant: @escaping @Sendable (StoreEvent, StoreName?) -> Bool
    ) -> StoreEvents {
        let id = listeners.withLock { listeners in
            listeners.lastID += 1
            return listeners.lastID
        }
        let mailbox = Mailbox { [self] in
            withExtendedLifetime(source) { remove(id) }
        }
        let count = listeners.withLock { listeners in
            listeners.all[id] = Listener(mailbox: mailbox, isMeant: isMeant)
            return listeners.all.count
        }
        whenCountChanges(count)
        return StoreEvents(mailbox: mailbox)
    }

    private func remove(_ id: UInt64) {
        let count = listeners.withLock { listeners in
            listeners.all[id] = nil
            return listeners.all.count
        }
        whenCountChanges(count)
    }
}
