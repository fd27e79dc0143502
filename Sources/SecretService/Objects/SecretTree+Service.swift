import Bus
import Posix
import Wire

extension SecretTree {
    func service(
        _ method: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let message = call.message
        if method != "OpenSession" { _ = await stored.ready(until: deadline(of: call)) }
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
        var unlocked = passing.mirror.search(attributes).compactMap { path($0, in: passing) }
        var locked = stored.mirror.search(attributes).compactMap { path($0, in: stored) }
        if stored.isOpen {
            (unlocked, locked) = (locked + unlocked, [])
        } else if !stored.wasOpen, stored.exists {
            locked = [placeholder(attributes, in: nil)]
        }
        return [.paths(unlocked), .paths(locked)]
    }

    func placeholder(_ attributes: [Item.Attribute], in collection: SecretID?) -> String {
        let id = placeholders.id(
            of: Placeholders.Search(attributes: attributes, collection: collection))
        return ObjectPath.Collection.stored(collection ?? .zero).path(of: id)
    }

    // MARK: locking

    private enum Locking {
        /// These objects are to be seen by it: what stands for a search gives all that it finds.
        case stored([String])
        case passing
    }

    private func locking(_ path: String) -> Locking? {
        switch resolved(path) {
        case .collection(let collection):
            guard let shelf = shelf(collection) else { return nil }
            return shelf.keeper === passing ? .passing : .stored([path])
        case .item(let collection, let id):
            if stored.wasOpen, let search = placeholders.search(id) {
                return .stored(matches(search).compactMap { self.path($0, in: stored) })
            }
            guard let (shelf, _) = place(collection, id) else { return nil }
            return shelf.keeper === passing ? .passing : .stored([path])
        case .service: return .stored([path])
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
            case .stored(let objects): return objects
            case .passing: return [path]
            case nil: return []
            }
        }
    }

    private func unlock(_ paths: [String], _ call: BusTreeCall) throws(BusRefusal) -> [BusValue] {
        let client = call.client
        if stored.isOpen {
            let unlocked = open(paths, for: client)
            tellUnlocked(unlocked, client)
            return [.paths(unlocked), .path(ObjectPath.none)]
        }
        var passing: [String] = []
        var rest: [String] = []
        for path in paths {
            switch locking(path) {
            case .stored: rest.append(path)
            case .passing: passing.append(path)
            case nil: break
            }
        }
        guard !rest.isEmpty else { return [.paths(passing), .path(ObjectPath.none)] }
        journal.note(client, "wants to unlock", in: "the collections")
        let asked = rest
        let prompt = try prompts.make(
            for: client, dismissedResult: .paths([]), objects: asked.count
        ) { [unowned self] in
            guard await stored.ready(until: deadlineOfPrompt), stored.isOpen else { return nil }
            let unlocked = open(asked, for: client)
            tellUnlocked(unlocked, client)
            return .paths(unlocked)
        }
        return [.paths(passing), .path(ObjectPath.prompt(path: prompt.id))]
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
        let locked = paths.filter {
            guard case .stored? = locking($0) else { return false }
            return true
        }
        if !locked.isEmpty, stored.isOpen {
            journal.note(call.client, "locks", in: "the collections")
            let deadline = deadline(of: call)
            try await refusing { () async throws(KeeperError) in
                try await stored.lock(until: deadline)
            }
        }
        return [.paths(locked), .path(ObjectPath.none)]
    }

    // MARK: secrets

    /// Of all secrets in one answer, in bytes.
    private static let mostBytes = 32 << 20
    private static let fewSecrets = 64

    private func secrets(
        _ paths: [String], _ session: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let session = try (sessions.session(session, of: call.client), session)
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
        for keeper in [stored, passing] {
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
        if stored.isOpen {
            let path = try await create(collection, name, until: deadline(of: call))
            return [.path(path), .path(ObjectPath.none)]
        }
        let new = collection
        let prompt = try prompts.make(for: call.client, dismissedResult: .path(ObjectPath.none)) {
            [unowned self] in
            do throws(BusRefusal) {
                return .path(try await create(new, name, until: deadlineOfPrompt))
            } catch {
                return nil
            }
        }
        return [.path(ObjectPath.none), .path(ObjectPath.prompt(path: prompt.id))]
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
            guard shelf.keeper === stored else {
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
