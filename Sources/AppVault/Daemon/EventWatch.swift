internal import Wire

/// Hears from the daemon what happens to the person's stores, as long as somebody listens. Where
/// the connection ends, or cannot be made, it is tried again, ever more rarely.
final class EventWatch: Sendable {
    let hub: StoreEventHub
    private let state: State

    /// What the hub and the task that listens share.
    private final class State: Sendable {
        let task = Locked<Task<Void, Never>?>(nil)
        let hub = Locked<Weak>(Weak())

        struct Weak {
            weak var hub: StoreEventHub?
        }
    }

    init(_ greeting: Greeting, _ waits: Waits) {
        let state = State()
        self.state = state
        hub = StoreEventHub { count in
            state.task.withLock { task in
                if count == 0 {
                    task?.cancel()
                    task = nil
                } else if task == nil {
                    let listener = Listener(
                        greeting: greeting, waits: waits,
                        post: { event, name in
                            state.hub.withLock { $0.hub }?.post(event, name)
                        })
                    task = Task { await listener.run() }
                }
            }
        }
        state.hub.withLock { [hub] in $0.hub = hub }
    }

    deinit { state.task.withLock { $0?.cancel() } }
}

private struct Listener {
    let greeting: Greeting
    let waits: Waits
    let post: @Sendable (StoreEvent, StoreName?) -> Void

    private static let shortest = 100
    private static let longest = 30_000

    func run() async {
        var wait = Listener.shortest
        var isFirst = true
        while !Task.isCancelled {
            let link = Link(greeting, waits)
            var wasHeard = false
            do throws(VaultError) {
                try await link.open()
                try await link.begin(Outgoing(.watch, Watch(records: true)))
                wasHeard = try await listen(link, isFirst)
            } catch {
                wasHeard = error.code == .connectionLost
            }
            await link.disconnect()
            if Task.isCancelled { return }
            if isFirst || wasHeard { post(StoreEvent(.missed), nil) }
            isFirst = false
            wait = wasHeard ? Listener.shortest : min(wait * 2, Listener.longest)
            try? await Task.sleep(for: .milliseconds(wait))
        }
    }

    /// How things are comes first, and is told as well: something may have happened between the
    /// moment in which a caller began to listen and this one.
    private func listen(_ link: Link, _ isFirst: Bool) async throws(VaultError) -> Bool {
        var isTold = false
        if !isFirst { post(StoreEvent(.missed), nil) }
        while true {
            let incoming = try await link.next(
                within: isTold ? nil : waits.silence, isCancellable: true)
            if incoming.type == .working { continue }
            if incoming.type == .refused { return false }
            guard incoming.type == .event else { throw .unexpected(incoming.type.rawValue) }
            let event = try incoming.decoded(Event.self)
            isTold = isTold || event.what == .told
            tell(event)
        }
    }

    private func tell(_ event: Event) {
        let name = StoreName(String(decoding: event.name, as: UTF8.self))
        switch event.what {
        case .locked: post(StoreEvent(.locked), name)
        case .opened: post(StoreEvent(.opened), name)
        case .changed: post(StoreEvent(.changed), name)
        case .fingerAdded: post(StoreEvent(.fingerAdded), name)
        case .members: post(StoreEvent(.members), name)
        case .left: post(StoreEvent(.personLeft), nil)
        case .cameBack: post(StoreEvent(.personCameBack), nil)
        case .records: post(StoreEvent(.recordsChanged), name)
        case .removed: post(StoreEvent(.removed), name)
        case .told: break
        }
    }
}
