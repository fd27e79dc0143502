import Bus
import Posix
import Wire

extension SecretTree {
    func service(
        _ method: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let message = call.message
        if method != "OpenSession", method != "GetSecrets" {
            _ = await cabinet.ready(until: deadline(of: call))
        }
        switch method {
        case "OpenSession":
            let (algorithm, input) = try Given.read { () throws(BusError) in
                (try message.string(), try message.variant())
            }
            let (output, id) = try sessions.open(algorithm, input, for: call.client)
            return [.variant(output), .path(ObjectPath.session(path: id))]
        case "CreateCollection":
            let (properties, alias) = try Given.read { () throws(BusError) in
                (try message.dictionary(), try message.string())
            }
            return try await createCollection(properties, alias, call)
        case "SearchItems":
            return search(try Given.attributes(message), call)
        case "Unlock":
            let paths = try Given.read { () throws(BusError) in
                try message.paths(atMost: Self.mostOfLocking)
            }
            return try unlock(paths, call)
        case "Lock":
            let paths = try Given.read { () throws(BusError) in
                try message.paths(atMost: Self.mostOfLocking)
            }
            return try await lock(paths, call)
        case "GetSecrets":
            let (paths, session) = try Given.read { () throws(BusError) in
                (try message.paths(atMost: Self.mostPaths), try message.objectPath())
            }
            return try await secrets(paths, session, call)
        case "ReadAlias":
            let name = try Given.read { () throws(BusError) in try message.string() }
            return [.path(alias(name)?.path ?? ObjectPath.none)]
        case "SetAlias":
            let (name, path) = try Given.read { () throws(BusError) in
                (try message.string(), try message.objectPath())
            }
            return try await setAlias(name, path, until: deadline(of: call))
        default: throw .notSupported("the service has no such method")
        }
    }

    // MARK: searching

    private func search(_ attributes: [Item.Attribute], _ call: BusTreeCall) -> [BusValue] {
        journal.note(call.client, "searches", in: "all collections")
        var unlocked: [String] = []
        var locked: [String] = []
        if !stored.isOpen, !stored.wasOpen, stored.exists {
            locked.append(placeholder(attributes, in: nil))
        }
        for keeper in cabinet.all {
            let found = keeper.mirror.search(attributes).compactMap { path($0, in: keeper) }
            if keeper.isOpen { unlocked += found } else { locked += found }
        }
        unlocked += passing.mirror.search(attributes).compactMap { path($0, in: passing) }
        return [.paths(unlocked), .paths(locked)]
    }

    func placeholder(_ attributes: [Item.Attribute], in collection: SecretID?) -> String {
        let id = placeholders.id(
            of: Placeholders.Search(attributes: attributes, collection: collection))
        return ObjectPath.Collection.stored(collection ?? .zero).path(of: id)
    }

    // MARK: locking

    private enum Locking {
        case stored(any Keeper)
        /// It stands for a search, and gives all that this finds.
        case found([(keeper: any Keeper, id: SecretID)])
        case passing
    }

    private func locking(_ path: String) -> Locking? {
        switch resolved(path) {
        case .collection(let collection):
            guard let shelf = shelf(collection) else { return nil }
            return shelf.keeper === passing ? .passing : .stored(shelf.keeper)
        case .item(let collection, let id):
            if shelf(collection)?.keeper.wasOpen == true, let search = placeholders.search(id) {
                return .found(matches(search))
            }
            guard let (shelf, _) = place(collection, id) else { return nil }
            return shelf.keeper === passing ? .passing : .stored(shelf.keeper)
        case .service: return .stored(stored)
        case nil, .folder, .session, .prompt, .alias, .itemOfAlias: return nil
        }
    }

    /// Those that are there and open.
    private func open(_ paths: [String], for client: BusClient) -> [String] {
        var met: Set<String> = []
        var searches: Set<SecretID> = []
        return paths.flatMap { path -> [String] in
            guard met.insert(path).inserted else { return [] }
            // What stands for a search has several paths, by each collection and alias.
            if case .item(_, let id)? = resolved(path), placeholders.search(id) != nil,
                !searches.insert(id).inserted
            {
                return []
            }
            switch locking(path) {
            case .stored(let keeper): return keeper.isOpen ? [path] : []
            case .found(let items):
                return items.filter(\.keeper.isOpen).compactMap { self.path($0.id, in: $0.keeper) }
            case .passing: return [path]
            case nil: return []
            }
        }
    }

    /// Who has to be opened for it.
    private func locked(_ path: String) -> [any Keeper] {
        switch locking(path) {
        case .stored(let keeper): keeper.isOpen ? [] : [keeper]
        case .found(let items): items.map(\.keeper).filter { !$0.isOpen }
        case .passing, nil: []
        }
    }

    private func unlock(_ paths: [String], _ call: BusTreeCall) throws(BusRefusal) -> [BusValue] {
        let client = call.client
        var rest: [String] = []
        var needs: [any Keeper] = []
        for path in paths {
            let keepers = locked(path)
            if !keepers.isEmpty { rest.append(path) }
            for keeper in keepers where !needs.contains(where: { $0 === keeper }) {
                needs.append(keeper)
            }
        }
        let waits = Set(rest)
        let unlocked = open(paths.filter { !waits.contains($0) }, for: client)
        tellUnlocked(unlocked, client)
        guard !needs.isEmpty else { return [.paths(unlocked), .path(ObjectPath.none)] }
        journal.note(client, "wants to unlock", in: "the collections")
        let asked = rest
        // What opens `secrets` opens others as well.
        needs.sort { $0.standing.rank < $1.standing.rank }
        let prompt = try prompts.make(
            for: client, dismissedResult: .paths([]), objects: asked.count, needs: needs,
            isPartial: true
        ) {
            [unowned self] in
            guard await cabinet.ready(until: deadlineOfPrompt) else { return nil }
            let unlocked = open(asked, for: client)
            guard !unlocked.isEmpty || needs.contains(where: \.isOpen) else { return nil }
            tellUnlocked(unlocked, client)
            return .paths(unlocked)
        }
        return [.paths(unlocked), .path(ObjectPath.prompt(path: prompt.id))]
    }

    /// Whoever unlocks items reads of each whether it is locked, and may have kept what it read
    /// before. All others hear of the collection alone.
    private func tellUnlocked(_ paths: [String], _ client: BusClient) {
        for path in paths.prefix(256) {
            guard case .item(let collection, _)? = ObjectPath(path), collection != .session else {
                continue
            }
            emitChanged(["Locked": .bool(false)], at: path, to: client)
        }
    }

    private func lock(
        _ paths: [String], _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        var locked: [String] = []
        var keepers: [any Keeper] = []
        for path in paths {
            let own: [any Keeper]
            switch locking(path) {
            case .stored(let keeper): own = [keeper]
            case .found(let items): own = items.map(\.keeper)
            case .passing, nil: continue
            }
            locked.append(path)
            for keeper in own where !keepers.contains(where: { $0 === keeper }) {
                keepers.append(keeper)
            }
        }
        for keeper in keepers where keeper.isOpen {
            journal.note(call.client, "locks", in: "the collections")
            let deadline = deadline(of: call)
            try await refusing { () async throws(KeeperError) in
                try await keeper.lock(until: deadline)
            }
        }
        return [.paths(locked), .path(ObjectPath.none)]
    }

    // MARK: secrets

    /// Of all secrets in one answer, in bytes.
    private static let mostBytes = 32 << 20
    private static let fewSecrets = 64

    /// Nil where one of them says it by an alias.
    private func collections(of paths: [String]) -> Set<SecretID>? {
        var collections: Set<SecretID> = []
        for path in paths {
            switch ObjectPath(path) {
            case .item(.stored(let id), _): collections.insert(id)
            case .itemOfAlias: return nil
            case nil, .service, .folder, .collection, .item(.session, _), .alias, .session, .prompt:
                break
            }
        }
        return collections
    }

    private func secrets(
        _ paths: [String], _ session: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let session = try (sessions.session(session, of: call.client), session)
        _ = await cabinet.ready(collections(of: paths), until: deadline(of: call))
        var wanted: [(path: String, shelf: Shelf, id: SecretID)] = []
        for path in Set(paths) {
            guard case .item(let collection, let id)? = resolved(path),
                let (shelf, id) = place(collection, id), shelf.keeper.isOpen
            else { continue }
            journal.note(call.client, "reads", in: name(of: shelf))
            wanted.append((path, shelf, id))
        }
        let deadline = deadline(of: call)
        var entries: [BusValue] = []
        var bytes = 0
        for keeper in cabinet.all + [passing] {
            let own = wanted.filter { $0.shelf.keeper === keeper }
            guard !own.isEmpty else { continue }
            // Some at a time, so that those over the limit are not in memory.
            for start in stride(from: 0, to: own.count, by: Self.fewSecrets) {
                let some = own[start..<min(start + Self.fewSecrets, own.count)]
                let ids = Array(Set(some.map(\.id)))
                let found = try await refusing { () async throws(KeeperError) in
                    try await keeper.secrets(ids, until: deadline)
                }
                for (path, _, id) in some {
                    guard let secret = found[id] else { continue }
                    bytes += secret.bytes.count
                    guard bytes <= Self.mostBytes else {
                        throw .limitsExceeded("these are too many secrets for one answer")
                    }
                    entries.append(
                        .entry(.path(path), try session.0.wrap(secret, path: session.1)))
                }
            }
        }
        return [.array(of: "{o(oayays)}", entries)]
    }

    // MARK: collections

    private func createCollection(
        _ properties: [String: BusValue], _ alias: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        // Who asks for what is there already gets it.
        if !alias.isEmpty, let known = self.alias(alias) {
            return [.path(known.path), .path(ObjectPath.none)]
        }
        var collection = ItemCollection()
        if let label = properties[Interfaces.collectionLabel] {
            guard case .string(let label) = label else {
                throw .invalidArguments("the label is a text")
            }
            collection.label = try Given.text(label, atMost: Limits.collectionText)
        }
        let name = try Given.text(alias, atMost: Limits.aliasText)
        journal.note(call.client, "makes", in: "a collection")
        let new = collection
        let id = SecretID.marked()
        let store = storeName(for: collection.label)
        let question = Prompt.Question(
            ask: { [unowned self] in
                do throws(BusRefusal) {
                    switch await asker.make(store, id: id) {
                    case .refused: return nil
                    case .among: return .path(try await create(new, name, until: deadlineOfPrompt))
                    case .store: return .path(try await found(id, name))
                    }
                } catch {
                    return nil
                }
            }, withdraw: { [unowned self] in asker.withdraw(store) })
        let prompt = try prompts.make(
            for: call.client, dismissedResult: .path(ObjectPath.none), needs: [stored],
            question: question)
        return [.path(ObjectPath.none), .path(ObjectPath.prompt(path: prompt.id))]
    }

    private static let unshown: Set<Unicode.GeneralCategory> = [
        .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
        .paragraphSeparator,
    ]

    /// A name that a store of the person's can have, and none has.
    private func storeName(for label: [UInt8]) -> String {
        let scalars = String(decoding: label, as: UTF8.self).unicodeScalars.map { scalar in
            let isShown = !Self.unshown.contains(scalar.properties.generalCategory)
            return isShown && scalar != "/" ? scalar : Unicode.Scalar(UInt8(ascii: "_"))
        }
        let clean = String(String.UnicodeScalarView(scalars.prefix(48)))
        // What looks like a store's id is no name.
        let isFit = !clean.isEmpty && clean.utf8.count != 36 && clean.utf8.count != 32
        let base = isFit ? clean : "Collection"
        let taken = Set(["default", "secrets"] + cabinet.all.map(\.opener))
        guard taken.contains(base) else { return base }
        return (2...).lazy.map { "\(base) \($0)" }.first { !taken.contains($0) } ?? base
    }

    /// The store has been made: programs see it from now on.
    private func found(_ id: SecretID, _ alias: [UInt8]) async throws(BusRefusal) -> String {
        guard await cabinet.has(id, until: deadlineOfPrompt) else {
            throw .failed("the store was made, and is not to be seen")
        }
        if !alias.isEmpty {
            try await refusing { () async throws(KeeperError) in
                try await stored.setAlias(alias, id, until: deadlineOfPrompt)
            }
        }
        return ObjectPath.Collection.stored(id).path
    }

    private func create(
        _ collection: ItemCollection, _ alias: [UInt8], until deadline: UInt64
    ) async throws(BusRefusal) -> String {
        try await refusing { () async throws(KeeperError) in
            let stored = try await self.stored.put(collection, until: deadline)
            guard let id = SecretID(stored.id) else { throw .unknown }
            if !alias.isEmpty {
                try await self.stored.setAlias(alias, id, until: deadline)
            }
            return ObjectPath.Collection.stored(id).path
        }
    }

    private func setAlias(
        _ name: String, _ path: String, until deadline: UInt64
    ) async throws(BusRefusal) -> [BusValue] {
        let alias = try Given.text(name, atMost: Limits.aliasText)
        guard !alias.isEmpty else { throw .invalidArguments("the alias has no name") }
        var target: SecretID?
        if path != ObjectPath.none {
            guard case .collection(let collection)? = resolved(path), let shelf = shelf(collection)
            else { throw .noSuchObject }
            guard shelf.keeper !== passing else {
                throw .notSupported("this collection has no other alias")
            }
            target = shelf.id
        }
        try await refusing { () async throws(KeeperError) in
            try await stored.setAlias(alias, target, until: deadline)
        }
        return []
    }
}
