import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire

/// Who is told what happens to their stores. What a watcher has not read yet is kept as what has
/// changed since, and not as a list: it is no longer than the person has stores.
@LoopActor
final class Watchers {
    private var all: [UInt32: [Watcher]] = [:]

    /// Nil if the person has as many as they may have.
    func watch(
        _ person: Person, _ stores: [StoreHost], isAway: Bool, wish: Watch = Watch(),
        isForSecrets: Bool = false
    ) -> Watcher? {
        let others = all[person.uid] ?? []
        let most = isForSecrets ? Limits.watchersOfSecrets : Limits.watchers
        guard others.count(where: { $0.isForSecrets == isForSecrets }) < most else { return nil }
        let watcher = Watcher(person, wish, isForSecrets: isForSecrets)
        for host in stores where host.isKnown(to: person) { watcher.begin(with: host) }
        if isAway { watcher.note(isAway: true) }
        all[person.uid] = others + [watcher]
        return watcher
    }

    func end(_ watcher: Watcher) {
        watcher.end()
        let left = all[watcher.person.uid]?.filter { $0 !== watcher } ?? []
        all[watcher.person.uid] = left.isEmpty ? nil : left
    }

    func note(_ host: StoreHost, _ news: Watcher.News) {
        for watcher in all[host.identity.uid] ?? []
        where host.owner == watcher.person && watcher.wants(news) {
            watcher.note(host, news)
        }
        guard host.isShared || host.isConfiguration else { return }
        // Also who is no member any more, and has not heard of that.
        for watcher in all.values.joined()
        where watcher.person != host.owner && watcher.wants(news) {
            guard host.isKnown(to: watcher.person) || watcher.keeps(host) else { continue }
            watcher.note(host, news)
        }
    }

    /// What `status` says of every store may be different from now on: there is another policy.
    func noteAll() {
        for watcher in all.values.joined() { watcher.noteAll() }
    }

    func note(_ uid: UInt32, isAway: Bool) {
        for watcher in all[uid] ?? [] { watcher.note(isAway: isAway) }
    }
}

/// One connection that hears what happens.
@LoopActor
final class Watcher {
    enum News {
        case opened
        case locked
        case changed
        case fingerAdded
        case members
        case records
        case removed
    }

    let person: Person
    private let wish: Watch
    /// What answers for the desktop's secrets has places of its own to watch from.
    let isForSecrets: Bool
    private var stores: [StoreID: Store] = [:]
    private var isAway = false
    private var isAwayTold = false
    private var wasAway = false
    private var isBeginningTold = false
    private var isOver = false
    private var waiting: First<Void>?

    private struct Store {
        let host: StoreHost
        /// What was told last.
        var isOpenTold: Bool?
        var nameTold: [UInt8] = []
        var wasLocked = false
        var wasChanged = false
        var wasFingerAdded = false
        var wereMembersChanged = false
        var wereRecordsChanged = false
        var isRemoved = false
    }

    init(_ person: Person, _ wish: Watch, isForSecrets: Bool = false) {
        self.person = person
        self.wish = wish
        self.isForSecrets = isForSecrets
    }

    func wants(_ news: News) -> Bool {
        switch news {
        case .records: wish.records
        case .opened, .locked, .changed, .fingerAdded, .members, .removed: true
        }
    }

    /// Those that it keeps something of.
    var storeCount: Int { stores.count }

    func keeps(_ host: StoreHost) -> Bool { stores[host.id] != nil }

    /// The first thing that is told of a store is whether it is open.
    func begin(with host: StoreHost) {
        stores[host.id] = Store(host: host)
    }

    func note(_ host: StoreHost, _ news: News) {
        var store = stores[host.id] ?? Store(host: host)
        switch news {
        case .opened: break
        case .locked: store.wasLocked = true
        case .changed: store.wasChanged = true
        case .fingerAdded: store.wasFingerAdded = true
        case .members: store.wereMembersChanged = true
        case .records: store.wereRecordsChanged = true
        case .removed:
            // Nobody has heard of it, so there is nothing to take back. A person who makes and
            // removes stores must not fill memory with them.
            if store.isOpenTold == nil { return stores[host.id] = nil }
            store.wasChanged = true
            store.isRemoved = true
        }
        stores[host.id] = store
        wake()
    }

    func noteAll() {
        for id in stores.keys { stores[id]?.wasChanged = true }
        wake()
    }

    func note(isAway: Bool) {
        self.isAway = isAway
        if isAway { wasAway = true }
        wake()
    }

    func end() {
        isOver = true
        wake()
    }

    private func wake() {
        waiting?.settle(())
    }

    /// Waits for something to tell; empty when the watch is over.
    func next() async -> [Event] {
        while !isOver {
            let events = take()
            if !events.isEmpty { return events }
            let news = First<Void>()
            waiting = news
            await news.value()
            waiting = nil
        }
        return []
    }

    private func take() -> [Event] {
        var events: [Event] = []
        // The person leaves before their stores are locked.
        if wasAway, !isAwayTold { events.append(Event(.left)) }
        // What one store opens with it comes after it: whoever hears of it knows what else is to come.
        let hosts = stores.values.map(\.host)
        for host in hosts where !host.isFollower { events += take(host.id) }
        for host in hosts where host.isFollower { events += take(host.id) }
        if !isAway, wasAway || isAwayTold { events.append(Event(.cameBack)) }
        isAwayTold = isAway
        wasAway = false
        if !isBeginningTold { events.append(Event(.told)) }
        isBeginningTold = true
        return events
    }

    private func take(_ id: StoreID) -> [Event] {
        guard let store = stores[id] else { return [] }
        let host = store.host
        // Root has given it to somebody else, or it is not shared with the person any more: what
        // happens to it is not theirs to know, nor how it is called by now. That it went is told,
        // also where it was locked.
        guard host.isKnown(to: person) else {
            stores[id] = nil
            guard store.isOpenTold != nil else { return [] }
            return [Event(.locked, store: id.bytes, name: store.nameTold)]
        }
        let name = host.name(for: person)
        let isOpen = host.isOpen
        var whats: [Event.What] = []
        if store.isOpenTold == nil, !isOpen { whats.append(.locked) }
        if store.isOpenTold == true, store.wasLocked || !isOpen { whats.append(.locked) }
        if isOpen, store.isOpenTold != true || store.wasLocked { whats.append(.opened) }
        if store.wasChanged { whats.append(.changed) }
        if store.wasFingerAdded { whats.append(.fingerAdded) }
        if store.wereMembersChanged { whats.append(.members) }
        if store.wereRecordsChanged { whats.append(.records) }
        if store.isRemoved { whats.append(.removed) }
        stores[id] = store.isRemoved ? nil : Store(host: host, isOpenTold: isOpen, nameTold: name)
        return whats.map { Event($0, store: id.bytes, name: name) }
    }
}

extension StoreHost {
    /// Its owner hears what happens to it, and so does everybody it is shared with. Nobody's groups
    /// are asked for: who came by one has a slot.
    fileprivate func isKnown(to person: Person) -> Bool {
        owner == person || role(of: person, groups: nil) != nil
    }

    /// As the person calls it.
    fileprivate func name(for person: Person) -> [UInt8] {
        owner == person
            ? identity.storeName
            : identity.account + [UInt8(ascii: "/")] + identity.storeName
    }
}
