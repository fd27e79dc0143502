import Testing

@testable import Bus
@testable import Posix

private let root = "/org/appvault/Tree"
private let interface = "org.appvault.Tree"

/// A tree whose calls wait until the test lets them go on.
@LoopActor
private final class Tree: BusTree {
    var calls: [String] = []
    var hasLeft: [String] = []
    var values: [String: BusValue] = ["Name": .string("one"), "List": .paths(["/a"])]
    private var held: [First<Bool>] = []
    var isHeld = false
    var answer: [BusValue] = []

    func interfaces(for call: BusTreeCall) async -> [BusInterface]? {
        switch call.path {
        case root: []
        case root + "/one":
            [
                BusInterface(
                    interface,
                    methods: [.init("Do", takes: [.init("what", "s")]), .init("Give")],
                    properties: [
                        .init("Name", "s", isWritable: true), .init("List", "ao"),
                    ])
            ]
        default: nil
        }
    }

    func children(of path: String) -> [String] { path == root ? ["one"] : [] }

    func call(
        _ method: String, of interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        if method == "Give" { return answer }
        let what = (try? call.message.string()) ?? ""
        calls.append(call.client.name + " " + what)
        if isHeld {
            let turn = First<Bool>()
            held.append(turn)
            _ = await turn.value()
        }
        return []
    }

    func goOn() {
        let turns = held
        held = []
        for each in turns { each.settle(true) }
    }

    func value(
        of property: String, in interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> BusValue { values[property] ?? .string("") }

    func set(
        _ property: String, in interface: String, to value: BusValue, _ call: BusTreeCall
    ) async throws(BusRefusal) { values[property] = value }

    func left(_ client: BusClient) { hasLeft.append(client.name) }
}

@LoopActor
private final class Answers {
    var all: [String] = []
}

private func withTree(
    _ body: @escaping @LoopActor @Sendable (PrivateBus, Bus, Tree) async throws -> Void
) async throws {
    try await TestLoop.withBus { daemon in
        let server = try await daemon.connect()
        let tree = Tree()
        server.serve(tree, at: root)
        _ = try await server.own("org.appvault.Tree", until: soon)
        try await body(daemon, server, tree)
        server.close()
    }
}

@LoopActor
private func call(
    _ client: Bus, _ member: String, _ arguments: [BusValue] = [], of interface: String = interface
) async throws(BusError) -> BusMessage {
    try await client.call(
        "org.appvault.Tree", root + "/one", interface, member, arguments, until: soon)
}

@LoopActor
private func start(_ client: Bus, _ what: String, _ answers: Answers) {
    client.start(
        "org.appvault.Tree", root + "/one", interface, "Do", [.string(what)], until: soon
    ) { result in
        switch result {
        case .success: answers.all.append(what)
        case .failure(.refused(let name, _)):
            answers.all.append(what + " " + (name.split(separator: ".").last ?? ""))
        case .failure: answers.all.append(what + " failed")
        }
    }
}

@Test(
    "what every object answers is no call of the tree, also where the interface is left out",
    .enabled(if: PrivateBus.isThere))
func peer() async throws {
    try await withTree { daemon, _, tree in
        let client = try await daemon.connect()
        for member in ["Ping", "GetMachineId", "Introspect"] {
            try client.callByNameAlone("org.appvault.Tree", root + "/one", member)
        }
        try client.callByNameAlone("org.appvault.Tree", root + "/one", "Give")
        // They are answered in their order.
        _ = try await client.call(
            "org.appvault.Tree", root + "/one", interface, "Do", [.string("last")], until: soon)
        #expect(tree.calls == [client.ownName + " last"])
        client.close()
    }
}

@Test(
    "a client's calls are done one after the other, and another client's meanwhile",
    .enabled(if: PrivateBus.isThere))
func inOrder() async throws {
    try await withTree { daemon, _, tree in
        let one = try await daemon.connect()
        let other = try await daemon.connect()
        let answers = Answers()
        tree.isHeld = true
        for what in ["1", "2", "3"] { start(one, what, answers) }
        #expect(await waited { tree.calls.count == 1 })
        start(other, "4", answers)
        #expect(await waited { tree.calls.count == 2 })
        #expect(tree.calls == [one.ownName + " 1", other.ownName + " 4"])
        tree.isHeld = false
        tree.goOn()
        #expect(await waited { answers.all.count == 4 })
        #expect(answers.all.filter { $0 != "4" } == ["1", "2", "3"])
        one.close()
        other.close()
    }
}

@Test(
    "what waits of one client has a limit in bytes, and the others have theirs",
    .enabled(if: PrivateBus.isThere))
func treeLimits() async throws {
    try await withTree { daemon, server, tree in
        let flood = try await daemon.connect()
        let other = try await daemon.connect()
        let answers = Answers()
        tree.isHeld = true
        let long = String(repeating: "x", count: 1 << 20)
        // The first is under way when the others come: those alone wait.
        start(flood, long, answers)
        #expect(await waited { tree.calls.count == 1 })
        for _ in 1..<20 { start(flood, long, answers) }
        #expect(await waited { answers.all.count == 12 })
        #expect(answers.all.allSatisfy { $0.hasSuffix("LimitsExceeded") })
        tree.isHeld = false
        start(other, "4", answers)
        #expect(await waited { answers.all.contains("4") })
        tree.goOn()
        #expect(await waited { answers.all.count == 21 })
        #expect(answers.all.filter { $0 == long }.count == 8)
        #expect(await waited { server.clients.weight == 0 })
        flood.close()
        other.close()
    }
}

@Test(
    "the end of a client is heard, and what it waited for is not done",
    .enabled(if: PrivateBus.isThere))
func treeLeaving() async throws {
    try await withTree { daemon, server, tree in
        let leaver = try await daemon.connect()
        let other = try await daemon.connect()
        let answers = Answers()
        tree.isHeld = true
        for what in ["1", "2", "3"] { start(leaver, what, answers) }
        #expect(await waited { tree.calls.count == 1 })
        let name = leaver.ownName
        leaver.close()
        #expect(await waited { tree.hasLeft == [name] })
        tree.isHeld = false
        tree.goOn()
        start(other, "4", answers)
        #expect(await waited { tree.calls.count == 2 && tree.calls[1].hasSuffix("4") })
        #expect(server.clients.all.count == 1 && server.clients.weight == 0)
        other.close()
    }
}

@Test(
    "properties are read, all of them too, and set by their type", .enabled(if: PrivateBus.isThere))
func treeProperties() async throws {
    try await withTree { daemon, _, tree in
        let client = try await daemon.connect()
        let properties = "org.freedesktop.DBus.Properties"
        func get(_ name: String) async throws -> BusValue? {
            try await call(
                client, "Get", [.string(interface), .string(name)], of: properties
            ).variant()
        }
        #expect(try await get("Name") == .string("one"))
        #expect(try await get("List") == .paths(["/a"]))
        let all = try await call(client, "GetAll", [.string(interface)], of: properties)
        #expect(try all.dictionary() == ["Name": .string("one"), "List": .paths(["/a"])])
        func set(_ name: String, _ value: BusValue) async -> String {
            do throws(BusError) {
                _ = try await call(
                    client, "Set", [.string(interface), .string(name), .variant(value)],
                    of: properties)
                return ""
            } catch {
                guard case .refused(let name, _) = error else { return "\(error)" }
                return String(name.split(separator: ".").last ?? "")
            }
        }
        #expect(await set("Name", .string("two")) == "")
        #expect(tree.values["Name"] == .string("two"))
        #expect(await set("Name", .uint32(2)) == "InvalidArgs")
        #expect(await set("List", .paths([])) == "PropertyReadOnly")
        #expect(await set("Other", .string("")) == "UnknownProperty")
        client.close()
    }
}

@Test("each further kind of value arrives as it was sent", .enabled(if: PrivateBus.isThere))
func furtherValues() async throws {
    try await withTree { daemon, _, tree in
        let client = try await daemon.connect()
        let secret = WipedBuffer(bytes: [1, 0, 255])
        tree.answer = [
            .paths(["/a", "/b/c"]), .bytes([]), .secret(BusSecret(secret)),
            .texts(["a": "x", "ß": ""]), .structure([.path("/s"), .bytes([7])]),
            .variant(.texts(["a": "x"])), .variant(.paths([])), .variant(.bytes([1])),
            .array(of: "{o(oay)}", [.entry(.path("/e"), .structure([.path("/f"), .bytes([2])]))]),
        ]
        let answer = try await call(client, "Give")
        #expect(try answer.paths(atMost: 2) == ["/a", "/b/c"])
        #expect(try answer.bytes(atMost: 0) == [])
        let read = try answer.secret(atMost: 3)
        #expect(read.withBytes { [$0[0], $0[1], $0[2]] } == [1, 0, 255])
        #expect(try answer.texts(atMost: 2) == ["a": "x", "ß": ""])
        let (path, bytes) = try answer.structure("oay") { () throws(BusError) in
            (try answer.objectPath(), try answer.bytes(atMost: 1))
        }
        #expect(path == "/s" && bytes == [7])
        #expect(try answer.variant() == .texts(["a": "x"]))
        #expect(try answer.variant() == .paths([]))
        #expect(try answer.variant() == .bytes([1]))
        #expect(answer.signature.hasSuffix("a{o(oay)}"))
        client.close()
    }
}

@Test("what is longer than the reader allows is malformed", .enabled(if: PrivateBus.isThere))
func treeTooLong() async throws {
    try await withTree { daemon, _, tree in
        let client = try await daemon.connect()
        tree.answer = [.paths(["/a", "/b"])]
        let paths = try await call(client, "Give")
        #expect(throws: BusError.malformed) { try paths.paths(atMost: 1) }
        tree.answer = [.bytes([1, 2])]
        let bytes = try await call(client, "Give")
        #expect(throws: BusError.malformed) { try bytes.bytes(atMost: 1) }
        tree.answer = [.texts(["a": "x", "b": "y"])]
        let texts = try await call(client, "Give")
        #expect(throws: BusError.malformed) { try texts.texts(atMost: 1) }
        client.close()
    }
}

@Test("a signal goes to all, or to one client alone", .enabled(if: PrivateBus.isThere))
func treeSignals() async throws {
    try await withTree { daemon, server, _ in
        let one = try await daemon.connect()
        let other = try await daemon.connect()
        let heard = Answers()
        for (client, name) in [(one, "one"), (other, "other")] {
            try await client.follow("org.appvault.Tree", until: soon) { _ in }
            try await client.hear("Said", of: interface, from: "org.appvault.Tree", until: soon) {
                heard.all.append(name + " " + ((try? $0.string()) ?? ""))
            }
        }
        try server.emit("Said", of: interface, at: root, [.string("a")], to: other.ownName)
        try server.emit("Said", of: interface, at: root, [.string("b")])
        #expect(await waited { heard.all.count == 3 })
        #expect(heard.all.filter { $0.hasPrefix("one") } == ["one b"])
        #expect(heard.all.filter { $0.hasPrefix("other") } == ["other a", "other b"])
        one.close()
        other.close()
    }
}

@Test("a connection that was closed sends no signal", .enabled(if: PrivateBus.isThere))
func signalAfterTheEnd() async throws {
    try await TestLoop.withBus { daemon in
        let bus = try await daemon.connect()
        bus.close()
        #expect(bus.ownName == "")
        #expect(throws: BusError.gone) { try bus.emit("Said", of: interface, at: root, []) }
    }
}

@Test("a name is waited for in line, and nobody takes it away", .enabled(if: PrivateBus.isThere))
func nameLines() async throws {
    try await TestLoop.withBus { daemon in
        let first = try await daemon.connect()
        let second = try await daemon.connect()
        #expect(try await first.lineUp(for: "org.appvault.Line", until: soon) == .owner)
        #expect(try await second.lineUp(for: "org.appvault.Line", until: soon) == .waiting)
        let owners = Answers()
        try await second.follow("org.appvault.Line", until: soon) { owners.all.append($0 ?? "") }
        #expect(owners.all == [first.ownName])
        first.close()
        #expect(await waited { owners.all.last == second.ownName })
        second.close()
    }
}
