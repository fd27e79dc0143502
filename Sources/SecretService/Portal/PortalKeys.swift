import Posix
import Wire

/// The keys of programs in a sandbox: one for each, made when it is first asked for, and the same
/// for ever. They are items of the collection `login`, as gnome-keyring keeps them: so keys that were
/// imported from there go on.
@LoopActor
final class PortalKeys {
    static let size = 64

    private let keeper: any Keeper
    /// One key is made at a time: of two calls the second one finds what the first one has made.
    private var isMaking = false
    private var waiting: [First<Void>] = []

    init(_ keeper: any Keeper) { self.keeper = keeper }

    func key(
        of application: String, until deadline: UInt64
    ) async throws(KeeperError) -> WipedBuffer {
        await begin()
        defer { end() }
        if let id = find(application) { return try await secret(id, until: deadline) }
        guard keeper.isOpen else { throw .locked }
        // Some other program may have stored one a moment ago, an import, for instance.
        guard await keeper.follow() else { throw .unavailable }
        if let id = find(application) { return try await secret(id, until: deadline) }
        let key = Self.random()
        let copy = key.withBytes { WipedBuffer(copying: $0) }
        _ = try await keeper.put(Self.item(application), copy, replace: false, until: deadline)
        return key
    }

    private func secret(
        _ id: SecretID, until deadline: UInt64
    ) async throws(KeeperError) -> WipedBuffer {
        guard let secret = try await keeper.secrets([id], until: deadline)[id] else {
            throw .notFound
        }
        return secret.bytes
    }

    private func begin() async {
        while isMaking {
            let turn = First<Void>()
            waiting.append(turn)
            await turn.value()
        }
        isMaking = true
    }

    private func end() {
        isMaking = false
        if !waiting.isEmpty { waiting.removeFirst().settle(()) }
    }

    // MARK: As gnome-keyring has them

    private static let applicationName = Array("app_id".utf8)
    private static let schemaName = Array("xdg:schema".utf8)
    private static let schema = Array("org.freedesktop.portal.Secret".utf8)
    /// What gnome-keyring says of items for which it was given no schema, as of its older keys.
    private static let generic = Array("org.freedesktop.Secret.Generic".utf8)

    static func item(_ application: String) -> Item {
        var item = Item()
        item.label = Array("Application key for \(application)".utf8)
        item.contentType = Array("application/octet-stream".utf8)
        item.attributes = [
            .init(name: applicationName, value: Array(application.utf8)),
            .init(name: schemaName, value: schema),
        ]
        return item
    }

    /// Where there are several, the oldest one: it is what the program has had all the time.
    private func find(_ application: String) -> SecretID? {
        let mirror = keeper.mirror
        let wanted = Item.Attribute(name: Self.applicationName, value: Array(application.utf8))
        let found = mirror.search([wanted], in: .zero).compactMap { id in
            mirror.item(id).flatMap { item in Self.rank(item).map { ($0, item.created, id) } }
        }
        return found.min { $0 < $1 }?.2
    }

    /// Nil if some other program has given its item an attribute of this name.
    private static func rank(_ item: Item) -> Int? {
        let others = item.attributes.filter { $0.name != applicationName }
        guard !others.isEmpty else { return 1 }
        guard others.count == 1, others[0].name == schemaName else { return nil }
        return others[0].value == schema ? 0 : others[0].value == generic ? 1 : nil
    }

    private static func random() -> WipedBuffer {
        var generator = SystemRandomNumberGenerator()
        let key = WipedBuffer(capacity: size)
        for _ in 0..<(size / 8) {
            let number = generator.next()
            for shift in stride(from: 0, to: 64, by: 8) {
                key.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return key
    }
}
