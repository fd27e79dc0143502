import Testing
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService

/// The service on a bus of the test's own, with a keeper in memory and a person who is played.
@LoopActor
final class Desk {
    let keeper: MemoryKeeper
    let cabinet: Cabinet
    let person: PlayedPerson
    let service: SecretService
    let daemon: PrivateBus
    let lines = Lines()
    private(set) var began: UInt64 = 0

    final class Lines {
        var all: [String] = []
    }

    init(_ daemon: PrivateBus, isOpen: Bool = true) async throws {
        self.daemon = daemon
        keeper = MemoryKeeper([named("Login", .zero)], isOpen: isOpen)
        cabinet = Cabinet(keeper)
        person = PlayedPerson(keeper)
        let lines = lines
        service = SecretService(
            try await daemon.connect(), cabinet, person, journal: Journal { lines.all.append($0) })
        began = Clock.bootMilliseconds()
        #expect(try await service.begin(until: soon) == .owner)
    }

    /// Another store, which is a collection.
    func drawer(
        _ label: String, _ standing: Standing, isOpen: Bool = true
    ) -> (keeper: MemoryKeeper, id: SecretID, path: String) {
        let id = SecretID.random()
        let drawer = MemoryKeeper([named(label, id)], isOpen: isOpen)
        drawer.opener = label
        drawer.standing = standing
        person.others[label] = drawer
        cabinet.add(drawer, as: id)
        return (drawer, id, ObjectPath.Collection.stored(id).path)
    }

    func client() async throws -> Client { Client(try await daemon.connect()) }
}

@LoopActor
func named(_ label: String, _ id: SecretID) -> ItemCollection {
    var collection = ItemCollection()
    collection.id = id.bytes
    collection.label = Array(label.utf8)
    return collection
}

/// Answers when the test says so.
@LoopActor
final class PlayedPerson: Asker {
    private let keeper: MemoryKeeper
    /// What else opens by its own name.
    var others: [String: MemoryKeeper] = [:]
    private(set) var stores: [String] = []
    private(set) var asked = 0
    private(set) var withdrawn = 0
    private var dialog: First<PromptEnd>?

    init(_ keeper: MemoryKeeper) { self.keeper = keeper }

    var isAsked: Bool { dialog != nil }

    func unlock(_ store: String) async -> PromptEnd {
        asked += 1
        stores.append(store)
        let dialog = First<PromptEnd>()
        self.dialog = dialog
        return await dialog.value()
    }

    /// Stores that shall go.
    private(set) var erased: [String] = []
    func erase(_ store: String) async -> PromptEnd {
        erased.append(store)
        return await unlock(store)
    }

    /// New collections that the person was asked about, and what they say.
    private(set) var made: [(store: String, id: SecretID)] = []
    var making = CollectionEnd.among
    var makes: ((String, SecretID) -> Void)?
    func make(_ store: String, id: SecretID) async -> CollectionEnd {
        made.append((store, id))
        if making == .store { makes?(store, id) }
        return making
    }

    func withdraw(_ store: String) {
        withdrawn += 1
        answer(.refused)
    }

    func answer(_ answer: PromptEnd) {
        if answer == .opened { (stores.last.flatMap { others[$0] } ?? keeper).isOpen = true }
        dialog?.settle(answer)
        dialog = nil
    }
}

/// A program on the bus.
@LoopActor
final class Client {
    let bus: Bus
    private(set) var completed: [(path: String, isDismissed: Bool, paths: [String])] = []
    private(set) var heard: [String] = []
    private static let name = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    let login = root + "/collection/login"

    init(_ bus: Bus) { self.bus = bus }

    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) async throws(BusError) -> BusMessage {
        try await bus.call(
            Self.name, path, "org.freedesktop.Secret." + interface, member, arguments, until: soon)
    }

    func service(
        _ member: String, _ arguments: [BusValue] = []
    ) async throws(BusError) -> BusMessage {
        try await call(Self.root, "Service", member, arguments)
    }

    func listen() async throws {
        try await bus.follow(Self.name, until: soon) { _ in }
        try await bus.hear(
            "Completed", of: "org.freedesktop.Secret.Prompt", from: Self.name, until: soon
        ) { [unowned self] signal in
            let isDismissed = (try? signal.bool()) ?? false
            var paths: [String] = []
            let result = try? signal.variant()
            if case .paths(let all)? = result { paths = all }
            if case .path(let one)? = result { paths = [one] }
            completed.append((signal.path, isDismissed, paths))
        }
        for member in ["CollectionCreated", "CollectionDeleted"] {
            try await bus.hear(
                member, of: "org.freedesktop.Secret.Service", from: Self.name, until: soon
            ) { [unowned self] signal in
                heard.append(member + " " + ((try? signal.objectPath()) ?? ""))
            }
        }
        for member in ["ItemCreated", "ItemChanged", "ItemDeleted"] {
            try await bus.hear(
                member, of: "org.freedesktop.Secret.Collection", from: Self.name, until: soon
            ) { [unowned self] signal in
                heard.append(member + " " + ((try? signal.objectPath()) ?? ""))
            }
        }
    }

    func plainSession() async throws -> String {
        let answer = try await service("OpenSession", [.string("plain"), .variant(.string(""))])
        _ = try answer.variant()
        return try answer.objectPath()
    }

    func create(
        _ secret: String, _ attributes: [String: String], session: String, replace: Bool = false,
        in collection: String? = nil, label: String = "a label", type: String? = nil
    ) async throws(BusError) -> String {
        var properties: [String: BusValue] = [
            "org.freedesktop.Secret.Item.Label": .string(label),
            "org.freedesktop.Secret.Item.Attributes": .texts(attributes),
        ]
        if let type { properties["org.freedesktop.Secret.Item.Type"] = .string(type) }
        return try await call(
            collection ?? login, "Collection", "CreateItem",
            [.dictionary(properties), secretValue(secret, session), .bool(replace)]
        ).objectPath()
    }

    /// A collection; the prompt that it takes is called and waited for.
    func make(_ label: String, _ alias: String = "") async throws -> String {
        let answer = try await service(
            "CreateCollection",
            [
                .dictionary(["org.freedesktop.Secret.Collection.Label": .string(label)]),
                .string(alias),
            ])
        let path = try answer.objectPath()
        let prompt = try answer.objectPath()
        if prompt == "/" { return path }
        return try await result(of: prompt).paths.first ?? "none"
    }

    /// What a prompt comes to, which is called for that.
    func result(of prompt: String) async throws -> (isDismissed: Bool, paths: [String]) {
        try await begin(prompt)
        #expect(await waited { self.completed.contains { $0.path == prompt } })
        guard let result = completed.first(where: { $0.path == prompt }) else { return (true, []) }
        return (result.isDismissed, result.paths)
    }

    func secretValue(_ secret: String, _ session: String) -> BusValue {
        .structure([
            .path(session), .bytes([]), .bytes(Array(secret.utf8)), .string("text/plain"),
        ])
    }

    func secret(_ item: String, _ session: String) async throws(BusError) -> String {
        let answer = try await call(item, "Item", "GetSecret", [.path(session)])
        return try answer.structure("oayays") { () throws(BusError) in
            _ = try answer.objectPath()
            _ = try answer.bytes(atMost: 64)
            let secret = String(decoding: try answer.bytes(atMost: 1 << 20), as: UTF8.self)
            return try answer.string() == "text/plain" ? secret : ""
        }
    }

    func search(
        _ attributes: [String: String]
    ) async throws(BusError) -> (unlocked: [String], locked: [String]) {
        let answer = try await service("SearchItems", [.texts(attributes)])
        return (try answer.paths(atMost: 1 << 16), try answer.paths(atMost: 1 << 16))
    }

    func property(_ path: String, _ interface: String, _ name: String) async throws -> BusValue? {
        try await bus.call(
            Self.name, path, "org.freedesktop.DBus.Properties", "Get",
            [.string("org.freedesktop.Secret." + interface), .string(name)], until: soon
        ).variant()
    }

    func set(
        _ path: String, _ interface: String, _ name: String, _ value: BusValue
    ) async throws(BusError) {
        _ = try await bus.call(
            Self.name, path, "org.freedesktop.DBus.Properties", "Set",
            [
                .string("org.freedesktop.Secret." + interface), .string(name), .variant(value),
            ], until: soon)
    }

    /// The objects that are unlocked at once, and the prompt.
    func unlock(_ paths: [String]) async throws(BusError) -> ([String], String) {
        let answer = try await service("Unlock", [.paths(paths)])
        return (try answer.paths(atMost: 1 << 16), try answer.objectPath())
    }

    func begin(_ prompt: String) async throws(BusError) {
        _ = try await call(prompt, "Prompt", "Prompt", [.string("")])
    }
}

/// The last part of the error's name, or nothing.
@LoopActor
func refusal(_ body: @escaping @LoopActor () async throws -> Void) async -> String {
    do {
        try await body()
        return ""
    } catch BusError.refused(let name, _) {
        return String(name.split(separator: ".").last ?? "")
    } catch {
        return "\(error)"
    }
}

@LoopActor
func isRefused(
    _ name: String, at place: SourceLocation = #_sourceLocation,
    _ body: @escaping @LoopActor () async throws -> Void
) async {
    let got = await refusal(body)
    #expect(got == name, sourceLocation: place)
}
