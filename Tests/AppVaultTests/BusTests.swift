import Testing

@testable import AppVault

@Suite("the session bus", .timeLimit(.minutes(20)))
struct SessionBusTests {
    private let example = BusMessage(
        kind: .call, serial: 7, path: "/org/example", interface: "org.example.One",
        member: "Do", destination: "org.example",
        body: [
            .string("grün"), .byte(1), .boolean(true), .int32(-5), .uint32(5), .uint64(1 << 40),
            .path("/"), .signature("a{sv}"), .bytes([0, 255]), .array("s", []),
            .array("{ss}", [.entry(.string("a"), .string("b"))]),
            .properties(["x": .array("o", [.path("/a")])]),
            .structure([.path("/s"), .bytes([]), .bytes([1, 2, 3]), .string("text")]),
            .variant(.variant(.string("inner"))),
        ])

    private func bytes(_ message: BusMessage) -> [UInt8] {
        message.encoded().withSpan { copied($0) }
    }

    @Test("a message that was written is read as it was")
    func roundTrip() throws {
        let bytes = bytes(example)
        let read = try #require(try BusMessage.decode(bytes.span))
        #expect(read.message == example)
        #expect(read.length == bytes.count)
    }

    @Test("a message that is not whole yet is waited for")
    func pieces() throws {
        let bytes = bytes(example)
        for count in 0..<bytes.count {
            let isThere = try BusMessage.decode(Array(bytes.prefix(count)).span) != nil
            #expect(!isThere, "\(count)")
        }
    }

    @Test("no byte that is changed makes the reader trap")
    func changed() {
        let bytes = bytes(example)
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x61, 0x7F, 0xFF, bytes[index] &+ 1] {
                var other = bytes
                other[index] = value
                _ = try? BusMessage.decode(other.span)
            }
        }
    }

    @Test("what is nested without end, or too long, is refused")
    func limits() {
        var deep = BusValue.string("x")
        for _ in 0..<100 { deep = .variant(deep) }
        var message = example
        message.body = [deep]
        let bytes = bytes(message)
        #expect(throws: BusFault.tooDeep) { _ = try BusMessage.decode(bytes.span) }
        let long: [UInt8] = [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: BusFault.tooLong) { _ = try BusMessage.decode(long.span) }
    }

    @Test("addresses of the bus are read as the specification writes them")
    func addresses() {
        #expect(
            BusAddress.paths("tcp:host=x;unix:path=/a%20b,guid=1;unix:abstract=/c")
                == [Array("/a b".utf8), [0] + Array("/c".utf8)])
        #expect(BusAddress.paths("") == [])
    }

    @Test("the agent opens the store, and says why not", arguments: [0, 1, 3, 4, 5, 6, 130])
    func agent(_ status: Int32) async throws {
        let bus = try ScriptedBus { call in
            ScriptedBus.reply(to: call, [.int32(status), .string("said")])
        }
        let codes: [Int32: VaultError.Code] = [
            1: .unknown, 3: .doesNotExist, 4: .locked, 5: .serviceUnavailable, 6: .storeDamaged,
            130: .cancelled,
        ]
        let prompter = AgentPrompter(bus: bus.address)
        do throws(VaultError) {
            let isOpen = try await prompter.opensByItself("mail")
            #expect(isOpen && status == 0)
        } catch {
            #expect(error.code == codes[status])
            #expect(error.message == "said")
        }
        #expect(bus.called.last?.member == "Unlock")
        #expect(bus.called.last?.body == [.string("mail")])
    }

    @Test("a bus that sends garbage, or goes, or an error, ends the call with one")
    func faults() async throws {
        let garbage = try ScriptedBus { _ in Array(repeating: 0xAA, count: 64) }
        let gone = try ScriptedBus { _ in nil }
        let refused = try ScriptedBus { call in
            var error = BusMessage(kind: .error, serial: 2)
            (error.replyTo, error.errorName) = (
                call.serial, "org.freedesktop.DBus.Error.ServiceUnknown"
            )
            error.body = [.string("no such name")]
            return error.encoded().withSpan { copied($0) }
        }
        for bus in [garbage, gone, refused] {
            let error = await #expect(throws: VaultError.self) {
                try await AgentPrompter(bus: bus.address).opensByItself("mail")
            }
            #expect(error?.code == .busFailed)
        }
        let away = await #expect(throws: VaultError.self) {
            try await AgentPrompter(bus: "unix:path=/nonexistent/bus").opensByItself("mail")
        }
        #expect(away?.code == .busFailed)
    }

    @Test("a call that waits for the bus is given up if the task is cancelled")
    func cancelled() async throws {
        let asked = Gate()
        let bus = try ScriptedBus { _ in
            asked.open()
            return []
        }
        let task = Task { try await AgentPrompter(bus: bus.address).opensByItself("mail") }
        await asked.wait()
        task.cancel()
        let error = await #expect(throws: VaultError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
