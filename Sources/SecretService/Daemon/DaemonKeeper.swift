import Bus
import Posix
import Wire

/// The items are in the person's store `secrets`, which opens and locks with `default`. What is
/// known of them is taken from the daemon when the store opens, and kept up by its events.
@LoopActor
final class DaemonKeeper: Keeper {
    static let store = "secrets"
    private static let name = Array(store.utf8)
    private static let parent = Array("default".utf8)
    /// Milliseconds for one page of what has changed.
    private static let patience: UInt64 = 20_000
    /// Items, after which it is worth while to give back what their taking has cost.
    private static let many = 64
    /// Milliseconds until what they have brought about is over.
    private static let calm: UInt64 = 2_000

    let mirror = Mirror()
    private let path: String
    private let link: DaemonLink
    /// Of each store of the person whether it is open; nil before the daemon has said it.
    private var stores: [[UInt8]: Bool]?
    private var opening: UInt64 = 0
    private var since: UInt64 = 0
    /// What the mirror shows is as new as the opening that goes on.
    private var isCurrent = false
    private var isRefreshing = false
    private var isRefreshDue = false
    private var isGivingBack = false
    /// Items, since the refreshing began.
    private var taken = 0
    private var followers: [First<Bool>] = []
    private var hasTried = false
    private var waiting: [First<Bool>] = []
    private var waitingForStore: [First<KeeperError?>] = []
    /// Why listening was refused last.
    private var complaint: [UInt8]?
    private(set) var wasOpen = false
    private(set) var isAway = false
    var told: (@LoopActor (Mirror.Changes) -> Void)?
    var turned: (@LoopActor () -> Void)?

    init(path: String) {
        self.path = path
        link = DaemonLink(path: path)
        // It is there before the daemon says so: clients look for it at their start.
        var changes = Mirror.Changes()
        mirror.put(Self.login, &changes)
    }

    private static var login: ItemCollection {
        var login = ItemCollection()
        login.label = Array("Login".utf8)
        return login
    }

    /// `login` has that label until somebody gives it another one.
    private static func named(_ collection: ItemCollection) -> ItemCollection {
        guard collection.label.isEmpty, SecretID(collection.id) == .zero else { return collection }
        var named = collection
        named.label = login.label
        return named
    }

    private var ownState: Bool? { stores?[Self.name] }
    private var parentState: Bool? { stores?[Self.parent] }

    var isOpen: Bool { ownState ?? parentState ?? false }
    var exists: Bool { stores == nil || ownState != nil || parentState != nil }
    var opener: String { ownState == nil ? "default" : Self.store }

    func begin() {
        EventLoop.shared.task { await self.watch() }
    }

    // MARK: events

    private func watch() async {
        var backOff = BackOff()
        // A daemon that is restarted keeps open what is open: what was heard last holds meanwhile.
        var comesBack: UInt64 = 0
        while true {
            let wasHeard = await listen()
            hasTried = true
            wake()
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
        Complaint.say("appvaultd does not tell what happens to the store: \(text)")
    }

    /// Everything may be different from what was heard last: another daemon may be there.
    private func begin(with events: [Event]) {
        let wereOpen = isOpen
        let wasAway = isAway
        complaint = nil
        stores = [:]
        isAway = false
        for event in events { note(event) }
        isCurrent = false
        hasTried = true
        if ownState == nil { forget() }
        if isOpen { refresh() }
        wake()
        if isOpen != wereOpen || isAway != wasAway { turned?() }
    }

    private func becomeUnknown() {
        guard stores != nil else { return }
        let wereOpen = isOpen
        stores = nil
        isCurrent = false
        link.drop()
        if wereOpen { turned?() }
    }

    private func note(_ event: Event) {
        switch event.what {
        case .locked: stores?[event.name] = false
        case .opened: stores?[event.name] = true
        case .removed: stores?[event.name] = nil
        case .left: isAway = true
        case .cameBack: isAway = false
        case .changed, .fingerAdded, .told, .members, .records: break
        }
    }

    private func take(_ event: Event) {
        let wereOpen = isOpen
        let hadStore = ownState != nil
        let wasAway = isAway
        note(event)
        if hadStore, ownState == nil { forget() }
        if isOpen != wereOpen { isCurrent = false }
        if !isOpen { wake() }
        let isOurs = event.name == Self.name
        switch event.what {
        case .opened: if isOurs || ownState == nil { refresh() }
        case .records: if isOurs { refresh() }
        // There is nothing left to be taken, and that is known now.
        case .removed: if isOurs { refresh() }
        case .locked, .left, .cameBack, .changed, .fingerAdded, .told, .members: break
        }
        if isOpen != wereOpen || isAway != wasAway { turned?() }
    }

    /// There is no such store: nothing is kept.
    private func forget() {
        (opening, since) = (0, 0)
        var changes = Mirror.Changes()
        mirror.clear(&changes)
        mirror.put(Self.login, &changes)
        tell(changes)
    }

    private func tell(_ changes: Mirror.Changes) {
        if !changes.isEmpty { told?(changes) }
    }

    // MARK: the mirror

    /// Takes what has changed, once for all who want it meanwhile.
    private func refresh() {
        guard ownState == true else {
            // With no store yet there is nothing to take.
            if isOpen { becomeCurrent() }
            return
        }
        guard !isRefreshing else {
            isRefreshDue = true
            return
        }
        isRefreshing = true
        EventLoop.shared.task {
            self.taken = 0
            var isWhole = false
            repeat {
                self.isRefreshDue = false
                isWhole = await self.takeNews()
            } while self.isRefreshDue && self.ownState == true
            self.isRefreshing = false
            if self.taken >= Self.many { self.giveBack() }
            let waiting = self.followers
            self.followers = []
            for each in waiting { each.settle(isWhole) }
        }
    }

    /// What came in was larger than what stays; so is what all clients are told of it.
    private func giveBack() {
        guard !isGivingBack else { return }
        isGivingBack = true
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.calm)
            self.isGivingBack = false
            ThisProcess.giveBackFreed()
        }
    }

    func follow() async -> Bool {
        guard ownState == true else { return ownState == nil && isOpen }
        // A pass that has begun already is followed by another one.
        refresh()
        let follower = First<Bool>()
        followers.append(follower)
        return await follower.value()
    }

    /// Whether it is all.
    private func takeNews() async -> Bool {
        var asked = ItemChanges(store: Self.name, opening: opening, since: since)
        var first: ItemNews?
        var changes = Mirror.Changes()
        changes.isFirst = !wasOpen
        // What has come so far is true, whatever becomes of the rest.
        defer { tell(changes) }
        while ownState == true {
            var news: ItemNews
            do throws(KeeperError) {
                let answer = try await link.exchange(
                    OutgoingFrame(.itemChanges, asked), .reads,
                    until: Clock.bootMilliseconds() + Self.patience)
                guard answer.type == .itemNews, let decoded = try? answer.decode(ItemNews.self)
                else { throw KeeperError.invalid("") }
                news = decoded
            } catch {
                // A store that has locked tells so. Otherwise it is tried again, while it is open.
                if error != .locked { retryLater() }
                return false
            }
            news.collections = news.collections.map(Self.named)
            taken += news.items.count
            mirror.apply(news, isFirst: first == nil, &changes)
            if first == nil || news.isAnew { first = news }
            asked.cursor = news.cursor
            if news.cursor == 0 { break }
        }
        guard let first, asked.cursor == 0 else { return false }
        (opening, since) = (first.opening, first.now)
        becomeCurrent()
        return true
    }

    private func retryLater() {
        (opening, since) = (0, 0)
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 1_000)
            if self.ownState == true { self.refresh() }
        }
    }

    private func becomeCurrent() {
        isCurrent = true
        wasOpen = true
        wake()
    }

    private var isReady: Bool {
        stores == nil ? hasTried : !isOpen || isCurrent
    }

    private func wake() {
        guard isReady else { return }
        let waiting = waiting
        self.waiting = []
        for each in waiting { each.settle(true) }
    }

    func ready(until deadline: UInt64) async -> Bool {
        if isReady { return true }
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

    // MARK: requests

    private func ask<B: Body>(
        _ type: RequestType, _ body: some Body, secret: WipedBuffer? = nil,
        _ kind: DaemonLink.Kind = .changes, for wanted: AnswerType, _: B.Type,
        until deadline: UInt64
    ) async throws(KeeperError) -> B {
        if kind == .changes { try await makeStore(until: deadline) }
        let answer: IncomingFrame
        do throws(KeeperError) {
            answer = try await link.exchange(
                OutgoingFrame(type, body, secret: secret), kind, until: deadline)
        } catch {
            // What has happened is in the news.
            if error == .unknown { refresh() }
            throw error
        }
        guard answer.type == wanted, let decoded = try? answer.decode(B.self) else {
            link.drop()
            throw .unknown
        }
        return decoded
    }

    /// At the first use; `default` has to be open for it.
    private func makeStore(until deadline: UInt64) async throws(KeeperError) {
        guard stores != nil else { throw .unavailable }
        guard ownState == nil else { return }
        guard parentState == true else { throw .locked }
        let made = First<KeeperError?>()
        let timer = EventLoop.shared.at(deadline) {
            EventLoop.shared.task { made.settle(.unavailable) }
        }
        defer { EventLoop.shared.cancel(timer) }
        waitingForStore.append(made)
        if waitingForStore.count == 1 {
            EventLoop.shared.task {
                var failure: KeeperError?
                do throws(KeeperError) { try await self.create() } catch { failure = error }
                let waiting = self.waitingForStore
                self.waitingForStore = []
                for each in waiting { each.settle(failure) }
            }
        }
        if let failure = await made.value() { throw failure }
    }

    private func create() async throws(KeeperError) {
        var create = Create(
            target: Target(store: Self.name), way: .followStore, openExisting: true)
        create.policyKey = Self.name
        let answer = try await link.exchange(
            OutgoingFrame(.create, create), .changes,
            until: Clock.bootMilliseconds() + Self.patience)
        guard answer.type == .done else { throw .unknown }
        // Its event may come later than this answer.
        if ownState == nil { stores?[Self.name] = true }
        refresh()
    }

    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item {
        let stored = try await ask(
            .itemPut, PutItem(store: Self.name, item: item, replace: replace), secret: secret,
            for: .item, Item.self, until: deadline)
        take(stored)
        return stored
    }

    private func take(_ stored: Item) {
        var changes = Mirror.Changes()
        mirror.put(stored, &changes)
        tell(changes)
    }

    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError) {
        var item = Item()
        item.id = change.id.bytes
        item.label = change.label ?? []
        item.attributes = change.attributes ?? []
        item.contentType = change.secret?.contentType ?? []
        var request = ChangeItem(store: Self.name, item: item)
        request.label = change.label != nil
        request.attributes = change.attributes != nil
        request.secret = change.secret != nil
        let stored = try await ask(
            .itemChange, request, secret: change.secret?.bytes ?? WipedBuffer(capacity: 1),
            for: .item, Item.self, until: deadline)
        take(stored)
    }

    func delete(_ item: SecretID, until deadline: UInt64) async throws(KeeperError) {
        _ = try await ask(
            .itemDelete, StoredID(store: Self.name, id: item.bytes), for: .done, Done.self,
            until: deadline)
        var changes = Mirror.Changes()
        mirror.remove(item, &changes)
        tell(changes)
    }

    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret] {
        guard stores != nil else { throw .unavailable }
        guard isOpen else { throw .locked }
        var found: [SecretID: KeptSecret] = [:]
        var rest = items[...]
        while !rest.isEmpty, ownState != nil {
            let asked = rest.prefix(Limits.page)
            let answer = try await link.exchange(
                OutgoingFrame(
                    .itemSecrets, GetSecrets(store: Self.name, ids: asked.map(\.bytes))),
                .reads, until: deadline)
            guard answer.type == .secrets,
                let (given, bytes) = try? answer.decodeWithPayload(
                    GivenSecrets.self, limit: Limits.frame)
            else {
                link.drop()
                throw .unavailable
            }
            var start = 0
            for entry in given.entries {
                guard let id = SecretID(entry.id), Int(entry.length) <= bytes.count - start else {
                    throw .unavailable
                }
                let end = start + Int(entry.length)
                found[id] = KeptSecret(
                    contentType: entry.contentType,
                    bytes: bytes.withBytes { WipedBuffer(copying: $0.extracting(start..<end)) })
                start = end
            }
            guard given.done > 0, Int(given.done) <= asked.count else { throw .unavailable }
            rest = rest.dropFirst(Int(given.done))
        }
        return found
    }

    func put(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        try await put(collection, isNew: true, until: deadline)
    }

    func relabel(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        try await put(collection, isNew: false, until: deadline)
    }

    private func put(
        _ collection: ItemCollection, isNew: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        let stored = try await ask(
            .collectionPut,
            PutCollection(store: Self.name, collection: collection, isNew: isNew),
            for: .collection, ItemCollection.self, until: deadline)
        var changes = Mirror.Changes()
        mirror.put(Self.named(stored), &changes)
        tell(changes)
        return stored
    }

    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError) {
        _ = try await ask(
            .collectionDelete, StoredID(store: Self.name, id: collection.bytes), for: .done,
            Done.self, until: deadline)
        var changes = Mirror.Changes()
        mirror.remove(collection: collection, &changes)
        tell(changes)
    }

    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError) {
        _ = try await ask(
            .aliasSet, SetAlias(store: Self.name, name: name, collection: collection?.bytes),
            for: .done, Done.self, until: deadline)
        mirror.setAlias(name, collection)
    }

    func lock(until deadline: UInt64) async throws(KeeperError) {
        guard ownState == true else { return }
        let answer = try await link.exchange(
            OutgoingFrame(.lock, Target(store: Self.name)), .reads, until: deadline)
        guard answer.type == .done else { throw .unknown }
        // Its event may come later than this answer.
        if ownState == true {
            var event = Event(.locked)
            event.name = Self.name
            take(event)
        }
    }
}
