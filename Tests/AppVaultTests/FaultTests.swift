import Testing
import Wire

@testable import AppVault

@Suite("a daemon that does not do what it should", .timeLimit(.minutes(20)))
struct FaultTests {
    /// By itself patient: what a daemon's silence leads to is for the tests that are about it.
    private func store(_ daemon: ScriptedDaemon, silence: UInt64 = 3_600_000) throws -> Store {
        try daemon.vault(silence: silence).store()
    }

    private func code(_ call: () async throws -> Void) async -> VaultError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? VaultError)?.code
        }
    }

    @Test("garbage is an error, and the next call begins anew")
    func garbage() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                peer.greet()
                peer.read()
                peer.send(Array(repeating: 0xFF, count: 64))
                peer.waitForEnd()
            },
            { peer in
                peer.greet()
                if let get = peer.read() { peer.send(value: [7], tag: get.tag) }
                peer.waitForEnd()
            })
        let store = try self.store(daemon)
        #expect(await code { _ = try await store.get("a") } == .protocolError)
        #expect(try await store.get("a") == [7])
    }

    @Test("an answer to another request, or of another type, is an error")
    func outOfTurn() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                peer.greet()
                if let get = peer.read() { peer.send(value: [7], tag: get.tag &+ 9) }
                peer.waitForEnd()
            },
            { peer in
                peer.greet()
                if let get = peer.read() { peer.send(.done, Done(), tag: get.tag) }
                peer.waitForEnd()
            })
        let store = try self.store(daemon)
        #expect(await code { _ = try await store.get("a") } == .protocolError)
        #expect(await code { _ = try await store.get("a") } == .protocolError)
    }

    @Test("a get whose answer is cut short is asked again, once")
    func cutShort() async throws {
        let cut: ScriptedDaemon.Part = { peer in
            peer.greet()
            peer.read()
            peer.send([5, 0, 0, 0, 0x41])
            peer.close()
        }
        let daemon = try ScriptedDaemon(
            cut,
            { peer in
                peer.greet()
                if let get = peer.read() { peer.send(value: [7], tag: get.tag) }
                peer.close()
            }, cut, cut)
        let store = try self.store(daemon)
        #expect(try await store.get("a") == [7])
        #expect(await code { _ = try await store.get("a") } == .connectionLost)
    }

    @Test("a set that may have been taken is never sent again")
    func setLost() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            peer.read()
            peer.close()
        })
        let store = try self.store(daemon)
        #expect(await code { try await store.set([1], for: "a") } == .outcomeUnknown)
        #expect(daemon.requests == [RequestType.set.rawValue])
        #expect(daemon.connections == 1)
    }

    @Test("a set that was surely not taken is sent again")
    func setNotTaken() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                peer.greet()
                // What has come is not read: the kernel tells the other side.
                pause(50_000)
                peer.close()
            },
            { peer in
                peer.greet()
                if let set = peer.read() { peer.send(.done, Done(), tag: set.tag) }
                peer.waitForEnd()
            })
        let store = try self.store(daemon)
        try await store.set([1], for: "a")
        #expect(daemon.requests == [RequestType.set.rawValue])
        #expect(daemon.connections == 2)
    }

    @Test("a connection that the daemon has closed meanwhile is made anew")
    func idle() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                peer.greet()
                if let get = peer.read() { peer.send(value: [1], tag: get.tag) }
                peer.close()
            },
            { peer in
                peer.greet()
                if let set = peer.read() { peer.send(.done, Done(), tag: set.tag) }
                peer.waitForEnd()
            })
        let store = try self.store(daemon)
        #expect(try await store.get("a") == [1])
        try await Task.sleep(for: .milliseconds(50))
        try await store.set([1], for: "a")
        #expect(daemon.connections == 2)
    }

    @Test("a daemon that hangs is no longer waited for than its silence may last")
    func silent() async throws {
        let asked = Gate()
        let hangs: ScriptedDaemon.Part = { peer in
            peer.greet()
            peer.read()
            asked.open()
            peer.waitForEnd()
        }
        let (other, daemon) = (try ScriptedDaemon(hangs), try ScriptedDaemon(hangs, hangs))
        // Begun before the others and patient: a silence that is nobody's own would end this first.
        let patient = try self.store(other, silence: 3_600_000)
        let waiting = Task { await code { _ = try await patient.get("a") } }
        await asked.wait()
        let store = try self.store(daemon, silence: 1_000)
        #expect(await code { _ = try await store.get("a") } == .noAnswer)
        #expect(await code { try await store.set([1], for: "a") } == .outcomeUnknown)
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
    }

    @Test("signs of life keep a call waiting for longer than that")
    func working() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let get = peer.read() else { return }
            for _ in 0..<25 {
                pause(100_000)
                peer.send(.working, Empty(), tag: get.tag)
            }
            peer.send(value: [7], tag: get.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon, silence: 2_000)
        #expect(try await store.get("a") == [7])
    }

    @Test("a daemon that is busy, or of another version, says so at once")
    func turnedAway() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                peer.refuse(.busy, tag: 0)
                peer.waitForEnd()
            },
            { peer in
                guard let hello = peer.read() else { return }
                var welcome = Welcome(software: [])
                welcome.version = 99
                peer.send(.welcome, welcome, tag: hello.tag)
                peer.waitForEnd()
            })
        let store = try self.store(daemon)
        #expect(await code { _ = try await store.get("a") } == .busy)
        #expect(await code { _ = try await store.get("a") } == .otherVersion)
    }

    @Test("no daemon, and one of a stranger, are errors before a byte is sent")
    func strangers() async throws {
        let folder = TemporaryFolder()
        let away = Vault(
            Greeting(path: folder.path + "/none", frontEnd: .program, language: ""))
        #expect(await code { _ = try await away.store().get("a") } == .notRunning)
        let daemon = try ScriptedDaemon({ peer in peer.waitForEnd() })
        let vault = Vault(
            Greeting(
                path: daemon.socket, frontEnd: .program, language: "", isTrusted: { _ in false }))
        #expect(await code { _ = try await vault.store().get("a") } == .notTrusted)
        #expect(daemon.requests.isEmpty)
        let long = Vault(
            Greeting(
                path: String(repeating: "x", count: 200), frontEnd: .program, language: ""))
        #expect(await code { _ = try await long.store().get("a") } == .connectionFailed)
    }

    // MARK: Cancelling, at each place where a call waits

    @Test("a call that waits for its turn is not sent if it is cancelled")
    func cancelledInLine() async throws {
        let (asked, release) = (Gate(), Gate())
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let first = peer.read() else { return }
            asked.open()
            release.waitOnThread()
            peer.send(value: [1], tag: first.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        let first = Task { try await store.get("a") }
        await asked.wait()
        let second = Task { try await store.set([1], for: "b") }
        // It is in line, or not even there yet: it is cancelled in both.
        try await Task.sleep(for: .milliseconds(20))
        second.cancel()
        let error = await #expect(throws: VaultError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        release.open()
        #expect(try await first.value == [1])
        #expect(daemon.requests == [RequestType.get.rawValue])
    }

    @Test("a get that waits for its answer is given up, and the connection goes on")
    func cancelledGet() async throws {
        let (asked, release) = (Gate(), Gate())
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let first = peer.read() else { return }
            asked.open()
            release.waitOnThread()
            peer.send(value: [1], tag: first.tag)
            guard let second = peer.read() else { return }
            peer.send(value: [2], tag: second.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        let first = Task { try await store.get("a") }
        await asked.wait()
        first.cancel()
        let error = await #expect(throws: VaultError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        release.open()
        #expect(try await store.get("b") == [2])
        #expect(daemon.connections == 1)
    }

    @Test("a set that was sent is waited for, cancelled or not")
    func cancelledSet() async throws {
        let (asked, release) = (Gate(), Gate())
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let set = peer.read() else { return }
            asked.open()
            release.waitOnThread()
            peer.send(.done, Done(), tag: set.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        let task = Task { try await store.set([1], for: "a") }
        await asked.wait()
        task.cancel()
        try await Task.sleep(for: .milliseconds(20))
        release.open()
        try await task.value
    }

    @Test("a call is cancelled while it tries to connect")
    func cancelledConnecting() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            if let get = peer.read() { peer.send(value: [1], tag: get.tag) }
            peer.close()
        })
        let store = try self.store(daemon)
        #expect(try await store.get("a") == [1])
        // Nobody listens any more, and a daemon may come back within a second.
        let task = Task { try await store.set([1], for: "a") }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = await #expect(throws: VaultError.self) { try await task.value }
        #expect([.cancelled, .notRunning].contains(error?.code))
    }

    @Test("a question is aborted if the task is cancelled while a person is asked")
    func cancelledQuestion() async throws {
        let shown = Gate()
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let open = peer.read() else { return }
            peer.send(
                .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()), tag: open.tag
            )
            // The abort.
            peer.read()
            peer.refuse(.cancelled, tag: open.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        let prompter = ScriptedPrompter { _ in
            shown.open()
            try? await Task.sleep(for: .seconds(60))
            return .text("too late")
        }
        let task = Task { try await store.unlock(with: prompter) }
        await shown.wait()
        task.cancel()
        let error = await #expect(throws: VaultError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(daemon.requests == [RequestType.openStore.rawValue, RequestType.abort.rawValue])
    }

    @Test("a question that the daemon takes back ends the prompter's screen")
    func overtaken() async throws {
        let shown = Gate()
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let open = peer.read() else { return }
            peer.send(
                .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()), tag: open.tag
            )
            shown.waitOnThread()
            peer.send(.done, Done(), tag: open.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        let prompter = ScriptedPrompter { _ in
            shown.open()
            try? await Task.sleep(for: .seconds(60))
            return .text("too late")
        }
        try await store.unlock(with: prompter)
        #expect(daemon.requests == [RequestType.openStore.rawValue])
    }

    @Test("a daemon that hangs while a person is asked ends the question in time")
    func hangsWhileAsking() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let open = peer.read() else { return }
            peer.send(
                .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()), tag: open.tag
            )
            peer.waitForEnd()
        })
        var waits = Waits()
        (waits.person, waits.silence) = (200, 1_000)
        let vault = Vault(
            Greeting(path: daemon.socket, frontEnd: .program, language: ""), waits: waits)
        let prompter = ScriptedPrompter { _ in
            try? await Task.sleep(for: .seconds(60))
            return .cancel
        }
        #expect(await code { try await vault.store().unlock(with: prompter) } == .outcomeUnknown)
    }

    @Test("without anybody who answers, the error says that somebody has to")
    func nobody() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let open = peer.read() else { return }
            peer.send(
                .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()), tag: open.tag
            )
            peer.read()
            peer.refuse(.cancelled, tag: open.tag)
            peer.waitForEnd()
        })
        let store = try self.store(daemon)
        #expect(await code { try await store.unlock() } == .passcodeRequired)
    }

    @Test("an exchange that is lost after an answer was given has an unknown outcome")
    func lostExchange() async throws {
        let daemon = try ScriptedDaemon({ peer in
            peer.greet()
            guard let open = peer.read() else { return }
            peer.send(
                .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()), tag: open.tag
            )
            peer.read()
            peer.close()
        })
        let store = try self.store(daemon)
        let prompter = ScriptedPrompter(passcodes: ["right"])
        #expect(await code { try await store.unlock(with: prompter) } == .outcomeUnknown)
    }
}
