import Posix
import SealedStore
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let right = "correct horse battery"
private let loginPassword = "login password 1"

/// What a daemon that was killed left: alice's store with a log of twelve commits, and what became
/// of the log.
@LoopActor
private func killed(_ folder: String, _ damage: ([UInt8]) -> [UInt8]) async throws {
    let vault = Vault(stateFolder: folder)
    _ = await vault.open { _, _, _ in }
    let typed = try TypedPasscode(try SecretBytes(copying: Array(right.utf8).span))
    let alice = Person(uid: 4711, name: Array("alice".utf8))
    let host = try await vault.create(
        for: alice, Vault.Label([]), .with(.own(typed, digest: [UInt8](repeating: 0, count: 32))),
        .ofTests, .builtIn
    ).host
    for number in 0..<12 {
        try await host.change(
            .set(name: Array("name \(number)".utf8), value: WipedBuffer(copying: [1].span)))
    }
    // Nobody waits for the note.
    let commits = try host.requireLive().commits
    while commits.generation < 13 {
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 1)
    }
    let files = ["slots", "records.db", "records.db-wal"].map { "\(host.folder.path)/\($0)" }
    let left = try files.map { try TextFile.read(at: $0, limit: 10_000_000) }
    await host.lock()
    for (file, bytes) in zip(files, left) {
        try TextFile.replace(at: file, with: file.hasSuffix("-wal") ? damage(bytes) : bytes)
    }
}

/// As a power cut never leaves it: the last six commits were synced.
private func cut(_ log: [UInt8]) -> [UInt8] { Array(log.prefix(log.count / 2)) }

/// What a daemon left that was killed on another machine, and the key that brings the store back.
private struct Moved {
    var files: [String: [UInt8]] = [:]
    var key = ""

    /// Twelve commits are in the log.
    static func made() async throws -> Moved {
        try await Stage.run("") { stage in
            let script = stage.script([
                "create.choose": right, "create.confirm": right, "recovery.keep": "",
            ])
            await stage.run(
                .create(Create(target: Target(), way: .ownPasscode, openExisting: false)), script)
            let host = try #require(stage.store)
            for number in 0..<12 {
                try await host.change(
                    .set(name: Array("name \(number)".utf8), value: WipedBuffer(copying: [1].span)))
            }
            let name = host.folder.path.split(separator: "/").last ?? ""
            var moved = Moved()
            moved.key = script.revealed
            for file in ["slots", "records.db", "records.db-wal"] {
                moved.files["stores/\(name)/\(file)"] = try TextFile.read(
                    at: "\(host.folder.path)/\(file)", limit: 10_000_000)
            }
            return moved
        }
    }

    func put(in state: String) throws {
        for (path, bytes) in files {
            var folder = try Folder(path: state)
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                if !folder.exists(part) { try folder.makeFolder(part) }
                folder = try folder.folder(part)
            }
            let file = try folder.file(parts[parts.count - 1], .createNew(mode: 0o600))
            try file.write(bytes.span, at: 0)
        }
        let other = [UInt8](repeating: 9, count: 32)
        try Folder(path: state).file("machine.key", .createNew(mode: 0o400)).write(
            other.span, at: 0)
    }
}

@Suite("a log that a killed daemon left, and who is told what of it")
struct LogFlowTests {
    private func onStage<R: Sendable>(
        _ damage: @escaping @Sendable ([UInt8]) -> [UInt8],
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> R
    ) async throws -> R {
        try await Stage.run("", before: { try await killed($0, damage) }, body)
    }

    @LoopActor
    private func state(_ stage: Stage) async throws -> State {
        try await stage.house.statuses.status(Target(), for: stage.script([:]).caller)
    }

    @Test("after a kill nothing is said, and all is there")
    private func whole() async throws {
        try await onStage({ $0 }) { stage in
            let script = stage.script(["match.prompt": right])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.done"))
            #expect(script.asked == ["match.prompt"])
            #expect(script.shown.allSatisfy { !$0.hasPrefix("changes") && !$0.hasPrefix("log") })
            let state = try await state(stage)
            #expect(state.records == 12)
            #expect(state.trouble.isEmpty)
        }
    }

    @Test("a cut log opens, and status says so until the owner ends it with the passcode")
    private func lost() async throws {
        try await onStage(cut) { stage in
            let first = stage.script(["match.prompt": right, "changes.lost.end": "n"])
            #expect(await stage.run(.openStore(Target()), first) == .success("match.done"))
            #expect(first.shown.contains("changes.lost"))
            var seen = try await state(stage)
            #expect(seen.lock == .unlocked)
            #expect((1..<12).contains(seen.records))
            #expect(!seen.trouble.isEmpty && !seen.advice.isEmpty)
            await stage.store?.lock()
            #expect(try await !state(stage).trouble.isEmpty)
            // A program is asked nothing.
            let program = stage.script(["match.prompt": right], .program)
            #expect(await stage.run(.openStore(Target()), program) == .success("match.done"))
            #expect(program.asked == ["match.prompt"])
            #expect(!program.shown.contains("changes.lost"))
            // The store is open, and what `status` advises ends it all the same.
            let wrong = stage.script(["match.prompt": "wrong"])
            _ = await stage.run(.openStore(Target()), wrong)
            #expect(!wrong.asked.contains("changes.lost.end"))
            #expect(stage.store?.records.keepsLogs == true)
            let last = stage.script(["match.prompt": right, "changes.lost.end": "y"])
            #expect(await stage.run(.openStore(Target()), last) == .success("match.open"))
            #expect(last.shown.contains("changes.lost.ended"))
            let before = seen.used
            seen = try await state(stage)
            #expect(seen.trouble.isEmpty)
            #expect(seen.used < before)
        }
    }

    @Test("whoever logs in is told in one line, and logs in")
    private func login() async throws {
        try await onStage(cut) { stage in
            let script = stage.login(["match.prompt": right])
            #expect(await stage.enter(.step, script, password: loginPassword).isIn)
            #expect(script.shown.count { $0 == "changes.lost" } == 1)
            #expect(script.asked == ["match.prompt"])
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("a loss that the recovery key finds, on another machine, is told as well")
    private func recovered() async throws {
        var moved = try await Moved.made()
        let log = try #require(moved.files.keys.first { $0.hasSuffix("-wal") })
        // A page in the middle: later commits go on behind it.
        let middle = (moved.files[log]?.count ?? 0) / 4120 / 2
        for index in 0..<100 { moved.files[log]?[32 + 4120 * middle + 500 + index] ^= 0xFF }
        let left = moved
        try await Stage.run("", before: { try left.put(in: $0) }) { stage in
            let script = stage.script([
                "recovery.prompt": left.key, "create.choose": right, "create.confirm": right,
            ])
            #expect(await stage.run(.recover(Target()), script) == .success("recovery.done"))
            #expect(stage.store?.records.keepsLogs == true)
            await stage.store?.lock()
            let next = stage.script(["match.prompt": right, "changes.lost.end": "n"])
            #expect(await stage.run(.openStore(Target()), next) == .success("match.done"))
            #expect((script.shown + next.shown).contains("changes.lost"))
            let state = try await state(stage)
            #expect((1..<12).contains(state.records) && !state.trouble.isEmpty)
        }
    }

    @Test("records that the disk does not give are not called another machine's")
    private func unread() async throws {
        let moved = try await Moved.made()
        try await Stage.run(
            "",
            before: { state in
                try moved.put(in: state)
                let stores = try Folder(path: state + "/stores")
                let store = try stores.folder(try #require(try stores.names().first))
                try store.remove("records.db-wal")
                try store.remove("records.db")
                try store.makeFolder("records.db")
            }
        ) { stage in
            let script = stage.script([
                "recovery.prompt": moved.key, "create.choose": right, "create.confirm": right,
            ])
            let refused = await stage.run(.recover(Target()), script)
            guard case .failure(.refused(.storageFailed(.recover, _))) = refused else {
                Issue.record("\(refused)")
                return
            }
        }
    }

    @Test("a log with one wrong bit is repaired, and the person told once")
    private func repaired() async throws {
        let turned: @Sendable ([UInt8]) -> [UInt8] = { log in
            var log = log
            log[32 + 4120 + 24 + 2000] ^= 1
            return log
        }
        try await onStage(turned) { stage in
            let script = stage.script(["match.prompt": right])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.done"))
            #expect(script.shown.contains("log.repaired"))
            let state = try await state(stage)
            #expect(state.records == 12)
            #expect(state.trouble.isEmpty)
        }
    }

    @Test("a reset leaves nothing of it")
    private func reset() async throws {
        try await onStage(cut) { stage in
            let script = stage.script(["match.prompt": right, "changes.lost.end": ""])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.done"))
            let folder = try #require(stage.store).folder.path
            let root = stage.login([:])
            #expect(
                await stage.run(
                    .reset(Target(subject: Subject(name: stage.alice.name, uid: 4711))), root)
                    == .success("reset.done"))
            #expect((try? Folder(path: folder)) == nil)
        }
    }
}
