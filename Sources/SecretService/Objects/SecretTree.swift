import Bus
import Posix
import Wire

/// The objects of org.freedesktop.secrets, as each client sees them.
@LoopActor
final class SecretTree: BusTree {
    /// Milliseconds from the arrival of a call in which it is answered, whatever the daemon does.
    /// Clients wait 25 seconds.
    static let patience: UInt64 = 20_000
    /// Of a list of objects in one call.
    static let mostPaths = 65_536
    /// Of those that are to be unlocked or locked: a prompt keeps them.
    static let mostOfLocking = Prompts.mostObjects

    /// Whose items, and in which of its collections.
    struct Shelf {
        let keeper: any Keeper
        let collection: ObjectPath.Collection
        let id: SecretID
    }

    let cabinet: Cabinet
    let passing: any Keeper
    let asker: any Asker
    let sessions = Sessions()
    let prompts: Prompts
    var placeholders = Placeholders()
    let journal: Journal
    /// Whose the items are that end with this process, and how much they take.
    var passers = Passers()
    private let bus: Bus
    private let tidying = Tidying()

    init(_ bus: Bus, _ cabinet: Cabinet, passing: any Keeper, asker: any Asker, journal: Journal) {
        self.bus = bus
        self.cabinet = cabinet
        self.asker = asker
        self.passing = passing
        self.journal = journal
        prompts = Prompts(cabinet.main, asker) { prompt, isDismissed, result in
            Announcer.tell {
                () throws(BusError) in
                try bus.emit(
                    "Completed", of: Interfaces.prompt.name, at: ObjectPath.prompt(path: prompt.id),
                    [.bool(isDismissed), .variant(result)], to: prompt.client.name)
            }
        }
    }

    /// The store `secrets`.
    var stored: any Keeper { cabinet.main }

    /// Of all waits together that one call needs.
    func deadline(of call: BusTreeCall) -> UInt64 { call.arrived + Self.patience }

    /// Of what a prompt leads to: its client waits for no answer, and the person has just come to it.
    var deadlineOfPrompt: UInt64 { Clock.bootMilliseconds() + Self.patience }

    // MARK: what is where

    func shelf(_ collection: ObjectPath.Collection) -> Shelf? {
        switch collection {
        case .session: return Shelf(keeper: passing, collection: collection, id: .zero)
        case .stored(let id):
            guard let keeper = cabinet.keeper(of: id) else { return nil }
            return Shelf(keeper: keeper, collection: collection, id: id)
        }
    }

    func alias(_ name: String) -> ObjectPath.Collection? {
        // One of a collection that is not there any more means what it means without one.
        if let id = stored.mirror.aliases[Array(name.utf8)], cabinet.keeper(of: id) != nil {
            return .stored(id)
        }
        switch name {
        case "default", "login": return .login
        case "session": return .session
        default: return nil
        }
    }

    /// Aliases are gone from it, and stand for what they mean.
    func resolved(_ path: String) -> ObjectPath? {
        let found = ObjectPath(path)
        switch found {
        case .alias(let name): return alias(name).map { .collection($0) }
        case .itemOfAlias(let name, let id): return alias(name).map { .item($0, id) }
        case nil, .service, .folder, .collection, .item, .session, .prompt: return found
        }
    }

    /// An item that is there. Before the first opening nobody knows which there are, and each may be.
    /// What stands for items that were searched then is the first of them afterwards.
    func place(_ collection: ObjectPath.Collection, _ id: SecretID) -> (Shelf, SecretID)? {
        guard let shelf = shelf(collection) else { return nil }
        if shelf.keeper.mirror.collection(of: id) == shelf.id { return (shelf, id) }
        if !shelf.keeper.wasOpen { return (shelf, id) }
        if case .stored = collection, let search = placeholders.search(id),
            let first = matches(search).first,
            let own = first.keeper.mirror.collection(of: first.id),
            let shelf = self.shelf(.stored(own))
        {
            return (shelf, first.id)
        }
        return nil
    }

    /// In all that is kept, or in one collection.
    func matches(_ search: Placeholders.Search) -> [(keeper: any Keeper, id: SecretID)] {
        let keepers = search.collection.map { cabinet.keeper(of: $0).map { [$0] } ?? [] }
        return (keepers ?? cabinet.all).flatMap { keeper in
            keeper.mirror.search(search.attributes, in: search.collection).map { (keeper, $0) }
        }
    }

    func path(_ id: SecretID, in keeper: any Keeper) -> String? {
        guard let collection = keeper.mirror.collection(of: id) else { return nil }
        return (keeper === passing ? .session : ObjectPath.Collection.stored(collection)).path(
            of: id)
    }

    func interfaces(for call: BusTreeCall) async -> [BusInterface]? {
        tidying.note(1)
        await known(ObjectPath(call.path), until: deadline(of: call))
        switch resolved(call.path) {
        case nil: return nil
        case .service: return [Interfaces.service]
        case .folder: return []
        case .collection(let collection):
            return shelf(collection) == nil ? nil : [Interfaces.collection]
        case .item(let collection, let id):
            return place(collection, id) == nil ? nil : [Interfaces.item]
        case .session(let id): return sessions.ids.contains(id) ? [Interfaces.session] : nil
        case .prompt(let id): return prompts.ids.contains(id) ? [Interfaces.prompt] : nil
        case .alias, .itemOfAlias: return nil
        }
    }

    /// Waits until it is known what there is, where an answer depends on it.
    func known(_ path: ObjectPath?, until deadline: UInt64) async {
        switch path {
        case .collection(.stored(let id)), .item(.stored(let id), _):
            _ = await cabinet.ready([id], until: deadline)
        case .folder, .collection(.session), .item(.session, _), .alias, .itemOfAlias:
            _ = await cabinet.ready(until: deadline)
        case nil, .service, .session, .prompt: break
        }
    }

    func children(of path: String) -> [String] {
        switch resolved(path) {
        case .service: return ObjectPath.Folder.allCases.map(\.rawValue)
        case .folder(.collection): return collections.map(\.text)
        case .folder(.aliases):
            return Set(
                ["default"] + stored.mirror.aliases.keys.map { String(decoding: $0, as: UTF8.self) }
            ).filter(Self.isPart).sorted()
        case .folder(.session): return sessions.ids.map(\.text)
        case .folder(.prompt): return prompts.ids.map(\.text)
        case .collection(let collection):
            guard let shelf = shelf(collection) else { return [] }
            return shelf.keeper.mirror.items(in: shelf.id).map(\.text)
        case nil, .item, .session, .prompt, .alias, .itemOfAlias: return []
        }
    }

    /// Other names of aliases have no path.
    private static func isPart(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    || $0 == 95
            }
    }

    var collections: [ObjectPath.Collection] {
        cabinet.collections.map { .stored($0) } + [.session]
    }

    // MARK: calls

    func call(
        _ method: String, of interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        defer { keepNote(of: call.client) }
        switch resolved(call.path) {
        case .service: return try await service(method, call)
        case .collection(let collection):
            guard let shelf = shelf(collection) else { throw .noSuchObject }
            return try await self.collection(method, shelf, call)
        case .item(let collection, let id):
            guard let (shelf, id) = place(collection, id) else { throw .noSuchObject }
            return try await item(method, shelf, id, call)
        case .session(let id):
            guard sessions.session(id, of: call.client) != nil else { throw .noSession }
            sessions.close(id, of: call.client)
            return []
        case .prompt(let id):
            guard let prompt = prompts.prompt(id, of: call.client) else { throw .noSuchObject }
            if method == "Dismiss" { prompts.dismiss(prompt) } else { prompts.begin(prompt) }
            return []
        case nil, .folder, .alias, .itemOfAlias: throw .noSuchObject
        }
    }

    /// The bus remembers a client for which something is kept.
    private func keepNote(of client: BusClient) {
        client.isKept =
            sessions.has(client) || prompts.has(client) || passers.has(client.name)
    }

    func left(_ client: BusClient) {
        sessions.closeAll(of: client)
        prompts.left(client)
        journal.left(client)
    }

    func value(
        of property: String, in interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> BusValue {
        switch resolved(call.path) {
        case .service:
            _ = await cabinet.ready(until: deadline(of: call))
            return .paths(collections.map(\.path))
        case .collection(let collection):
            guard let shelf = shelf(collection) else { throw .noSuchObject }
            return value(of: property, shelf)
        case .item(let collection, let id):
            guard let (shelf, id) = place(collection, id) else { throw .noSuchObject }
            return value(of: property, shelf, id)
        case nil, .folder, .session, .prompt, .alias, .itemOfAlias: throw .noSuchObject
        }
    }

    func set(
        _ property: String, in interface: String, to value: BusValue, _ call: BusTreeCall
    ) async throws(BusRefusal) {
        switch resolved(call.path) {
        case .collection(let collection):
            guard let shelf = shelf(collection), case .string(let label) = value else {
                throw .noSuchObject
            }
            try await setLabel(label, of: shelf, call)
        case .item(let collection, let id):
            guard let (shelf, id) = place(collection, id) else { throw .noSuchObject }
            try await set(property, to: value, shelf, id, call)
        case nil, .service, .folder, .session, .prompt, .alias, .itemOfAlias:
            throw .noSuchObject
        }
    }

    // MARK: signals

    func emitChanged(_ properties: [String: BusValue], at path: String, to client: BusClient) {
        Announcer.tell {
            () throws(BusError) in
            try bus.emitChanged(properties, of: Interfaces.item.name, at: path, to: client.name)
        }
    }
}

extension BusRefusal {
    init(_ error: KeeperError) {
        switch error {
        case .locked: self = .isLocked
        case .notFound: self = .noSuchObject
        case .tooLarge:
            self = .limitsExceeded("a secret may have 1 MiB, and an item no more than that")
        case .notPermitted(let text): self = .accessDenied(text)
        case .full(let text), .invalid(let text): self = .failed(text)
        case .unavailable: self = .failed("appvaultd does not answer; nothing was changed")
        case .unknown:
            self = .failed("appvaultd has ended meanwhile; see whether it was stored")
        }
    }
}

/// Runs what the keeper does, with its errors as a client knows them.
@LoopActor
func refusing<R: Sendable>(
    _ body: () async throws(KeeperError) -> R
) async throws(BusRefusal) -> R {
    do throws(KeeperError) {
        return try await body()
    } catch {
        throw BusRefusal(error)
    }
}
