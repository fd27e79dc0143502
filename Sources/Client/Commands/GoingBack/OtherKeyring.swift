import Bus
import Posix
import SessionCrypto

/// The program that has org.freedesktop.secrets on the session bus, used as every program of the
/// desktop uses it.
@LoopActor
final class OtherKeyring {
    enum Failure: Error, Equatable {
        case noBus
        /// No program has the name, and the bus can start none.
        case nobody
        /// It is AppVault's.
        case ours
        /// It has ended, or another one has the name now.
        case gone
        case silent
        /// In its own words.
        case refused(String)
        /// The person has closed its dialog.
        case dismissed
        /// It has answered something that the specification does not know.
        case malformed
        /// A text with a zero in it cannot be sent.
        case noText
        case library
    }

    struct Collection: Sendable {
        var path: String
        var label: String
        var isLocked: Bool
    }

    struct Item: Sendable {
        var path: String
        var label: String
        var attributes: [String: String]
    }

    private static let name = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    private static let prefix = "org.freedesktop.Secret."
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let driver = "org.freedesktop.DBus"
    private static let none = "/"
    /// Milliseconds. One with many items may need some seconds to write its file.
    private static let patience: UInt64 = 60_000
    /// For a person before a dialog.
    private static let patienceForPerson: UInt64 = 600_000

    private let bus: Bus
    private var owner = ""
    /// As its command is called.
    private(set) var program = ""
    private var crossing: Crossing?
    private var prompts: [String: First<Ending>] = [:]
    private var hasGone = false
    /// Called before it asks the person.
    var whenItAsks: (@LoopActor () -> Void)?

    private enum Ending {
        /// And the object that it has made, if it was to make one.
        case done(String?)
        case dismissed
        case gone
        case silent
    }

    private init(_ bus: Bus) { self.bus = bus }

    // MARK: finding it

    /// The bus starts the one that is meant to have the name, if it does not run.
    static func find() async throws(Failure) -> OtherKeyring {
        let deadline = Clock.bootMilliseconds() + patience
        let bus: Bus
        do throws(BusError) { bus = try await Bus.open(.session, until: deadline) } catch {
            throw .noBus
        }
        let found = OtherKeyring(bus)
        do throws(Failure) {
            try await found.begin(until: deadline)
        } catch {
            bus.close()
            throw error
        }
        return found
    }

    private func begin(until deadline: UInt64) async throws(Failure) {
        let driver = Self.driver
        do throws(BusError) {
            // Where nothing can be started, the next question finds nobody.
            _ = try? await bus.call(
                driver, "/org/freedesktop/DBus", driver, "StartServiceByName",
                [.string(Self.name), .uint32(0)], until: deadline)
            bus.whenGone = { [weak self] in self?.ends() }
            try await bus.follow(Self.name, until: deadline) { [weak self] in self?.owned(by: $0) }
            guard !owner.isEmpty else { throw .malformed }
            let process = try await bus.call(
                driver, "/org/freedesktop/DBus", driver, "GetConnectionUnixProcessID",
                [.string(owner)], until: deadline
            ).uint32()
            program = Self.program(process)
            try await bus.hear(
                "Completed", of: Self.prefix + "Prompt", from: Self.name, until: deadline
            ) { [weak self] in self?.completed($0) }
        } catch {
            throw owner.isEmpty ? .nobody : Failure(error)
        }
        guard program != "appvault-secrets" else { throw .ours }
        try await openSession()
    }

    private func owned(by owner: String?) {
        if self.owner.isEmpty { self.owner = owner ?? "" } else { ends() }
    }

    private static func program(_ process: UInt32) -> String {
        let line = try? TextFile.read(at: "/proc/\(process)/cmdline", limit: 1 << 12)
        let command = line?.split(separator: 0).first?.split(separator: UInt8(ascii: "/")).last
        return command.map { String(decoding: $0, as: UTF8.self) } ?? "another program"
    }

    func close() { bus.close() }

    private func ends() {
        guard !hasGone else { return }
        hasGone = true
        for prompt in prompts.values { prompt.settle(.gone) }
    }

    // MARK: calls

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) async throws(Failure) -> BusMessage {
        guard !hasGone else { throw .gone }
        do throws(BusError) {
            // Whoever has the name next is another program.
            return try await bus.call(
                owner, path, interface, member, arguments,
                until: Clock.bootMilliseconds() + Self.patience)
        } catch {
            throw Failure(error)
        }
    }

    private func ask(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) async throws(Failure) -> BusMessage {
        try await call(path, Self.prefix + interface, member, arguments)
    }

    private func read<R>(_ body: () throws(BusError) -> R) throws(Failure) -> R {
        do throws(BusError) { return try body() } catch { throw Failure(error) }
    }

    private func get(
        _ path: String, _ interface: String, _ property: String
    ) async throws(Failure) -> BusMessage {
        try await call(
            path, Self.properties, "Get", [.string(Self.prefix + interface), .string(property)])
    }

    // MARK: the session

    private func openSession() async throws(Failure) {
        do throws(Failure) {
            crossing = try await encryptedSession()
        } catch {
            guard case .refused = error else { throw error }
            let answer = try await ask(
                Self.root, "Service", "OpenSession", [.string("plain"), .variant(.string(""))])
            crossing = Crossing(
                plain: try read { () throws(BusError) in
                    _ = try answer.variant()
                    return try answer.objectPath()
                })
        }
    }

    private func encryptedSession() async throws(Failure) -> Crossing {
        let exchange: KeyExchange
        do throws(CryptoError) { exchange = try KeyExchange() } catch { throw .library }
        let answer = try await ask(
            Self.root, "Service", "OpenSession",
            [
                .string("dh-ietf1024-sha256-aes128-cbc-pkcs7"),
                .variant(.bytes(exchange.publicKey)),
            ])
        let (theirs, path) = try read { () throws(BusError) in
            (try answer.variant(), try answer.objectPath())
        }
        guard case .bytes(let theirs)? = theirs else { throw .malformed }
        do throws(CryptoError) {
            return Crossing(try exchange.key(with: theirs), path)
        } catch {
            switch error {
            case .badPublicKey: throw .malformed
            case .badSecret, .library: throw .library
            }
        }
    }

    // MARK: collections

    func collections() async throws(Failure) -> [Collection] {
        let answer = try await get(Self.root, "Service", "Collections")
        let paths = try read { () throws(BusError) in
            try answer.pathsInVariant(atMost: Self.mostObjects)
        }
        var found: [Collection] = []
        for path in paths {
            let label = try await get(path, "Collection", "Label")
            let isLocked = try await get(path, "Collection", "Locked")
            guard
                case .string(let text)? = try read({ () throws(BusError) in try label.variant() }),
                case .bool(let flag)? = try read({ () throws(BusError) in try isLocked.variant() })
            else { throw .malformed }
            found.append(Collection(path: path, label: text, isLocked: flag))
        }
        return found
    }

    private static let mostObjects = 1 << 20

    /// The collection that an alias stands for.
    func alias(_ name: String) async throws(Failure) -> String? {
        let answer = try await ask(Self.root, "Service", "ReadAlias", [.string(name)])
        let path = try read { () throws(BusError) in try answer.objectPath() }
        return path == Self.none ? nil : path
    }

    func unlock(_ path: String) async throws(Failure) {
        let answer = try await ask(Self.root, "Service", "Unlock", [.paths([path])])
        let prompt = try read { () throws(BusError) in
            _ = try answer.paths(atMost: Self.mostObjects)
            return try answer.objectPath()
        }
        _ = try await perform(prompt)
    }

    /// Its path. The person may be asked for a password of its own.
    func makeCollection(_ label: String, alias: String) async throws(Failure) -> String {
        let properties: BusValue = .dictionary([Self.prefix + "Collection.Label": .string(label)])
        return try await made(
            Self.root, "Service", "CreateCollection", [properties, .string(alias)])
    }

    /// What a call has made, at once or after a dialog.
    private func made(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
    ) async throws(Failure) -> String {
        let answer = try await ask(path, interface, member, arguments)
        let (object, prompt) = try read { () throws(BusError) in
            (try answer.objectPath(), try answer.objectPath())
        }
        guard prompt != Self.none else { return object }
        guard let made = try await perform(prompt), made != Self.none else { throw .malformed }
        return made
    }

    // MARK: items

    func items(of collection: String) async throws(Failure) -> [Item] {
        let answer = try await get(collection, "Collection", "Items")
        let paths = try read { () throws(BusError) in
            try answer.pathsInVariant(atMost: Self.mostObjects)
        }
        var found: [Item] = []
        for path in paths {
            let answer: BusMessage
            do throws(Failure) {
                answer = try await call(
                    path, Self.properties, "GetAll", [.string(Self.prefix + "Item")])
            } catch {
                // It was deleted meanwhile.
                guard case .refused = error else { throw error }
                continue
            }
            let facts = try read { () throws(BusError) in try answer.dictionary() }
            guard case .string(let label)? = facts["Label"] else { throw .malformed }
            var attributes: [String: String] = [:]
            if case .texts(let texts)? = facts["Attributes"] { attributes = texts }
            found.append(Item(path: path, label: label, attributes: attributes))
        }
        return found
    }

    func secret(of item: String) async throws(Failure) -> WipedBuffer {
        guard let crossing else { throw .malformed }
        let answer = try await ask(item, "Item", "GetSecret", [.path(crossing.path)])
        return try crossing.unwrap(answer)
    }

    func makeItem(
        in collection: String, _ label: String, _ attributes: [String: String],
        _ secret: WipedBuffer, _ contentType: String
    ) async throws(Failure) {
        guard let crossing else { throw .malformed }
        let properties: [String: BusValue] = [
            Self.prefix + "Item.Label": .string(label),
            Self.prefix + "Item.Attributes": .texts(attributes),
        ]
        let wrapped = try crossing.wrap(secret, contentType)
        _ = try await made(
            collection, "Collection", "CreateItem",
            [.dictionary(properties), wrapped, .bool(false)])
    }

    func change(
        _ item: Item, _ label: String, _ secret: WipedBuffer, _ contentType: String
    ) async throws(Failure) {
        guard let crossing else { throw .malformed }
        _ = try await ask(
            item.path, "Item", "SetSecret", [try crossing.wrap(secret, contentType)])
        guard label != item.label else { return }
        _ = try await call(
            item.path, Self.properties, "Set",
            [.string(Self.prefix + "Item"), .string("Label"), .variant(.string(label))])
    }

    // MARK: prompts

    private func completed(_ signal: BusMessage) {
        guard let prompt = prompts[signal.path] else { return }
        guard let isDismissed = try? signal.bool() else { return }
        guard !isDismissed else { return prompt.settle(.dismissed) }
        let result = (try? signal.variant()) ?? nil
        guard case .path(let object)? = result else { return prompt.settle(.done(nil)) }
        prompt.settle(.done(object))
    }

    /// The object that it has made.
    private func perform(_ path: String) async throws(Failure) -> String? {
        guard path != Self.none else { return nil }
        let prompt = First<Ending>()
        // It may be over before the call is answered.
        prompts[path] = prompt
        defer { prompts[path] = nil }
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + Self.patienceForPerson) {
            EventLoop.shared.task { prompt.settle(.silent) }
        }
        defer { EventLoop.shared.cancel(timer) }
        whenItAsks?()
        _ = try await ask(path, "Prompt", "Prompt", [.string("")])
        switch await prompt.value() {
        case .done(let object): return object
        case .dismissed: throw .dismissed
        case .gone: throw .gone
        case .silent: throw .silent
        }
    }
}

extension OtherKeyring.Failure {
    init(_ error: BusError) {
        switch error {
        case .refused(let name, let text):
            self = error.isNobody ? .gone : .refused(text.isEmpty ? name : text)
        case .silent: self = .silent
        case .gone: self = .gone
        case .malformed: self = .malformed
        case .unsent(let code): self = code == 22 ? .noText : .refused("errno \(code)")
        }
    }
}

/// How secrets cross the bus to it and back.
@LoopActor
private final class Crossing {
    let path: String
    private let protection: Protection

    private enum Protection: ~Copyable {
        case plain
        case encrypted(SessionKey)
    }

    init(plain path: String) {
        self.path = path
        protection = .plain
    }

    init(_ key: consuming SessionKey, _ path: String) {
        self.path = path
        protection = .encrypted(key)
    }

    func wrap(
        _ secret: WipedBuffer, _ contentType: String
    ) throws(OtherKeyring.Failure) -> BusValue {
        let vector: [UInt8]
        let bytes: WipedBuffer
        switch protection {
        case .plain: (vector, bytes) = ([], secret)
        case .encrypted(let key):
            do throws(CryptoError) {
                (vector, bytes) = try secret.withBytes { (bytes) throws(CryptoError) in
                    try key.encrypt(bytes)
                }
            } catch {
                throw .library
            }
        }
        return .structure([
            .path(path), .bytes(vector), .secret(BusSecret(bytes)), .string(contentType),
        ])
    }

    /// Of any length that a bus carries.
    private static let longest = 64 << 20

    func unwrap(_ message: BusMessage) throws(OtherKeyring.Failure) -> WipedBuffer {
        let vector: [UInt8]
        let bytes: WipedBuffer
        do throws(BusError) {
            (vector, bytes) = try message.structure("oayays") { () throws(BusError) in
                _ = try message.objectPath()
                let parts = (
                    try message.bytes(atMost: 64), try message.secret(atMost: Self.longest)
                )
                _ = try message.string()
                return parts
            }
        } catch {
            throw OtherKeyring.Failure(error)
        }
        switch protection {
        case .plain: return bytes
        case .encrypted(let key):
            do throws(CryptoError) {
                return try key.decrypt(bytes, vector: vector)
            } catch {
                throw .malformed
            }
        }
    }
}
