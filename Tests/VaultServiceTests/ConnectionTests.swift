import Glibc
import Secrets
import StoreKeeping
import Testing
import Wire

@testable import Posix
@testable import VaultService

/// EPOLLOUT, which is no number in Swift.
private let writable: UInt32 = 4

/// A connection whose peer reads only when the test does.
@LoopActor
private final class Peer {
    let connection: Connection
    let channel: Channel
    private let number: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel writes two descriptors.
        let failed = unsafe ends.withUnsafeMutableBufferPointer { buffer in
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, buffer.baseAddress!)
        }
        try #require(failed == 0)
        number = ends[1]
        channel = try Channel(owning: FileDescriptor(owning: ends[0]))
        let turns = Turns { false }
        connection = Connection(
            channel: channel, credentials: PeerCredentials(pid: 1, uid: 1000, gid: 1000),
            share: Share(.person(1000), turns), turns: turns, rooms: Rooms(), curfew: Curfew(),
            slabs: Slabs())
    }

    deinit { Glibc.close(number) }

    /// Everything that has come, until nothing more does.
    func read() -> Int {
        var all = 0
        // SAFETY: the kernel writes at most the buffer's size.
        unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { room in
            while true {
                let got = unsafe recv(
                    number, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
                guard got > 0 else { return }
                all += got
            }
        }
        return all
    }
}

@LoopActor
private final class Ends {
    var all: [ConnectionEnd?] = []
}

@Suite("an answer under way when its store is locked")
struct ConnectionTests {
    @LoopActor
    private func opened(_ stage: Stage) async throws -> OpenRecordsQueue {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": "correct horse battery",
                "create.confirm": "correct horse battery", "recovery.keep": "",
            ]))
        let records = try #require(stage.store).records
        #expect(records.isOpen)
        return records
    }

    /// Begins an answer from the records.
    @LoopActor
    private func begin(
        _ peer: Peer, _ records: OpenRecordsQueue,
        _ body: @escaping @LoopActor () async throws(ConnectionEnd) -> Void
    ) -> Ends {
        let ends = Ends()
        EventLoop.shared.task {
            var end: ConnectionEnd?
            do throws(ConnectionEnd) {
                try await peer.connection.answer(
                    from: records, opening: records.opening, body)
            } catch {
                end = error
            }
            ends.all.append(end)
        }
        return ends
    }

    @Test("a peer that reads at the moment of the lock gets no more of it")
    func readsAtTheLock() async throws {
        try await Stage.run("") { stage in
            let records = try await opened(stage)
            let peer = try Peer()
            var isSending = false
            let ends = begin(peer, records) { () async throws(ConnectionEnd) in
                isSending = true
                let value = WipedBuffer(bytes: [UInt8](repeating: 7, count: 1 << 20))
                try await peer.connection.send(Empty(), .value, tag: 1, payload: value)
            }
            // It has sent what there is room for.
            #expect(await stage.comes { isSending })
            #expect(ends.all.isEmpty)
            // One pass of the loop finds that the peer has room again, and a request to lock.
            let before = peer.read()
            peer.channel.happened(writable)
            await records.close()
            #expect(await stage.comes { !ends.all.isEmpty })
            #expect(ends.all == [.closed])
            #expect(before > 0 && peer.read() == 0)
        }
    }

    @Test("and what would have followed is not sent either")
    func betweenFrames() async throws {
        try await Stage.run("") { stage in
            let records = try await opened(stage)
            let peer = try Peer()
            let frame = WipedBuffer(bytes: [7, 7, 7])
            let ends = begin(peer, records) { () async throws(ConnectionEnd) in
                try await peer.connection.send(Empty(), .value, tag: 1, payload: frame)
                await records.close()
                try await peer.connection.send(Empty(), .value, tag: 1, payload: frame)
            }
            #expect(await stage.comes { !ends.all.isEmpty })
            #expect(ends.all == [.closed])
            var one: [UInt8] = []
            frame.withBytes { bytes in
                Frame.write(
                    Empty(), type: AnswerType.value.rawValue, tag: 1, payload: bytes, to: &one)
            }
            #expect(peer.read() == one.count)
        }
    }
}
