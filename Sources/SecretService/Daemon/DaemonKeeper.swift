import Posix
import Wire

/// Items of one store of the daemon's: of `secrets`, which opens and locks with `default`, or of a
/// drawer. What is known of them is taken from the daemon when the store opens, and kept up by its
/// events.
@LoopActor
final class DaemonKeeper: Keeper {
    private static let secrets = Array("secrets".utf8)
    private static let parent = Array("default".utf8)
    /// Milliseconds for one page of what has changed.
    private static let patience: UInt64 = 20_000

    let mirror = Mirror()
    private let link: DaemonLink
    unowned var stores: DaemonStores!
    /// Nil for `secrets`.
    private var drawer: Drawer?
    private var opening: UInt64 = 0
    private var since: UInt64 = 0
    /// What the mirror shows is as new as the opening that goes on.
    private var isCurrent = false
    private var isRefreshing = false
    private var isRefreshDue = false
    private let tidying = Tidying()
    private var followers: [First<Bool>] = []
    private var waiting: [First<Bool>] = []
    private var waitingForStore: [First<KeeperError?>] = []
    private(set) var wasOpen = false
    /// As others heard of it last.
    private var wereOpen = false
    private var wasAway = false
    private var hadStore = false
    /// `default` is open, and this store is opened along a moment later, unless it was locked alone.
    /// Only the daemon knows which, and is asked before anybody is told of what was never read.
    private var isComing = false
    private(set) var comesBy: UInt64 = 0
    /// The store that it follows.
    private var leader: [UInt8]?
    var told: (@LoopActor (Mirror.Changes) -> Void)?
    var turned: (@LoopActor () -> Void)?

    // Of a drawer alone.

    /// What the daemon has refused lately: a membership that waits, damage, too many items.
    private var isShut = false
    private var hasFailed = false
    /// The person has locked it by this program: what opens a shared store is open all the same.
    private var isLockedHere = false
    private var isLeftOut = false
    /// Those within the store: programs see them as one.
    private var inner: Set<[UInt8]> = []

    init(_ link: DaemonLink) {
        self.link = link
        leader = Self.parent
        // It is there before the daemon says so: clients look for it at their start.
        var changes = Mirror.Changes()
        mirror.put(Self.login, &changes)
    }

    init(_ link: DaemonLink, _ drawer: Drawer) {
        self.link = link
        self.drawer = drawer
        leader = drawer.leader
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

    private var name: [UInt8] { drawer?.name ?? Self.secrets }
    private var isShared: Bool { drawer?.kind == .shared }

    private var ownState: Bool? {
        guard let drawer else { return stores.secretsState }
        return stores.known?[drawer.id]?.isOpen
    }

    /// Something can be asked of it without a question to the person.
    private var isReadable: Bool {
        guard isShared else { return ownState == true || isComing }
        return stores.parentState == true && !isLockedHere && !isLeftOut
    }

    var isOpen: Bool {
        if isShared { return isReadable && !isShut }
        return ownState ?? (drawer == nil ? stores.parentState : nil) ?? false
    }
    var exists: Bool {
        drawer != nil || stores.known == nil || ownState != nil || stores.parentState != nil
    }
    var opener: String {
        let name = drawer == nil && ownState == nil ? Self.parent : self.name
        return String(decoding: name, as: UTF8.self)
    }
    var isAway: Bool { stores.isAway }
    var standing: Standing { drawer?.standing ?? .inside }

    // MARK: events

    /// Everything may be different from what was heard last.
    func beginAnew() {
        // What a former daemon was at, this one may know nothing of.
        (isCurrent, comesBy) = (false, 0)
        if drawer == nil, ownState == nil { forget() }
        expect()
        let hasTurned = turn()
        if isOpen || isReadable { refresh() }
        wake()
        if hasTurned { turned?() }
    }

    func becomeUnknown() {
        (isCurrent, isComing) = (false, false)
        link.drop()
        if turn() { turned?() }
    }

    func take(_ event: Event) {
        expect(after: event)
        let hasTurned = turn()
        if !isOpen { wake() }
        switch event.what {
        case .opened:
            if drawer != nil, hasTurned { refresh() }
            if event.name == Self.parent { expect() }
            if isOurs(event) || isComing || drawer == nil && ownState == nil { refresh() }
        case .records: if isOurs(event) { refresh() }
        // There is nothing left to be taken, and that is known now.
        case .removed: if isOurs(event) { refresh() }
        case .locked, .left, .cameBack, .changed, .fingerAdded, .told, .members: break
        }
        if hasTurned { turned?() }
    }

    private func isOurs(_ event: Event) -> Bool {
        guard let drawer else { return event.name == Self.secrets }
        return event.store == drawer.id.bytes || event.name == drawer.name
    }

    /// The daemon tells of the store that this one follows first, and of this one when it has
    /// opened it.
    private func expect(after event: Event) {
        switch event.what {
        case .opened where event.name == leader && ownState == false:
            comesBy = Clock.bootMilliseconds() + Self.patience
        case .opened, .locked:
            if event.name == leader || isOurs(event) { comesBy = 0 }
        case .changed, .fingerAdded, .members, .records, .removed, .left, .cameBack, .told: break
        }
    }

    func follow(_ leader: [UInt8]?) {
        guard leader != self.leader else { return }
        self.leader = leader
        guard comesBy > 0 else { return }
        comesBy = 0
        turned?()
    }

    private func expect() {
        isComing =
            drawer == nil && !wasOpen && stores.parentState == true && ownState == false
    }

    /// Whether others have something to hear.
    private func turn() -> Bool {
        if stores.known != nil {
            if drawer == nil, hadStore, ownState == nil { forget() }
            hadStore = ownState != nil
        }
        // Like a follower that was locked alone: it opens with the next opening.
        if isShared, stores.parentState != true { isLockedHere = false }
        let isOpen = self.isOpen
        defer { (wereOpen, wasAway) = (isOpen, isAway) }
        if isOpen != wereOpen { isCurrent = false }
        return isOpen != wereOpen || isAway != wasAway
    }

    private func look() {
        if turn() { turned?() }
        wake()
    }

    // MARK: a drawer

    /// It is there from now on. One that is marked is a collection at once.
    func appear() {
        (wereOpen, wasAway) = (isOpen, isAway)
        show(isMarked: drawer?.isMarked == true)
        refresh()
    }

    /// It is called otherwise, or the person may do something else with it.
    func become(_ new: Drawer) {
        guard let old = drawer else { return }
        drawer = new
        follow(new.leader)
        if new.name != old.name, mirror.collections[new.id] != nil { show(isMarked: true) }
        look()
        if !isCurrent || isShut { refresh() }
    }

    /// It is not there any more, or not for this person.
    func leave() {
        guard let drawer else { return }
        var changes = Mirror.Changes()
        mirror.clear(&changes)
        mirror.remove(collection: drawer.id, &changes)
        tell(changes)
        isLeftOut = true
        look()
    }

    private func show(isMarked: Bool) {
        guard isMarked, let drawer else { return }
        var changes = Mirror.Changes()
        mirror.put(drawer.collection, &changes)
        tell(changes)
    }

    /// As programs see what is in a drawer.
    private func outer(_ item: Item) -> Item {
        guard let drawer else { return item }
        var outer = item
        outer.collection = drawer.id.bytes
        return outer
    }

    private func outer(_ news: ItemNews) -> ItemNews {
        guard let drawer else {
            var named = news
            named.collections = news.collections.map(Self.named)
            return named
        }
        var outer = news
        outer.items = news.items.map(self.outer)
        outer.aliases = []
        let isThere =
            drawer.isMarked || mirror.collections[drawer.id] != nil || !news.items.isEmpty
            || news.collections.contains { $0.created != 0 }
        outer.collections = isThere && !news.collections.isEmpty ? [drawer.collection] : []
        if isThere { show(isMarked: true) }
        return outer
    }

    /// What was in a collection within the store that is no more is not told one by one.
    private func mustBeginAnew(_ news: ItemNews) -> Bool {
        guard drawer != nil else { return false }
        let now = Set(news.collections.map(\.id))
        defer { inner = now }
        return !news.isAnew && !inner.isSubset(of: now)
    }

    /// What others share must not fill this process.
    private func isWithinMeasure() -> Bool {
        guard isShared, !stores.hasRoomForOthers else { return true }
        Complaint.say("what is shared with the person is too much; a store is left out")
        leave()
        return false
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
        guard isReadable else {
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
            var isWhole = false
            repeat {
                self.isRefreshDue = false
                isWhole = await self.takeNews()
            } while self.isRefreshDue && self.isReadable
            self.isRefreshing = false
            let waiting = self.followers
            self.followers = []
            for each in waiting { each.settle(isWhole) }
        }
    }

    func follow() async -> Bool {
        guard isReadable else { return ownState == nil && isOpen }
        // A pass that has begun already is followed by another one.
        refresh()
        let follower = First<Bool>()
        followers.append(follower)
        return await follower.value()
    }

    /// Whether it is all.
    private func takeNews() async -> Bool {
        var asked = ItemChanges(store: name, opening: opening, since: since)
        var first: ItemNews?
        var changes = Mirror.Changes()
        changes.isFirst = !wasOpen
        // What has come so far is true, whatever becomes of the rest.
        defer { tell(changes) }
        while isReadable {
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
                isComing = false
                if error != .locked { fail(error) }
                wake()
                return false
            }
            if first == nil || news.isAnew, mustBeginAnew(news) {
                asked = ItemChanges(store: name)
                first = nil
                continue
            }
            tidying.note(news.items.count)
            news = outer(news)
            mirror.apply(news, isFirst: first == nil, &changes)
            if first == nil || news.isAnew { first = news }
            guard isWithinMeasure() else {
                changes = Mirror.Changes()
                return false
            }
            asked.cursor = news.cursor
            if news.cursor == 0 { break }
        }
        guard let first, asked.cursor == 0 else { return false }
        (opening, since) = (first.opening, first.now)
        becomeCurrent()
        return true
    }

    /// A drawer that cannot be read is locked for the person, and keeps nobody waiting. What has
    /// refused it once is asked again when something happens to it.
    private func fail(_ error: KeeperError) {
        guard drawer != nil else { return retryLater(after: 1_000) }
        hasFailed = true
        switch error {
        case .unavailable, .unknown: retryLater(after: 5_000)
        case .locked, .notFound, .notPermitted, .tooLarge, .full, .invalid: isShut = true
        }
        look()
    }

    private func retryLater(after milliseconds: UInt64) {
        (opening, since) = (0, 0)
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + milliseconds)
            if self.isReadable { self.refresh() }
        }
    }

    private func becomeCurrent() {
        (isShut, hasFailed, isComing) = (false, false, false)
        isCurrent = true
        wasOpen = true
        // It may be open from now on, and what is known is of this opening.
        if drawer != nil, turn() {
            isCurrent = true
            turned?()
        }
        wake()
    }

    private var isReady: Bool {
        guard stores.known != nil else { return stores.hasTried }
        if drawer != nil { return !isOpen || isCurrent || hasFailed }
        return stores.isListed && !isComing && (!isOpen || isCurrent)
    }

    func wake() {
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
        if kind == .changes, drawer == nil { try await makeStore(until: deadline) }
        let answer: IncomingFrame
        do throws(KeeperError) {
            answer = try await link.exchange(
                OutgoingFrame(type, body, secret: secret), kind, until: deadline)
        } catch {
            if error == .unknown { doubt() }
            throw error
        }
        guard answer.type == wanted, let decoded = try? answer.decode(B.self) else {
            link.drop()
            doubt()
            throw .unknown
        }
        return decoded
    }

    /// What has happened is in the news. Until they have come, the mirror may be wrong: whoever was
    /// told that it is not known, and looks, must not be shown what was there before.
    private func doubt() {
        isCurrent = false
        refresh()
    }

    /// At the first use; `default` has to be open for it.
    private func makeStore(until deadline: UInt64) async throws(KeeperError) {
        guard stores.known != nil else { throw .unavailable }
        guard ownState == nil else { return }
        guard stores.parentState == true else { throw .locked }
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
            target: Target(store: Self.secrets), way: .followStore, openExisting: true)
        create.policyKey = Self.secrets
        let answer = try await link.exchange(
            OutgoingFrame(.create, create), .changes,
            until: Clock.bootMilliseconds() + Self.patience)
        guard answer.type == .done else { throw .unknown }
        // Its event may come later than this answer.
        if ownState == nil { stores.assume(Self.secrets, isOpen: true) }
        refresh()
    }

    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item {
        let stored = try await ask(
            .itemPut, PutItem(store: name, item: inner(item), replace: replace), secret: secret,
            for: .item, Item.self, until: deadline)
        take(stored)
        return stored
    }

    /// Whatever comes new into a drawer is in the collection that each store has.
    private func inner(_ item: Item) -> Item {
        guard drawer != nil else { return item }
        var inner = item
        inner.collection = SecretID.zero.bytes
        return inner
    }

    private func take(_ stored: Item) {
        var changes = Mirror.Changes()
        mirror.put(outer(stored), &changes)
        tell(changes)
    }

    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError) {
        var item = Item()
        item.id = change.id.bytes
        item.label = change.label ?? []
        item.attributes = change.attributes ?? []
        item.contentType = change.secret?.contentType ?? []
        var request = ChangeItem(store: name, item: item)
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
            .itemDelete, StoredID(store: name, id: item.bytes), for: .done, Done.self,
            until: deadline)
        var changes = Mirror.Changes()
        mirror.remove(item, &changes)
        tell(changes)
    }

    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret] {
        guard stores.known != nil else { throw .unavailable }
        guard isOpen else { throw .locked }
        var found: [SecretID: KeptSecret] = [:]
        var rest = items[...]
        while !rest.isEmpty, isShared || ownState != nil {
            let asked = rest.prefix(Limits.page)
            let answer = try await link.exchange(
                OutgoingFrame(
                    .itemSecrets, GetSecrets(store: name, ids: asked.map(\.bytes))),
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
        guard let drawer else { return try await put(collection, isNew: false, until: deadline) }
        // A drawer is called what its store is called.
        guard drawer.role == .owner else {
            throw .notPermitted("only the owner of a shared store gives it another name")
        }
        _ = try await ask(
            .rename, Rename(target: Target(store: drawer.name), name: collection.label),
            for: .done, Done.self, until: deadline)
        become(drawer.renamed(collection.label))
        return mirror.collections[drawer.id] ?? collection
    }

    private func put(
        _ collection: ItemCollection, isNew: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        let stored = try await ask(
            .collectionPut,
            PutCollection(store: name, collection: collection, isNew: isNew),
            for: .collection, ItemCollection.self, until: deadline)
        var changes = Mirror.Changes()
        mirror.put(Self.named(stored), &changes)
        tell(changes)
        return stored
    }

    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError) {
        _ = try await ask(
            .collectionDelete, StoredID(store: name, id: collection.bytes), for: .done,
            Done.self, until: deadline)
        var changes = Mirror.Changes()
        mirror.remove(collection: collection, &changes)
        tell(changes)
    }

    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError) {
        _ = try await ask(
            .aliasSet, SetAlias(store: self.name, name: name, collection: collection?.bytes),
            for: .done, Done.self, until: deadline)
        mirror.setAlias(name, collection)
    }

    func lock(until deadline: UInt64) async throws(KeeperError) {
        if isShared {
            // Others use it, and what opens it for this person is open.
            isLockedHere = true
            return look()
        }
        guard ownState == true else { return }
        let answer = try await link.exchange(
            OutgoingFrame(.lock, Target(store: name)), .reads, until: deadline)
        guard answer.type == .done else { throw .unknown }
        // Its event may come later than this answer.
        if ownState == true { stores.assume(name, isOpen: false) }
    }

    func hasBeenOpened() {
        guard isLockedHere else { return }
        isLockedHere = false
        look()
        refresh()
    }
}
