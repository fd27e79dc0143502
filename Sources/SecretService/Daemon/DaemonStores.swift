import Bus
import Posix
import Wire

/// The person's stores, as the daemon tells of them: one connection hears what happens to all of
/// them, one asks about `secrets`, and one about all drawers, so that none of them keeps anybody
/// waiting who wants something of `secrets`.
@LoopActor
final class DaemonStores {
    private static let secrets = Array("secrets".utf8)
    private static let parent = Array("default".utf8)
    /// Milliseconds for one answer about all stores.
    private static let patience: UInt64 = 20_000
    /// What others share must not fill this process.
    private static let mostDrawers = 64
    private static let mostOfOthers = 8 << 20

    struct Known: Equatable {
        var name: [UInt8]
        var isOpen: Bool
    }

    let cabinet: Cabinet
    let drawerLink: DaemonLink
    private let path: String
    private let main: DaemonKeeper
    private var drawers: [SecretID: DaemonKeeper] = [:]
    /// Nil before the daemon has said it.
    private(set) var known: [SecretID: Known]? {
        didSet {
            secretsState = state(of: Self.secrets)
            parentState = state(of: Self.parent)
        }
    }
    private(set) var secretsState: Bool?
    private(set) var parentState: Bool?
    private(set) var isAway = false
    private(set) var hasTried = false
    /// Why listening was refused last.
    private var complaint: [UInt8]?
    /// Which drawers there are was asked once.
    private(set) var isListed = false
    private var isListing = false
    private var isListDue = false

    init(path: String) {
        self.path = path
        main = DaemonKeeper(DaemonLink(path: path))
        drawerLink = DaemonLink(path: path)
        cabinet = Cabinet(main)
        main.stores = self
    }

    func begin() {
        EventLoop.shared.task { await self.watch() }
    }

    private func state(of name: [UInt8]) -> Bool? {
        known?.first { $0.value.name == name }?.value.isOpen
    }

    private var keepers: [DaemonKeeper] { [main] + drawers.values }

    // MARK: events

    private func watch() async {
        var backOff = BackOff()
        // A daemon that is restarted keeps open what is open: what was heard last holds meanwhile.
        var comesBack: UInt64 = 0
        while true {
            let wasHeard = await listen()
            hasTried = true
            main.wake()
            let now = Clock.bootMilliseconds()
            if wasHeard {
                backOff.succeeded()
                comesBack = now + DaemonLink.restart
            } else if now < comesBack {
                await EventLoop.sleep(until: now + 50)
            } else {
                becomeUnknown()
                await EventLoop.sleep(until: now + backOff.milliseconds())
            }
        }
    }

    /// Until the connection ends. False if the daemon has not told how things are.
    private func listen() async -> Bool {
        var first: [Event]? = []
        do throws(DaemonConnection.Failure) {
            let deadline = Clock.bootMilliseconds() + Self.patience
            let connection = try await DaemonConnection.open(path, until: deadline)
            defer { connection.close() }
            try await connection.send(OutgoingFrame(.watch, Watch(records: true)), until: deadline)
            while true {
                let frame = try await connection.next(until: first == nil ? nil : deadline)
                guard frame.type == .event, let event = try? frame.decode(Event.self) else {
                    return first == nil
                }
                if first == nil {
                    take(event)
                } else if event.what == .told {
                    begin(with: first ?? [])
                    first = nil
                } else {
                    first?.append(event)
                }
            }
        } catch {
            if first != nil, case .refused(let refused, _) = error { complain(refused) }
            return first == nil
        }
    }

    /// Each reason once: it is tried again and again.
    private func complain(_ refused: Refused) {
        guard complaint != refused.message else { return }
        complaint = refused.message
        let text = String(decoding: refused.message, as: UTF8.self)
        Complaint.say("appvaultd does not tell what happens to the stores: \(text)")
    }

    /// Everything may be different from what was heard last: another daemon may be there.
    func begin(with events: [Event]) {
        var stores: [SecretID: Known] = [:]
        complaint = nil
        isAway = false
        for event in events { note(event, &stores) }
        known = stores
        hasTried = true
        for keeper in keepers { keeper.beginAnew() }
        list()
    }

    private func becomeUnknown() {
        guard known != nil else { return }
        known = nil
        drawerLink.drop()
        for keeper in keepers { keeper.becomeUnknown() }
    }

    private func note(_ event: Event, _ stores: inout [SecretID: Known]) {
        func tell(_ isOpen: Bool) {
            guard let id = SecretID(event.store) else { return }
            // What was taken for granted after an answer has an id from now on.
            if stores[.zero]?.name == event.name { stores[.zero] = nil }
            stores[id] = Known(name: event.name, isOpen: isOpen)
        }
        switch event.what {
        case .locked: tell(false)
        case .opened: tell(true)
        case .removed: if let id = SecretID(event.store) { stores[id] = nil }
        case .left: isAway = true
        case .cameBack: isAway = false
        case .changed, .fingerAdded, .members, .records:
            // It may have another name.
            if let id = SecretID(event.store), let state = stores[id]?.isOpen { tell(state) }
        case .told: break
        }
    }

    func take(_ event: Event) {
        var stores = known ?? [:]
        note(event, &stores)
        if stores != known { known = stores }
        for keeper in keepers { keeper.take(event) }
        switch event.what {
        // Of a store that is not shared with the person any more, nothing else is told.
        case .locked, .opened, .removed, .members, .changed:
            if event.name != Self.secrets { list() }
        case .left, .cameBack, .told, .fingerAdded, .records: break
        }
    }

    /// An answer has said so, and its event may come later.
    func assume(_ name: [UInt8], isOpen: Bool) {
        guard var stores = known else { return }
        let id = stores.first { $0.value.name == name }?.key ?? .zero
        stores[id] = Known(name: name, isOpen: isOpen)
        known = stores
        var event = Event(isOpen ? .opened : .locked)
        event.name = name
        for keeper in keepers { keeper.take(event) }
    }

    // MARK: drawers

    /// Asks which drawers there are, once for all that happens meanwhile.
    func list() {
        guard !isListing else {
            isListDue = true
            return
        }
        isListing = true
        EventLoop.shared.task {
            repeat {
                self.isListDue = false
                do throws(KeeperError) {
                    self.keep(try await self.entries())
                } catch {
                    self.listLater()
                }
                if !self.isListed {
                    self.isListed = true
                    self.main.wake()
                }
            } while self.isListDue && self.known != nil
            self.isListing = false
        }
    }

    private func listLater() {
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 5_000)
            if self.known != nil { self.list() }
        }
    }

    private func entries() async throws(KeeperError) -> [StoreList.Entry] {
        let deadline = Clock.bootMilliseconds() + Self.patience
        var entries: [StoreList.Entry] = []
        var cursor: UInt32 = 0
        repeat {
            let answer = try await drawerLink.exchange(
                OutgoingFrame(.stores, Stores(subject: Subject(), all: false, cursor: cursor)),
                .reads, until: deadline)
            guard answer.type == .storeList, let page = try? answer.decode(StoreList.self) else {
                drawerLink.drop()
                throw .unavailable
            }
            entries += page.stores
            cursor = page.cursor
        } while cursor != 0
        return entries
    }

    func keep(_ entries: [StoreList.Entry]) {
        if let own = entries.first(where: { $0.name == Self.secrets && $0.role == .owner }) {
            main.follow(own.kind == .follows ? own.parent : nil)
        }
        var found: [SecretID: Drawer] = [:]
        let all = entries.compactMap { Drawer($0) }
        // The person's own ones first.
        let sorted = all.sorted { ($0.standing.rank, $0.id) < ($1.standing.rank, $1.id) }
        for drawer in sorted.prefix(Self.mostDrawers) {
            found[drawer.id] = drawer
        }
        for (id, keeper) in drawers where found[id] == nil {
            drawers[id] = nil
            keeper.leave()
            cabinet.remove(id)
        }
        for (id, drawer) in found {
            if let keeper = drawers[id] {
                keeper.become(drawer)
            } else {
                let keeper = DaemonKeeper(drawerLink, drawer)
                keeper.stores = self
                drawers[id] = keeper
                cabinet.add(keeper, as: id)
                keeper.appear()
            }
        }
    }

    /// Whether there is room for what is in shared stores.
    var hasRoomForOthers: Bool {
        drawers.values.reduce(0) { $0 + ($1.standing == .own ? 0 : $1.mirror.weight) }
            <= Self.mostOfOthers
    }
}
