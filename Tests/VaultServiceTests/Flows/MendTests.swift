import Glibc
import Posix
import SealedStore
import Secrets
import StoreKeeping
import Synchronization
import Testing
import Wire
import Words

@testable import VaultService

private let passcode = "correct horse battery"

@LoopActor
private final class Ended {
    var all: [Interruption?] = []
}

/// Holds threads of the disk.
private final class Gates: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() {
        while !isOpen.load(ordering: .acquiring) { usleep(1000) }
    }
}

@Suite("damaged records, and their owner's word that they know of it")
struct MendTests {
    /// A store of ten records, the last of which is damaged on the disk; it is open again.
    @LoopActor
    private func damaged(_ stage: Stage) async throws -> StoreHost {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
            ]))
        for index in 0..<10 { try await set(stage, Array("name \(index)".utf8)) }
        let host = try #require(stage.store)
        await host.lock()
        try spoil("\(host.folder.path)/records.db")
        await open(stage)
        return host
    }

    @LoopActor
    private func open(_ stage: Stage) async {
        let done = await stage.run(
            .openStore(Target()), stage.script(["match.prompt": passcode]))
        #expect(done == .success("match.done"))
    }

    @LoopActor
    private func set(_ stage: Stage, _ name: [UInt8]) async throws {
        try await stage.house.records.set(
            Record(store: [], name: name), WipedBuffer(bytes: Array("its value".utf8)),
            for: stage.script([:]).caller)
    }

    /// The last byte of the first record that was written: a page of a table is filled from its
    /// end.
    private func spoil(_ path: String) throws {
        var bytes = try TextFile.read(at: path, limit: 1 << 20)
        let pages = (0..<bytes.count / 4096).filter { page in
            bytes[page * 4096] == 0x0D && bytes[page * 4096 + 4] == 10
        }
        let page = try #require(pages.last)
        bytes[page * 4096 + 4095] ^= 1
        try TextFile.replace(at: path, with: bytes)
    }

    /// All pages of a listing: the buckets count as well, so the last few are in a second one.
    @LoopActor
    private func list(_ stage: Stage) async throws -> Records.Page {
        var all = try await page(stage, from: 0)
        while all.cursor != 0 {
            let next = try await page(stage, from: all.cursor)
            all.names += next.names
            all.damaged += next.damaged
            all.cursor = next.cursor
        }
        return all
    }

    @LoopActor
    private func page(_ stage: Stage, from cursor: UInt64) async throws -> Records.Page {
        try await stage.house.records.list(
            List(store: [], prefix: [], cursor: cursor), for: stage.script([:]).caller
        ).page
    }

    @LoopActor
    private func state(_ stage: Stage) async throws -> State {
        try await stage.house.statuses.status(Target(), for: stage.script([:]).caller)
    }

    @Test("the others are listed, status leads on, and the mark stays until it is acknowledged")
    func flow() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            let page = try await list(stage)
            #expect(page.names.count == 9)
            let lost = try #require(page.damaged.first)
            #expect(page.damaged.count == 1 && lost.kind == .broken)
            var told = try await state(stage)
            #expect(told.lock == .unlocked && !told.trouble.isEmpty)
            #expect(String(decoding: told.advice, as: UTF8.self).contains("appvault mend"))

            // Stored anew, it is told of all the same, at the next opening at once.
            try await set(stage, lost.name)
            #expect(try await list(stage).names.count == 10)
            await host.lock()
            await open(stage)
            told = try await state(stage)
            #expect(told.lock == .unlocked && !told.trouble.isEmpty)
            #expect(String(decoding: told.advice, as: UTF8.self).contains("appvault mend"))
            #expect(stage.house.desk.vault.damagedCount == 1)

            // A program that runs as the person does not know the passcode.
            let without = await stage.run(.mend(Target()), stage.script([:]))
            #expect(without != .success("mend.done"))
            let wrong = await stage.run(
                .mend(Target()), stage.script(["match.current": "a wrong passcode"]))
            #expect(wrong != .success("mend.done"))
            let other = stage.caller(Hello(frontEnd: .terminal, realUID: 4712), uid: 4712)
            let alice = Target(subject: Subject(name: stage.alice.name, uid: stage.alice.uid))
            for caller in [other, stage.caller(Hello(frontEnd: .terminal, realUID: 0), uid: 0)] {
                let refused = await stage.run(.mend(alice), Script(caller, stage.reader, [:]))
                #expect(refused == .failure(.refused(.notPermitted(.notYours))))
            }
            #expect(try await !state(stage).trouble.isEmpty)

            let done = await stage.run(
                .mend(Target()), stage.script(["match.current": passcode]))
            #expect(done == .success("mend.done"))
            #expect(try await state(stage).trouble.isEmpty)
            #expect(try await list(stage).names.count == 10)
            #expect(stage.house.desk.vault.damagedCount == 0)
        }
    }

    /// Both disk threads are busy until the gate is opened.
    @LoopActor
    private static func holdDisks(_ stage: Stage) -> Gates {
        let gate = Gates()
        let disk = stage.house.desk.vault.workers.disk
        for _ in 0..<2 { EventLoop.shared.task { await disk.run { gate.wait() } } }
        return gate
    }

    @Test("a listing under way when the store is locked is given to nobody")
    func listedAtTheLock() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            let gate = Self.holdDisks(stage)
            let ends = Ended()
            let before = host.lastUse
            #expect(await stage.comes { Clock.bootMilliseconds() > before })
            EventLoop.shared.task {
                do throws(Interruption) {
                    _ = try await stage.house.records.list(
                        List(store: [], prefix: [], cursor: 0), for: stage.script([:]).caller)
                    ends.all.append(nil)
                } catch {
                    ends.all.append(error)
                }
            }
            #expect(await stage.comes { host.lastUse > before })
            EventLoop.shared.task { await host.lock() }
            #expect(await stage.comes { !host.isOpen })
            #expect(ends.all.isEmpty)
            gate.open()
            #expect(await stage.comes { !ends.all.isEmpty })
            #expect(ends.all == [.refused(.locked)])
            #expect(host.records.count == 0)
        }
    }

    @Test("while it is mended, a store's idle time begins again with each piece of the work")
    func idle() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            let gate = Self.holdDisks(stage)
            let ends = Ended()
            let before = host.lastUse
            #expect(await stage.comes { Clock.bootMilliseconds() > before })
            EventLoop.shared.task {
                do throws(Refusal) {
                    _ = try await host.mend()
                    ends.all.append(nil)
                } catch {
                    ends.all.append(.refused(error))
                }
            }
            #expect(await stage.comes { host.lastUse > before })
            let begun = host.lastUse
            #expect(await stage.comes { Clock.bootMilliseconds() > begun })
            gate.open()
            #expect(await stage.comes { !ends.all.isEmpty })
            #expect(ends.all == [nil])
            #expect(host.lastUse > begun)
        }
    }

    /// The thread that sweeps is busy until the gate is opened.
    @LoopActor
    private static func holdSweeps(_ stage: Stage) -> Gates {
        let gate = Gates()
        let slow = stage.house.desk.vault.workers.slow
        EventLoop.shared.task { await slow.run { gate.wait() } }
        return gate
    }

    @Test("a mend makes no file beside one that is swept: it waits")
    func besideASweep() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            await host.lock()
            let gate = Self.holdSweeps(stage)
            await open(stage)
            let ends = Ended()
            EventLoop.shared.task {
                do throws(Refusal) {
                    _ = try await host.mend()
                    ends.all.append(nil)
                } catch {
                    ends.all.append(.refused(error))
                }
            }
            // It would be over long before these.
            for _ in 0..<100 { #expect(try await list(stage).names.count == 9) }
            #expect(ends.all.isEmpty)
            gate.open()
            #expect(await stage.comes { !ends.all.isEmpty })
            #expect(ends.all == [nil])
        }
    }

    @Test("nor does an opening: the next one makes the file anew")
    func openedBesideASweep() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            _ = try await host.mend()
            await host.lock()
            let gate = Self.holdSweeps(stage)
            await open(stage)
            await host.lock()
            let path = "\(host.folder.path)/records.db"
            var bytes = try TextFile.read(at: path, limit: 1 << 20)
            bytes[100] = 0x77
            try TextFile.replace(at: path, with: bytes)
            let turns = ["match.prompt": passcode]
            let refused = await stage.run(.openStore(Target()), stage.script(turns))
            #expect(refused == .failure(.refused(.storeDamaged(.recordsFile))))
            #expect(try TextFile.read(at: path, limit: 1 << 20) == bytes)
            gate.open()
            var opened = refused
            for _ in 0..<200 where opened != .success("match.done") {
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 50)
                opened = await stage.run(.openStore(Target()), stage.script(turns))
            }
            #expect(opened == .success("match.done"))
            #expect(try await list(stage).names.count == 9)
        }
    }

    @Test("what was written over is told of also while the store is locked")
    func markedAndLocked() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            let lost = try #require(try await list(stage).damaged.first)
            try await set(stage, lost.name)
            await host.lock()
            await open(stage)
            await host.lock()
            let told = try await state(stage)
            #expect(told.lock == .locked && !told.trouble.isEmpty)
            #expect(stage.house.desk.vault.damagedCount == 1)
        }
    }

    @Test("mending a locked store opens it, and removes what cannot be read")
    func locked() async throws {
        try await Stage.run("") { stage in
            let host = try await damaged(stage)
            await host.lock()
            let done = await stage.run(
                .mend(Target()), stage.script(["match.current": passcode]))
            #expect(done == .success("mend.done"))
            let page = try await list(stage)
            #expect(page.names.count == 9 && page.damaged.isEmpty)
            #expect(try await state(stage).records == 9)
        }
    }

    @Test("an export has the others and names the one; an import of it says how many are missing")
    func export() async throws {
        try await Stage.run("") { stage in
            _ = try await damaged(stage)
            let export = try await stage.house.transfers.beginExport(
                Target(),
                stage.script([
                    "match.current": passcode, "export.new": "right phrase",
                    "export.confirm": "right phrase",
                ]))
            var chunks: [WipedBuffer] = []
            var damaged: [DamagedRecord] = []
            while true {
                let piece = try await export.next()
                chunks.append(piece.bytes)
                damaged += piece.damaged
                if piece.chunk.last { break }
            }
            #expect(damaged.map(\.kind) == [.broken])
            let coming = try await stage.house.transfers.beginImport(
                ImportBegin(target: Target(), replace: true), export.header,
                stage.script(["export.passphrase": "right phrase"]))
            var progress: Import.Progress?
            for _ in 0..<2 {
                for (index, chunk) in chunks.enumerated() {
                    progress = try await coming.take(chunk, last: index == chunks.count - 1)
                }
            }
            guard case .stored(9, without: 1) = progress else {
                Issue.record("\(String(describing: progress))")
                return
            }
        }
    }
}
