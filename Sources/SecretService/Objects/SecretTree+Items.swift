import Bus
import Posix
import Wire

// MARK: a collection

extension SecretTree {
    func collection(
        _ method: String, _ shelf: Shelf, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let message = call.message
        switch method {
        case "Delete": return try await delete(shelf, call)
        case "SearchItems":
            let attributes = try Given.attributes(message)
            journal.note(call.client, "searches", in: name(of: shelf))
            if !shelf.keeper.wasOpen, shelf.keeper.exists {
                return [.paths([placeholder(attributes, in: shelf.id)])]
            }
            let found = shelf.keeper.mirror.search(attributes, in: shelf.id)
            return [.paths(found.map { shelf.collection.path(of: $0) })]
        case "CreateItem":
            let (properties, secret, replace) = try Given.read { () throws(BusError) in
                (try message.dictionary(), try CrossingSecret(message), try message.bool())
            }
            return try await createItem(shelf, properties, secret, replace, call)
        default: throw .notSupported("a collection has no such method")
        }
    }

    func value(of property: String, _ shelf: Shelf) -> BusValue {
        let known = shelf.keeper.mirror.collections[shelf.id] ?? ItemCollection()
        switch property {
        case "Items":
            return .paths(
                shelf.keeper.mirror.items(in: shelf.id).map { shelf.collection.path(of: $0) })
        case "Label": return .string(String(decoding: known.label, as: UTF8.self))
        case "Locked": return .bool(!shelf.keeper.isOpen)
        case "Created": return .uint64(known.created)
        default: return .uint64(known.modified)
        }
    }

    func name(of shelf: Shelf) -> String {
        let label = shelf.keeper.mirror.collections[shelf.id]?.label ?? []
        return "\"\(String(decoding: label, as: UTF8.self))\""
    }

    func setLabel(
        _ label: String, of shelf: Shelf, _ call: BusTreeCall
    ) async throws(BusRefusal) {
        let keeper = shelf.keeper
        guard keeper !== passing, var changed = keeper.mirror.collections[shelf.id] else {
            throw .notSupported("this collection keeps its label")
        }
        changed.label = try Given.text(label, atMost: Limits.collectionText)
        let new = changed
        journal.note(call.client, "renames", in: name(of: shelf))
        let deadline = deadline(of: call)
        try await refusing { () async throws(KeeperError) in
            _ = try await keeper.relabel(new, until: deadline)
        }
    }

    private func delete(_ shelf: Shelf, _ call: BusTreeCall) async throws(BusRefusal) -> [BusValue]
    {
        guard shelf.keeper !== passing, shelf.id != .zero else {
            throw .notSupported("this collection is always there; delete its items")
        }
        journal.note(call.client, "deletes", in: name(of: shelf))
        switch shelf.keeper.standing {
        case .inside: break
        case .own, .ownShared: return try erasing(shelf, call)
        case .others:
            throw .accessDenied(
                "it is somebody else's: only its owner deletes it, or ends the share")
        }
        let id = shelf.id
        return try await deleting(shelf, call) {
            [unowned self] (deadline) async throws(KeeperError) in
            try await stored.delete(collection: id, until: deadline)
        }
    }

    /// A whole store goes, for everybody whom it is shared with. The person is told so, and shows
    /// what opens it.
    private func erasing(_ shelf: Shelf, _ call: BusTreeCall) throws(BusRefusal) -> [BusValue] {
        let store = shelf.keeper.opener
        let question = Prompt.Question(
            ask: { [unowned self] in
                guard await asker.erase(store) == .opened else { return nil }
                // Its event may come later than the answer.
                return await cabinet.lacks(shelf.id, until: deadlineOfPrompt) ? .string("") : nil
            }, withdraw: { [unowned self] in asker.withdraw(store) })
        let prompt = try prompts.make(
            for: call.client, dismissedResult: .string(""), question: question)
        return [.path(ObjectPath.prompt(path: prompt.id))]
    }

    /// At once where it is open; otherwise the person is asked first.
    private func deleting(
        _ shelf: Shelf, _ call: BusTreeCall,
        _ work: @escaping @LoopActor (_ deadline: UInt64) async throws(KeeperError) -> Void
    ) async throws(BusRefusal) -> [BusValue] {
        guard shelf.keeper.isOpen else {
            let prompt = try prompts.make(
                for: call.client, dismissedResult: .string(""), needs: [shelf.keeper]
            ) { [unowned self] in
                do throws(KeeperError) {
                    try await work(deadlineOfPrompt)
                    return .string("")
                } catch {
                    return nil
                }
            }
            return [.path(ObjectPath.prompt(path: prompt.id))]
        }
        let deadline = deadline(of: call)
        try await refusing { () async throws(KeeperError) in try await work(deadline) }
        return [.path(ObjectPath.none)]
    }

    private func createItem(
        _ shelf: Shelf, _ properties: [String: BusValue], _ secret: CrossingSecret, _ replace: Bool,
        _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        var item = try Given.item(properties)
        let bytes = try opened(secret, call.client)
        item.collection = shelf.id.bytes
        item.contentType = try Given.text(
            String(decoding: secret.contentType, as: UTF8.self),
            atMost: Limits.text)
        guard shelf.keeper.isOpen else { throw .isLocked }
        let isPassing = shelf.keeper === passing
        let weight = bytes.count + item.weight
        if isPassing, !passers.hasRoom(for: weight, of: call.client.name) {
            throw .limitsExceeded("this program keeps too much in the collection")
        }
        journal.note(call.client, "stores", in: name(of: shelf))
        let new = item
        // Without attributes nothing says that two are the same.
        let replaces = replace && !item.attributes.isEmpty
        let deadline = deadline(of: call)
        let stored = try await refusing { () async throws(KeeperError) in
            try await shelf.keeper.put(new, bytes, replace: replaces, until: deadline)
        }
        guard let id = SecretID(stored.id) else { throw .failed("the item has no id") }
        if isPassing { passers.keep(id, weight, of: call.client.name) }
        return [.path(shelf.collection.path(of: id)), .path(ObjectPath.none)]
    }

    private func opened(
        _ secret: CrossingSecret, _ client: BusClient
    ) throws(BusRefusal) -> WipedBuffer {
        let bytes = try sessions.session(secret.session, of: client).unwrap(secret)
        guard bytes.count <= Limits.value - Self.roomForFields else {
            throw BusRefusal(KeeperError.tooLarge)
        }
        return bytes
    }

    /// Of a record, for what an item has beside its secret.
    private static let roomForFields = 64 << 10
}

// MARK: an item

extension SecretTree {
    func item(
        _ method: String, _ shelf: Shelf, _ id: SecretID, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        let message = call.message
        let deadline = deadline(of: call)
        switch method {
        case "Delete":
            journal.note(call.client, "deletes from", in: name(of: shelf))
            let keeper = shelf.keeper
            if keeper === passing {
                try await refusing { () async throws(KeeperError) in
                    try await keeper.delete(id, until: deadline)
                }
                passers.remove(id)
                return [.path(ObjectPath.none)]
            }
            // It stands for whatever a search will have found, and that nobody has seen yet.
            if !keeper.wasOpen, placeholders.search(id) != nil { throw .isLocked }
            return try await deleting(shelf, call) { (deadline) async throws(KeeperError) in
                try await keeper.delete(id, until: deadline)
            }
        case "GetSecret":
            let path = try Given.read { () throws(BusError) in try message.objectPath() }
            let session = try sessions.session(path, of: call.client)
            guard shelf.keeper.isOpen else { throw .isLocked }
            journal.note(call.client, "reads", in: name(of: shelf))
            let found = try await refusing { () async throws(KeeperError) in
                try await shelf.keeper.secrets([id], until: deadline)
            }
            guard let secret = found[id] else { throw .noSuchObject }
            return [try session.wrap(secret, path: path)]
        case "SetSecret":
            let secret = try Given.read { () throws(BusError) in try CrossingSecret(message) }
            let bytes = try opened(secret, call.client)
            let type = try Given.text(
                String(decoding: secret.contentType, as: UTF8.self), atMost: Limits.text)
            guard shelf.keeper.isOpen else { throw .isLocked }
            let isPassing = shelf.keeper === passing
            let weight = bytes.count + (shelf.keeper.mirror.item(id)?.weight ?? 0)
            if isPassing, !passers.hasRoom(for: weight, of: call.client.name, in: id) {
                throw .limitsExceeded("this program keeps too much in the collection")
            }
            journal.note(call.client, "stores", in: name(of: shelf))
            let change = ChangedItem(
                id: id, secret: KeptSecret(contentType: type, bytes: bytes))
            try await refusing { () async throws(KeeperError) in
                try await shelf.keeper.change(change, until: deadline)
            }
            if isPassing { passers.keep(id, weight, of: call.client.name) }
            return []
        default: throw .notSupported("an item has no such method")
        }
    }

    /// Of an item that is not known yet, it is known that it is locked.
    func value(of property: String, _ shelf: Shelf, _ id: SecretID) -> BusValue {
        var item = shelf.keeper.mirror.item(id) ?? Item()
        if !shelf.keeper.wasOpen, let search = placeholders.search(id) {
            item.attributes = search.attributes
        }
        switch property {
        case "Locked": return .bool(!shelf.keeper.isOpen)
        case "Attributes":
            var texts: [String: String] = [:]
            for each in item.attributes {
                texts[String(decoding: each.name, as: UTF8.self)] = String(
                    decoding: each.value, as: UTF8.self)
            }
            return .texts(texts)
        case "Label": return .string(String(decoding: item.label, as: UTF8.self))
        case "Type": return .string(Given.type(of: item.attributes))
        case "Created": return .uint64(item.created)
        default: return .uint64(item.modified)
        }
    }

    func set(
        _ property: String, to value: BusValue, _ shelf: Shelf, _ id: SecretID, _ call: BusTreeCall
    ) async throws(BusRefusal) {
        var change = ChangedItem(id: id)
        switch (property, value) {
        case ("Label", .string(let label)): change.label = try Given.text(label)
        case ("Attributes", .texts(let texts)): change.attributes = try Given.attributes(texts)
        case ("Type", .string(let type)):
            let known = shelf.keeper.mirror.item(id)?.attributes ?? []
            change.attributes = try Given.attributes(known, ofType: type)
        default: throw .invalidArguments("the property has another type")
        }
        guard shelf.keeper.isOpen else { throw .isLocked }
        let isPassing = shelf.keeper === passing
        var weight = 0
        if isPassing {
            var item = shelf.keeper.mirror.item(id) ?? Item()
            weight = passers.bytes(of: id) - item.weight
            if let label = change.label { item.label = label }
            if let attributes = change.attributes { item.attributes = attributes }
            weight += item.weight
            guard passers.hasRoom(for: weight, of: call.client.name, in: id) else {
                throw .limitsExceeded("this program keeps too much in the collection")
            }
        }
        journal.note(call.client, "changes", in: name(of: shelf))
        let changed = change
        let deadline = deadline(of: call)
        try await refusing { () async throws(KeeperError) in
            try await shelf.keeper.change(changed, until: deadline)
        }
        if isPassing { passers.keep(id, weight, of: call.client.name) }
    }
}
