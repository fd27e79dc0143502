import Dispatch
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService

/// Programs on the session bus that call whatever they like, in any order, with any bodies, and
/// leave in the middle; a person who answers a dialog or not; a store that is opened and locked.
/// The bytes say who does what next. Each call is answered once, limits hold, a prompt ends once
/// and is told to its own client, and nobody reaches what is another program's.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard bytes.count > 2 else { return 0 }
    Loop.run {
        PlayedBus.prepare()
        let desk = Desk()
        EventLoop.shared.task { await desk.begin() }
        await Play(bytes, desk, PlayedBus()).run()
    }
    return 0
}

/// The bridge's own loop, on a thread of its own.
enum Loop {
    private static let started: Void = {
        DispatchQueue.global().async { EventLoop.shared.run() }
    }()

    static func run(_ body: @escaping @LoopActor @Sendable () async -> Void) {
        _ = started
        let done = DispatchSemaphore(value: 0)
        EventLoop.shared.task {
            await body()
            done.signal()
        }
        done.wait()
    }
}

/// The bridge, with a keeper and a person who are played.
@LoopActor
final class Desk {
    private var made: SecretService?
    private(set) var hasBegun = false
    let keeper = SlowKeeper()
    let person = PlayedPerson()
    private static var lasts: [SecretService] = []

    var service: SecretService { made! }

    func begin() async {
        do {
            let deadline = Clock.bootMilliseconds() + 20_000
            let bus = try await Bus.open(.address(PlayedBus.address), until: deadline)
            let service = SecretService(bus, Cabinet(keeper), person, journal: Journal { _ in })
            made = service
            bus.whenGone = { must(false, "the connection has ended") }
            must(try await service.begin(until: deadline) == .owner, "not the owner")
            hasBegun = true
        } catch {
            must(false, "the bridge does not begin")
        }
    }

    func end() {
        service.bus.whenGone = nil
        service.bus.close()
        // What still sleeps may speak of it.
        Self.lasts.append(service)
        if Self.lasts.count > 16 { Self.lasts.removeFirst() }
    }

    /// What must hold whenever nothing is under way.
    func check(_ seen: Seen) {
        let tree = service.tree
        let clients = service.bus.clients.all.values
        let sessions = Set(tree.sessions.ids.map { ObjectPath.session(path: $0) })
        must(sessions == Set(seen.sessions.keys), "a session was opened or closed by nobody")
        var own: [String: Int] = [:]
        for owner in seen.sessions.values { own[owner, default: 0] += 1 }
        must(own.values.allSatisfy { $0 <= Sessions.mostOfClient }, "too many sessions")
        own = [:]
        for id in tree.prompts.ids {
            let path = ObjectPath.prompt(path: id)
            must(!seen.completed.contains(path), "a prompt goes on after its end")
            let owner = clients.first { tree.prompts.prompt(id, of: $0) != nil }
            guard let owner else { return must(false, "a prompt of a client that has left") }
            own[owner.name, default: 0] += 1
            // Of those that a request of the portal has, nobody is told.
            guard let told = seen.prompts[path] else { continue }
            must(told == owner.name, "a prompt of another client")
        }
        must(own.values.allSatisfy { $0 <= Prompts.mostOfClient }, "too many prompts")
        must(service.bus.callsUnderWay == 0, "a call is counted that is answered")
        must(service.bus.clients.weight == 0, "calls are counted that do not wait")
        must(service.bus.clients.all.count <= TreeClients.most, "too many clients")
        for client in clients {
            must(!client.isBusy && client.waiting.isEmpty, "a client waits for nothing")
            must(client.longCalls == 0, "a call is counted that is over")
            must(!seen.left.contains(client.name), "a client is kept that has left")
        }
        check(keeper.mirror)
        check(tree.passing.mirror)
        must(tree.passing.mirror.count <= MemoryKeeper.mostItems, "too many items")
    }

    private func check(_ mirror: Mirror) {
        for collection in mirror.collections.keys {
            for id in mirror.items(in: collection) {
                guard let item = mirror.item(id) else {
                    return must(false, "an item that is not there")
                }
                must(
                    item.label.count <= Limits.itemText && item.contentType.count <= Limits.text
                        && item.attributes.count <= Limits.attributes
                        && item.attributes.allSatisfy {
                            $0.name.count <= Limits.itemText && $0.value.count <= Limits.itemText
                        }, "a larger item than the daemon takes")
                must(
                    Set(item.attributes.map(\.name)).count == item.attributes.count,
                    "an attribute twice")
            }
        }
        for collection in mirror.collections.values {
            must(collection.label.count <= Limits.collectionText, "a longer label")
        }
        must(mirror.aliases.keys.allSatisfy { $0.count <= Limits.aliasText }, "a longer alias")
    }

    /// Each item has its secret.
    func checkSecrets() async {
        let mirror = keeper.mirror
        let ids = mirror.collections.keys.flatMap { mirror.items(in: $0) }
        let secrets = try? await keeper.inner.secrets(ids, until: .max)
        must(secrets?.count == ids.count && mirror.count == ids.count, "half an item")
    }

    /// No prompt is under way.
    var isIdle: Bool {
        let prompts = service.tree.prompts
        return service.bus.clients.all.values.allSatisfy { client in
            prompts.ids.allSatisfy { id in
                switch prompts.prompt(id, of: client)?.state {
                case .waits, .completes: false
                case nil, .made, .over: true
                }
            }
        }
    }
}

/// What is known by what was sent and answered.
struct Seen {
    /// Whose each is.
    var sessions: [String: String] = [:]
    var prompts: [String: String] = [:]
    var begun: Set<String> = []
    var completed: Set<String> = []
    var left: Set<String> = []
}
