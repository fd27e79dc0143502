/// The desktop's keyring, as org.freedesktop.secrets offers it on the session bus.
actor SecretService {
    static let name = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    private static let person: UInt64 = 120_000

    private let bus: BusConnection
    private var session = "/"
    private var collection = "/"

    /// Connects, and finds or makes the collection that new secrets go to.
    static func connect(_ address: String) async throws(VaultError) -> SecretService {
        let service = SecretService(try await BusConnection.connect(address))
        try await service.begin()
        return service
    }

    private init(_ bus: BusConnection) { self.bus = bus }

    private func begin() async throws(VaultError) {
        let opened = try await service("OpenSession", .string("plain"), .variant(.string("")))
        session = opened.last?.text ?? "/"
        collection = try await service("ReadAlias", .string("default")).first?.text ?? "/"
        guard collection == "/" else { return }
        let label: BusValue = .string("Login")
        let made = try await service(
            "CreateCollection",
            .properties(["org.freedesktop.Secret.Collection.Label": label]), .string("default"))
        collection = try await completed(made).first ?? "/"
        guard collection != "/" else {
            throw VaultError(.busFailed, "the keyring has no collection for secrets")
        }
    }

    /// Opens the collection; the keyring asks the person where it is locked.
    func unlock() async throws(VaultError) {
        let answer = try await service("Unlock", .array("o", [.path(collection)]))
        guard try await completed(answer).contains(collection) else {
            throw VaultError(.locked, "the keyring is locked")
        }
    }

    // MARK: Items

    func items(_ attributes: [String: String]) async throws(VaultError) -> [String] {
        let found = try await call(
            collection, "org.freedesktop.Secret.Collection", "SearchItems",
            [.dictionary(attributes)])
        return (found.first?.elements ?? []).compactMap(\.text)
    }

    func secret(_ item: String) async throws(VaultError) -> [UInt8] {
        let answer = try await call(
            item, "org.freedesktop.Secret.Item", "GetSecret", [.path(session)])
        guard let fields = answer.first?.elements, fields.count == 4,
            case .bytes(let value) = fields[2]
        else { throw VaultError(.busFailed, "the keyring has answered what is no secret") }
        return value
    }

    func attributes(_ item: String) async throws(VaultError) -> [String: String] {
        let answer = try await call(
            item, "org.freedesktop.DBus.Properties", "Get",
            [.string("org.freedesktop.Secret.Item"), .string("Attributes")])
        var attributes: [String: String] = [:]
        for pair in answer.first?.content?.elements ?? [] {
            if case .entry(let key, let value) = pair, let key = key.text, let value = value.text {
                attributes[key] = value
            }
        }
        return attributes
    }

    func put(
        _ label: String, _ attributes: [String: String], _ value: [UInt8]
    ) async throws(VaultError) {
        let secret = BusValue.structure([
            .path(session), .bytes([]), .bytes(value), .string("application/octet-stream"),
        ])
        let made = try await call(
            collection, "org.freedesktop.Secret.Collection", "CreateItem",
            [
                .properties([
                    "org.freedesktop.Secret.Item.Label": .string(label),
                    "org.freedesktop.Secret.Item.Attributes": .dictionary(attributes),
                ]), secret, .boolean(true),
            ])
        _ = try await completed(made)
    }

    func delete(_ item: String) async throws(VaultError) {
        let answer = try await call(item, "org.freedesktop.Secret.Item", "Delete")
        // Only a prompt comes back.
        _ = try await completed([.array("o", [])] + answer)
    }

    // MARK: Calls

    private func service(
        _ member: String, _ arguments: BusValue...
    ) async throws(VaultError) -> [BusValue] {
        try await call(
            SecretService.root, "org.freedesktop.Secret.Service", member, arguments)
    }

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) async throws(VaultError) -> [BusValue] {
        do throws(VaultError) {
            return try await bus.call(SecretService.name, path, interface, member, arguments)
        } catch {
            guard error.parameters["error"] == "org.freedesktop.Secret.Error.IsLocked" else {
                throw error
            }
            throw VaultError(.locked, "the keyring is locked", underlying: error)
        }
    }

    /// What a method has done, where it gives what is done at once, or else a prompt for the person:
    /// the paths of either.
    private func completed(_ answer: [BusValue]) async throws(VaultError) -> [String] {
        guard let prompt = answer.last?.text, prompt != "/" else { return paths(answer.first) }
        let box = PromptBox()
        let listener = await bus.listen { message in
            guard message.path == prompt, message.member == "Completed",
                message.interface == "org.freedesktop.Secret.Prompt"
            else { return }
            box.settle(message.body)
        }
        let rule =
            "type='signal',path='\(prompt)',interface='org.freedesktop.Secret.Prompt'"
        _ = try await bus.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
            [.string(rule)])
        let body: [BusValue]?
        do throws(VaultError) {
            _ = try await call(prompt, "org.freedesktop.Secret.Prompt", "Prompt", [.string("")])
            body = await box.wait(SecretService.person)
        } catch {
            await bus.stopListening(listener)
            throw error
        }
        await bus.stopListening(listener)
        guard let body, body.count == 2 else {
            // Nobody waits for its answer any more.
            _ = try? await call(prompt, "org.freedesktop.Secret.Prompt", "Dismiss")
            throw Task.isCancelled
                ? .cancelled : VaultError(.noAnswer, "nobody has answered the keyring's question")
        }
        guard body[0] == .boolean(false) else { throw .cancelled }
        return paths(body[1].content)
    }

    private func paths(_ value: BusValue?) -> [String] {
        guard let value else { return [] }
        return value.text.map { [$0] } ?? value.elements?.compactMap(\.text) ?? []
    }
}
