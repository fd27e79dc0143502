import Testing

@testable import Bus
@testable import Posix
@testable import SecretService
@testable import SessionCrypto

private func withDesk(
    isOpen: Bool = true, _ body: @escaping @LoopActor @Sendable (Desk) async throws -> Void
) async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon, isOpen: isOpen)
        try await body(desk)
        desk.service.bus.close()
    }
}

private func contents(_ buffer: WipedBuffer) -> [UInt8] {
    buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

@Test("a secret is stored, found and read", .enabled(if: PrivateBus.isThere))
func thinPath() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let item = try await client.create("otter", ["user": "ann"], session: session)
        #expect(try await client.search(["user": "ann"]).unlocked == [item])
        #expect(try await client.search(["user": "bob"]).unlocked == [])
        #expect(try await client.secret(item, session) == "otter")
        #expect(try await client.property(item, "Item", "Attributes") == .texts(["user": "ann"]))
        #expect(try await client.property(item, "Item", "Locked") == .bool(false))
        client.bus.close()
    }
}

@Test(
    "secrets cross in an encrypted session, in both directions", .enabled(if: PrivateBus.isThere))
func encrypted() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let plain = try await client.plainSession()
        let item = try await client.create("otter", [:], session: plain)
        let ours = try KeyExchange()
        let answer = try await client.service(
            "OpenSession",
            [
                .string("dh-ietf1024-sha256-aes128-cbc-pkcs7"), .variant(.bytes(ours.publicKey)),
            ])
        guard case .bytes(let theirs)? = try answer.variant() else {
            Issue.record("no public key")
            return
        }
        let session = try answer.objectPath()
        let key = try ours.key(with: theirs)
        let given = try await client.call(item, "Item", "GetSecret", [.path(session)])
        let (vector, bytes) = try given.structure("oayays") { () throws(BusError) in
            _ = try given.objectPath()
            let result = (try given.bytes(atMost: 16), try given.bytes(atMost: 1 << 20))
            _ = try given.string()
            return result
        }
        #expect(bytes != Array("otter".utf8))
        let read = try key.decrypt(WipedBuffer(bytes: bytes), vector: vector)
        #expect(contents(read) == Array("otter".utf8))
        let sent = try key.encrypt(Array("badger".utf8).span)
        let encrypted = contents(sent.bytes)
        func set(_ bytes: [UInt8]) -> BusValue {
            .structure([
                .path(session), .bytes(sent.vector), .bytes(bytes), .string("text/plain"),
            ])
        }
        _ = try await client.call(item, "Item", "SetSecret", [set(encrypted)])
        #expect(try await client.secret(item, plain) == "badger")
        // What was not encrypted under this key is not stored.
        let refused = await refusal {
            _ = try await client.call(item, "Item", "SetSecret", [set(Array("badger".utf8))])
        }
        #expect(refused == "InvalidArgs")
        #expect(try await client.secret(item, plain) == "badger")
        client.bus.close()
    }
}

@Test("an unknown algorithm and a bad public key open no session", .enabled(if: PrivateBus.isThere))
func badSessions() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
        let bad: [(String, BusValue, String)] = [
            ("rot13", .string(""), "NotSupported"), ("plain", .uint32(1), "InvalidArgs"),
            (encrypted, .string(""), "InvalidArgs"), (encrypted, .bytes([1]), "InvalidArgs"),
            (encrypted, .bytes([]), "InvalidArgs"),
        ]
        for (algorithm, input, wanted) in bad {
            let refused = await refusal {
                _ = try await client.service(
                    "OpenSession", [.string(algorithm), .variant(input)])
            }
            #expect(refused == wanted)
        }
        client.bus.close()
    }
}

@Test(
    "a session, and a prompt, are their client's alone, and end with it",
    .enabled(if: PrivateBus.isThere))
func othersObjects() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let other = try await desk.client()
        let session = try await client.plainSession()
        let item = try await client.create("otter", [:], session: session)
        await isRefused("NoSession") { _ = try await other.secret(item, session) }
        let close = await refusal { _ = try await other.call(session, "Session", "Close") }
        #expect(close == "NoSession")
        #expect(try await client.secret(item, session) == "otter")
        _ = try await client.call(session, "Session", "Close")
        await isRefused("NoSession") { _ = try await client.secret(item, session) }
        let second = try await client.plainSession()
        desk.keeper.isOpen = false
        let (_, prompt) = try await client.unlock([client.login])
        for member in ["Prompt", "Dismiss"] {
            let arguments: [BusValue] = member == "Prompt" ? [.string("")] : []
            let refused = await refusal {
                _ = try await other.call(prompt, "Prompt", member, arguments)
            }
            #expect(refused == "NoSuchObject")
        }
        #expect(!desk.person.isAsked)
        client.bus.close()
        // The bus tells us that it has left before it answers this.
        _ = try await other.search([:])
        #expect(desk.service.tree.sessions.ids.isEmpty && desk.service.tree.prompts.ids.isEmpty)
        await isRefused("NoSession") { _ = try await other.secret(item, second) }
        other.bus.close()
    }
}

@Test(
    "replacing means an item with exactly these attributes; without any there is none",
    .enabled(if: PrivateBus.isThere))
func replacing() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let one = try await client.create("1", ["a": "x"], session: session)
        let more = try await client.create("2", ["a": "x", "b": "y"], session: session)
        let same = try await client.create("3", ["a": "x"], session: session, replace: true)
        #expect(one == same && one != more)
        #expect(try await client.secret(one, session) == "3")
        #expect(try await client.create("4", ["a": "x"], session: session) != one)
        let bare = try await client.create("5", [:], session: session, replace: true)
        #expect(try await client.create("6", [:], session: session, replace: true) != bare)
        client.bus.close()
    }
}

@Test("the schema's name and the type say the same", .enabled(if: PrivateBus.isThere))
func types() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let typed = try await client.create("1", ["a": "x"], session: session, type: "org.a.B")
        #expect(
            try await client.property(typed, "Item", "Attributes")
                == .texts(["a": "x", "xdg:schema": "org.a.B"]))
        let schema = try await client.create("2", ["xdg:schema": "org.a.C"], session: session)
        #expect(try await client.property(schema, "Item", "Type") == .string("org.a.C"))
        let generic = "org.freedesktop.Secret.Generic"
        let none = try await client.create("3", ["a": "x"], session: session, type: generic)
        #expect(try await client.property(none, "Item", "Attributes") == .texts(["a": "x"]))
        #expect(try await client.property(none, "Item", "Type") == .string(generic))
        try await client.set(none, "Item", "Type", .string("org.a.D"))
        #expect(try await client.search(["xdg:schema": "org.a.D"]).unlocked == [none])
        client.bus.close()
    }
}

@Test("properties are read and set, and have their types", .enabled(if: PrivateBus.isThere))
func properties() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let item = try await client.create("1", ["a": "x"], session: session)
        try await client.set(item, "Item", "Label", .string("Tür"))
        #expect(try await client.property(item, "Item", "Label") == .string("Tür"))
        try await client.set(item, "Item", "Attributes", .texts(["b": "y"]))
        #expect(try await client.search(["b": "y"]).unlocked == [item])
        #expect(try await client.search(["a": "x"]).unlocked == [])
        #expect(try await client.secret(item, session) == "1")
        try await client.set(client.login, "Collection", "Label", .string("Mine"))
        #expect(try await client.property(client.login, "Collection", "Label") == .string("Mine"))
        #expect(try await client.property(client.login, "Collection", "Items") == .paths([item]))
        let wrong = await refusal {
            try await client.set(item, "Item", "Label", .uint32(1))
        }
        let readOnly = await refusal {
            try await client.set(item, "Item", "Locked", .bool(true))
        }
        let unknown = await refusal {
            _ = try await client.property(item, "Item", "Colour")
        }
        #expect(
            [wrong, readOnly, unknown] == ["InvalidArgs", "PropertyReadOnly", "UnknownProperty"])
        client.bus.close()
    }
}

@Test("aliases and collections are made, meant and deleted", .enabled(if: PrivateBus.isThere))
func collections() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        func alias(_ name: String) async throws -> String {
            try await client.service("ReadAlias", [.string(name)]).objectPath()
        }
        #expect(try await alias("default") == client.login)
        #expect(try await alias("nothing") == "/")
        try await client.listen()
        #expect(try await client.make("x", "default") == client.login)
        let work = try await client.make("Work", "work")
        #expect(try await alias("work") == work)
        let item = try await client.create("1", ["a": "x"], session: session, in: work)
        #expect(item.hasPrefix(work + "/"))
        let byAlias = "/org/freedesktop/secrets/aliases/work"
        #expect(try await client.property(byAlias, "Collection", "Label") == .string("Work"))
        let end = item.split(separator: "/").last.map(String.init) ?? ""
        #expect(try await client.secret(byAlias + "/" + end, session) == "1")
        _ = try await client.service("SetAlias", [.string("default"), .path(work)])
        #expect(try await alias("default") == work)
        _ = try await client.call(work, "Collection", "Delete")
        #expect(try await client.search(["a": "x"]).unlocked == [])
        await isRefused("NoSuchObject") { _ = try await client.secret(item, session) }
        #expect(try await alias("default") == client.login)
        let refused = await refusal {
            _ = try await client.call(client.login, "Collection", "Delete")
        }
        #expect(refused == "NotSupported")
        client.bus.close()
    }
}

@Test(
    "what is not there is NoSuchObject, and what it has not is said",
    .enabled(if: PrivateBus.isThere)
)
func nothingThere() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let root = "/org/freedesktop/secrets"
        let none = String(repeating: "0", count: 31) + "1"
        for path in [
            root + "/collection/nothing", client.login + "/" + none, root + "/session/" + none,
            root + "/prompt/" + none, root + "/aliases/nothing", root + "/more",
            client.login + "/" + none + "/" + none,
        ] {
            let refused = await refusal { _ = try await client.call(path, "Item", "Delete") }
            #expect(refused == "NoSuchObject", "\(path)")
        }
        let method = await refusal { _ = try await client.service("Explode") }
        let interface = await refusal { _ = try await client.call(root, "Item", "Delete") }
        let arguments = await refusal { _ = try await client.service("ReadAlias", [.uint32(1)]) }
        #expect(
            [method, interface, arguments] == ["UnknownMethod", "UnknownInterface", "InvalidArgs"])
        client.bus.close()
    }
}

@Test("every path says what it has", .enabled(if: PrivateBus.isThere))
func introspection() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let item = try await client.create("1", [:], session: session)
        func xml(_ path: String) async throws -> String {
            try await client.bus.call(
                "org.freedesktop.secrets", path, "org.freedesktop.DBus.Introspectable",
                "Introspect",
                until: soon
            ).string()
        }
        let root = "/org/freedesktop/secrets"
        for (path, wanted) in [
            ("/", "node name=\"org\""), ("/org/freedesktop", "node name=\"secrets\""),
            (root, "method name=\"SearchItems\""), (root, "node name=\"collection\""),
            (root + "/collection", "node name=\"login\""),
            (client.login, "property name=\"Items\" type=\"ao\" access=\"read\""),
            (item, "property name=\"Label\" type=\"s\" access=\"readwrite\""),
            (session, "method name=\"Close\""),
            (root + "/aliases/default", "signal name=\"ItemCreated\""),
            (root + "/aliases", "node name=\"default\""),
        ] {
            #expect(try await xml(path).contains(wanted), "\(path)")
        }
        client.bus.close()
    }
}

@Test(
    "the collection `session` is in memory, is never locked, and one client does not fill it",
    .enabled(if: PrivateBus.isThere))
func passing() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let collection = "/org/freedesktop/secrets/collection/session"
        let item = try await client.create("1", ["a": "x"], session: session, in: collection)
        desk.keeper.isOpen = false
        #expect(try await client.search(["a": "x"]).unlocked == [item])
        #expect(try await client.secret(item, session) == "1")
        #expect(desk.keeper.mirror.count == 0)
        let (unlocked, prompt) = try await client.unlock([item, collection])
        #expect(unlocked == [item, collection] && prompt == "/")
        var refused = ""
        for _ in 0..<Passers.mostItems where refused.isEmpty {
            refused = await refusal {
                _ = try await client.create("2", [:], session: session, in: collection)
            }
        }
        #expect(refused == "LimitsExceeded")
        let other = try await desk.client()
        let theirs = try await other.plainSession()
        _ = try await other.create("3", [:], session: theirs, in: collection)
        _ = try await client.call(item, "Item", "Delete")
        #expect(try await client.search(["a": "x"]).unlocked == [])
        client.bus.close()
        other.bus.close()
    }
}

@Test(
    "what is locked stays to be found, is not read, and is refused by name",
    .enabled(if: PrivateBus.isThere))
func locked() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        let item = try await client.create("1", ["a": "x"], session: session)
        let answer = try await client.service("Lock", [.paths([client.login])])
        #expect(try answer.paths(atMost: 9) == [client.login] && answer.objectPath() == "/")
        let found = try await client.search(["a": "x"])
        #expect(found.unlocked == [] && found.locked == [item])
        #expect(try await client.property(item, "Item", "Label") == .string("a label"))
        #expect(try await client.property(item, "Item", "Locked") == .bool(true))
        #expect(try await client.property(client.login, "Collection", "Items") == .paths([item]))
        await isRefused("IsLocked") { _ = try await client.secret(item, session) }
        let create = await refusal { _ = try await client.create("2", [:], session: session) }
        let label = await refusal { try await client.set(item, "Item", "Label", .string("")) }
        #expect(create == "IsLocked" && label == "IsLocked")
        let secrets = try await client.service("GetSecrets", [.paths([item]), .path(session)])
        #expect(secrets.signature == "a{o(oayays)}")
        client.bus.close()
    }
}

@Test(
    "one line for each program and what it does to a collection", .enabled(if: PrivateBus.isThere))
func journal() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let session = try await client.plainSession()
        for _ in 0..<5 {
            let item = try await client.create("otter", ["user": "ann"], session: session)
            _ = try await client.secret(item, session)
        }
        #expect(desk.lines.all.count == 2)
        #expect(desk.lines.all.allSatisfy { $0.contains("process ") && $0.contains("\"Login\"") })
        let all = desk.lines.all.joined()
        for hidden in ["otter", "ann", "a label"] { #expect(!all.contains(hidden)) }
        client.bus.close()
    }
}

@Test(
    "ten thousand sessions of one client end at its limit, and others are served",
    .enabled(if: PrivateBus.isThere))
func manySessions() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let other = try await desk.client()
        var opened = 0
        var refused: [String: Int] = [:]
        for _ in 0..<10_000 {
            client.bus.start(
                "org.freedesktop.secrets", "/org/freedesktop/secrets",
                "org.freedesktop.Secret.Service", "OpenSession",
                [.string("plain"), .variant(.string(""))], until: soon
            ) { answer in
                switch answer {
                case .success: opened += 1
                case .failure(let error): refused["\(error)", default: 0] += 1
                }
            }
        }
        let session = try await other.plainSession()
        let item = try await other.create("1", [:], session: session)
        #expect(try await other.secret(item, session) == "1")
        #expect(await waited { opened + refused.values.reduce(0, +) == 10_000 })
        #expect(opened == Sessions.mostOfClient, "\(refused)")
        client.bus.close()
        other.bus.close()
    }
}
