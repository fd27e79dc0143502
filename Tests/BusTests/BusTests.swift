import Testing

@testable import Bus
@testable import Posix

private let path = "/org/appvault/Test/one"
private let interface = "org.appvault.Test"

@LoopActor
private final class Heard {
    var values: [String] = []
}

@LoopActor
private func thrown<R: Sendable>(
    _ body: @LoopActor () async throws(BusError) -> R
) async -> BusError? {
    do throws(BusError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

private let values: [BusValue] = [
    .string("Tür"), .bool(true), .uint32(7), .path("/a/b"), .strings(["x", ""]),
    .dictionary(["n": .uint32(1), "t": .string("y"), "l": .strings(["z"]), "i": .int32(-3)]),
    .variant(.uint64(1 << 40)),
]

@Test(
    "each kind of value arrives as it was sent, in a call and in its answer",
    .enabled(if: PrivateBus.isThere))
func valuesArrive() async throws {
    try await TestLoop.withBus { daemon in
        let server = try await daemon.connect()
        let client = try await daemon.connect()
        let types = ["s", "b", "u", "o", "as", "a{sv}", "v"]
        server.serve(
            BusObject(
                path: path, interface: interface,
                methods: [
                    BusMethod("Echo", takes: types.map { BusMethod.Argument("a", $0) }) { call in
                        do {
                            let read = call.message
                            return .values([
                                .string(try read.string()), .bool(try read.bool()),
                                .uint32(try read.uint32()), .path(try read.objectPath()),
                                .strings(try read.strings()), .dictionary(try read.dictionary()),
                                .variant(try read.variant() ?? .bool(false)),
                            ])
                        } catch {
                            return .refused(.failed("\(error)"))
                        }
                    }
                ]))
        _ = try await server.own("org.appvault.Test", until: soon)
        let answer = try await client.call(
            "org.appvault.Test", path, interface, "Echo", values, until: soon)
        #expect(try answer.string() == "Tür")
        #expect(try answer.bool())
        #expect(try answer.uint32() == 7)
        #expect(try answer.objectPath() == "/a/b")
        #expect(try answer.strings() == ["x", ""])
        #expect(
            try answer.dictionary() == [
                "n": .uint32(1), "t": .string("y"), "l": .strings(["z"]), "i": .int32(-3),
            ])
        #expect(try answer.variant() == .uint64(1 << 40))
        #expect(await thrown { () throws(BusError) in try answer.string() } == .malformed)
        server.close()
        client.close()
    }
}

@Test(
    "what cannot be a message is an error of the caller's, and the connection goes on",
    .enabled(if: PrivateBus.isThere))
func unsendable() async throws {
    try await TestLoop.withBus { daemon in
        let bus = try await daemon.connect()
        for bad: BusValue in [.path("no path"), .string("a\0b"), .strings(["a\0b"])] {
            let error = await thrown { () throws(BusError) in
                try await bus.call(
                    "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", [bad],
                    until: soon)
            }
            #expect(error == .unsent(22))
        }
        _ = try await bus.ask("GetId", [], until: soon)
        bus.close()
    }
}

@Test(
    "a bus that has ended is gone also for whoever calls before its end was read",
    .enabled(if: PrivateBus.isThere))
func calledAfterTheEnd() async throws {
    try await TestLoop.withBus { daemon in
        let bus = try await daemon.connect()
        // The loop stands still from here to the calls: nothing reads the end in between.
        daemon.stop()
        for _ in 0..<3 {
            bus.start(Bus.driver, "/", Bus.driver, "GetId", [], until: soon) {
                #expect(throws: BusError.gone, performing: $0.get)
            }
        }
        let late = await thrown { () throws(BusError) in
            try await bus.ask("GetId", [], until: soon)
        }
        #expect(late == .gone)
        bus.close()
    }
}

@Test(
    "an unknown path, interface or method, wrong arguments and an answer that cannot be sent",
    .enabled(if: PrivateBus.isThere))
func refusals() async throws {
    try await TestLoop.withBus { daemon in
        let server = try await daemon.connect()
        let client = try await daemon.connect()
        server.serve(
            BusObject(
                path: path, interface: interface,
                methods: [
                    BusMethod("Nothing") { _ in .values([]) },
                    BusMethod("Broken") { _ in .values([.path("no path")]) },
                    BusMethod("Who") { call in .values([.uint32(call.uid)]) },
                ]))
        _ = try await server.own("org.appvault.Test", until: soon)
        func name(
            _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
        ) async -> String {
            let error = await thrown { () throws(BusError) in
                try await client.call(
                    "org.appvault.Test", path, interface, member, arguments, until: soon)
            }
            guard case .refused(let name, _) = error else { return "\(error as Any)" }
            return name.split(separator: ".").last.map(String.init) ?? ""
        }
        #expect(await name("/org", interface, "Nothing") == "UnknownObject")
        #expect(await name(path, "org.appvault.Other", "Nothing") == "UnknownInterface")
        #expect(await name(path, interface, "Something") == "UnknownMethod")
        #expect(await name(path, interface, "Nothing", [.bool(true)]) == "InvalidArgs")
        #expect(await name(path, interface, "Broken") == "Failed")
        let who = try await client.call("org.appvault.Test", path, interface, "Who", until: soon)
        #expect(try who.uint32() == ThisProcess.uid)
        let peer = "org.freedesktop.DBus.Peer"
        _ = try await client.call("org.appvault.Test", "/", peer, "Ping", until: soon)
        let introspectable = "org.freedesktop.DBus.Introspectable"
        for (at, part) in [
            ("/", "<node name=\"org\"/>"), ("/org/appvault/Test", "<node name=\"one\"/>"),
            (path, "<method name=\"Who\">"),
        ] {
            let text = try await client.call(
                "org.appvault.Test", at, introspectable, "Introspect", until: soon)
            #expect(try text.string().contains(part))
        }
        #expect(await name("/com", introspectable, "Introspect") == "UnknownObject")
        #expect(server.callsUnderWay == 0)
        server.close()
        client.close()
    }
}

@Test(
    "a name has one owner; the second asks in vain until it is free",
    .enabled(if: PrivateBus.isThere))
func ownership() async throws {
    try await TestLoop.withBus { daemon in
        let first = try await daemon.connect()
        let second = try await daemon.connect()
        #expect(try await first.own("org.appvault.Test", until: soon) == .owner)
        #expect(try await second.own("org.appvault.Test", until: soon) == .taken)
        try await first.release("org.appvault.Test", until: soon)
        #expect(try await second.own("org.appvault.Test", until: soon) == .owner)
        let missing = await thrown { () throws(BusError) in
            try await first.call("org.appvault.None", path, interface, "X", until: soon)
        }
        #expect(missing?.isNobody == true)
        first.close()
        second.close()
    }
}

@Test("a name's owner is told as it comes, changes and leaves", .enabled(if: PrivateBus.isThere))
func owners() async throws {
    try await TestLoop.withBus { daemon in
        let watching = try await daemon.connect()
        let heard = Heard()
        try await watching.follow("org.appvault.Test", until: soon) {
            heard.values.append($0 == nil ? "nobody" : "somebody")
        }
        #expect(heard.values.isEmpty)
        let owner = try await daemon.connect()
        _ = try await owner.own("org.appvault.Test", until: soon)
        #expect(await waited { heard.values == ["somebody"] })
        #expect(watching.owner(of: "org.appvault.Test") != nil)
        owner.close()
        #expect(await waited { heard.values == ["somebody", "nobody"] })
        let next = try await daemon.connect()
        _ = try await next.own("org.appvault.Next", until: soon)
        try await watching.follow("org.appvault.Next", until: soon) { _ in
            heard.values.append("next")
        }
        #expect(heard.values.last == "next")
        next.close()
        watching.close()
    }
}

@Test(
    "a signal is heard from the name's owner, and from nobody else",
    .enabled(if: PrivateBus.isThere))
func signals() async throws {
    try await TestLoop.withBus { daemon in
        let watching = try await daemon.connect()
        let owner = try await daemon.connect()
        let stranger = try await daemon.connect()
        _ = try await owner.own("org.appvault.Test", until: soon)
        let heard = Heard()
        try await watching.follow("org.appvault.Test", until: soon) { _ in }
        try await watching.hear(
            "Said", of: interface, from: "org.appvault.Test", until: soon
        ) { heard.values.append((try? $0.string()) ?? "malformed") }
        try stranger.emit(path, interface, "Said", [.string("stranger")])
        // Not asked for by any rule, and sent to us alone.
        try stranger.emit(
            path, interface, "Said", [.string("directly")], to: watching.ownName)
        try stranger.emit(
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
            [
                .string("org.appvault.Test"), .string(""), .string(stranger.ownName),
            ], to: watching.ownName)
        _ = try await stranger.ask("GetId", [], until: soon)
        try owner.emit(path, interface, "Said", [.uint32(1)])
        try owner.emit(path, interface, "Other", [.string("other")])
        try owner.emit(path, interface, "Said", [.string("owner")])
        #expect(await waited { heard.values.contains("owner") })
        #expect(heard.values == ["malformed", "owner"])
        for each in [watching, owner, stranger] { each.close() }
    }
}

@Test("an answer from another than the one who was asked is none", .enabled(if: PrivateBus.isThere))
func forgedAnswer() async throws {
    try await TestLoop.withBus { daemon in
        let client = try await daemon.connect()
        let server = try await daemon.connect()
        let name = server.ownName
        server.serve(
            BusObject(
                path: path, interface: interface,
                methods: [
                    BusMethod("Slow") { _ in
                        await EventLoop.sleep(until: Clock.bootMilliseconds() + 300)
                        return .values([.string("true")])
                    }
                ]))
        let forger = try await daemon.connect()
        EventLoop.shared.task {
            // The client's numbers are small, and this is one that it waits for.
            for number in UInt64(1)..<10 {
                try? forger.forgeAnswer(
                    to: client.ownName, number: number, .string("forged"))
            }
        }
        let answer = try await client.call(name, path, interface, "Slow", until: soon)
        #expect(try answer.string() == "true")
        for each in [client, server, forger] { each.close() }
    }
}

@Test(
    "a call that is not answered ends at its deadline, and what waits for a dead bus at once",
    .enabled(if: PrivateBus.isThere))
func deadlines() async throws {
    let daemon = try PrivateBus()
    let stopped = Stopped(daemon)
    defer { stopped.stop() }
    try await TestLoop.run {
        let bus = try await daemon.connect()
        let other = try await daemon.connect()
        other.serve(
            BusObject(
                path: path, interface: interface,
                methods: [
                    BusMethod("Never") { _ in
                        await EventLoop.sleep(until: soon)
                        return .values([])
                    }
                ]))
        let name = other.ownName
        let late = await thrown { () throws(BusError) in
            try await bus.call(
                name, path, interface, "Never", until: Clock.bootMilliseconds() + 50)
        }
        #expect(late == .silent)
        let heard = Heard()
        bus.whenGone = { heard.values.append("gone") }
        EventLoop.shared.task {
            let error = await thrown { () throws(BusError) in
                try await bus.call(name, path, interface, "Never", until: soon)
            }
            heard.values.append(error == .gone ? "failed" : "\(error as Any)")
        }
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 20)
        stopped.stop()
        #expect(await waited { heard.values.count == 2 })
        #expect(Set(heard.values) == ["gone", "failed"])
        let after = await thrown { () throws(BusError) in
            try await bus.ask("GetId", [], until: soon)
        }
        #expect(after == .gone)
        let none = await thrown { () throws(BusError) in try await daemon.connect() }
        #expect(none == .gone)
        other.close()
    }
}

@Test(
    "a bus that hangs is silent, also at the connection's beginning")
func hangs() async throws {
    try await TestLoop.withBus { daemon in
        let bus = try await daemon.connect()
        daemon.halt()
        defer { daemon.resume() }
        let opened = await thrown { () throws(BusError) in
            try await Bus.open(.address(daemon.address), until: Clock.bootMilliseconds() + 50)
        }
        #expect(opened == .silent)
        daemon.resume()
        bus.close()
    }
}

@Test(
    "what a busy bus has no room for is sent when it has room again",
    .enabled(if: PrivateBus.isThere))
func room() async throws {
    try await TestLoop.withBus { daemon in
        let sender = try await daemon.connect()
        let hearing = try await daemon.connect()
        _ = try await sender.own("org.appvault.Test", until: soon)
        let heard = Heard()
        try await hearing.follow("org.appvault.Test", until: soon) { _ in }
        try await hearing.hear("Said", of: interface, from: "org.appvault.Test", until: soon) {
            heard.values.append((try? $0.string()) ?? "malformed")
        }
        daemon.halt()
        defer { daemon.resume() }
        // Nothing answers these, so nothing but the room itself wakes the sender. They are more
        // than the 16 MB that the kernel takes when libsystemd asks it to.
        let text = String(repeating: "x", count: 60_000)
        for _ in 0..<600 { try sender.emit(path, interface, "Said", [.string(text)]) }
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 20)
        #expect(heard.values.isEmpty)
        daemon.resume()
        #expect(await waited { heard.values.count == 600 })
        #expect(Set(heard.values) == [text])
        sender.close()
        hearing.close()
    }
}

@Test("waits double from a second to a minute, and begin anew after a success")
func backOff() {
    var backOff = BackOff()
    #expect((0..<8).map { _ in backOff.milliseconds() / 1000 } == [1, 2, 4, 8, 16, 32, 60, 60])
    backOff.succeeded()
    #expect(backOff.milliseconds() == 1_000)
}

/// The daemon ends once, in the middle of a test or at its end.
private final class Stopped: @unchecked Sendable {
    private var daemon: PrivateBus?
    init(_ daemon: PrivateBus) { self.daemon = daemon }
    func stop() {
        daemon?.stop()
        daemon = nil
    }
}
