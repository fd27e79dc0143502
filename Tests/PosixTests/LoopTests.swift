import Glibc
import Testing

@testable import Posix

/// The one loop of this test process, on a thread of its own.
enum TestLoop {
    private static let started: Bool = {
        WorkerPool(name: "loop", threads: 1).submit { EventLoop.shared.run() }
        return true
    }()

    /// As the daemon begins its tasks. With a plain `Task`, whose value the test waits for, the
    /// task was sometimes never resumed: seen with Swift 6.3, one run in five.
    static func run<R: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> R) async -> R {
        _ = started
        return await withCheckedContinuation { continuation in
            EventLoop.shared.task { continuation.resume(returning: await body()) }
        }
    }
}

@Test("work on a pool comes back to the loop's own thread")
func poolComesBack() async {
    let sum = await TestLoop.run {
        let pool = WorkerPool(name: "test", threads: 2)
        var total = 0
        for number in 0..<200 {
            total += await pool.run { number }
            LoopActor.shared.preconditionIsolated()
        }
        return total
    }
    #expect(sum == 19_900)
}

@Test("timers fire in the order of their moments, and a cancelled one does not")
func timersInOrder() async {
    let order = await TestLoop.run { () -> [Int] in
        let now = Clock.bootMilliseconds()
        let seen = Order()
        _ = EventLoop.shared.at(now + 30) { seen.add(3) }
        _ = EventLoop.shared.at(now + 10) { seen.add(1) }
        let gone = EventLoop.shared.at(now + 15) { seen.add(9) }
        _ = EventLoop.shared.at(now + 20) { seen.add(2) }
        EventLoop.shared.cancel(gone)
        await EventLoop.sleep(until: now + 60)
        return seen.all
    }
    #expect(order == [1, 2, 3])
}

private final class Order: @unchecked Sendable {
    // Used on the loop only.
    private(set) var all: [Int] = []
    func add(_ number: Int) { all.append(number) }
}

@Test("a channel hears bytes, a deadline and the peer's leaving")
func channelWakes() async throws {
    let wakes = await TestLoop.run { () -> [Channel.Wake] in
        guard let (left, other) = try? SocketPair.make() else { return [] }
        guard let channel = try? Channel(owning: FileDescriptor(owning: left)) else { return [] }
        var wakes: [Channel.Wake] = []
        // The first edge may be there already: what counts is what a read finds.
        wakes.append(await channel.readable(until: Clock.bootMilliseconds() + 30))
        SocketPair.send(other, [1, 2, 3])
        wakes.append(await channel.readable(until: Clock.bootMilliseconds() + 60_000))
        let buffer = WipedBuffer(capacity: 16)
        let got = unsafe buffer.withRoom { room in unsafe channel.read(into: room) }
        if got != .bytes(3) { return [] }
        SocketPair.close(other)
        wakes.append(await channel.readable(until: Clock.bootMilliseconds() + 60_000))
        let end = unsafe buffer.withRoom { room in unsafe channel.read(into: room) }
        if end != .ended { return [] }
        channel.close()
        wakes.append(await channel.readable(until: nil))
        return wakes
    }
    #expect(wakes == [.timedOut, .ready, .ready, .closed])
}

@Test("a channel that is full hears of room as often as its peer makes some, and of its deadline")
func channelHearsOfRoom() async throws {
    let wakes = await TestLoop.run { () -> [Channel.Wake] in
        guard let (left, other) = try? SocketPair.make() else { return [] }
        guard let channel = try? Channel(owning: FileDescriptor(owning: left)) else { return [] }
        let bytes = [UInt8](repeating: 7, count: 4096)
        var wakes: [Channel.Wake] = []
        for _ in 0..<3 {
            while case .bytes = channel.write(bytes.span) {}
            wakes.append(await channel.writable(until: Clock.bootMilliseconds() + 20))
            SocketPair.readAll(other)
            wakes.append(await channel.writable(until: Clock.bootMilliseconds() + 60_000))
            // There is room, and nobody waits for it.
            if channel.write(bytes.span) != .bytes(bytes.count) { return [] }
            SocketPair.readAll(other)
        }
        SocketPair.close(other)
        channel.close()
        return wakes
    }
    #expect(wakes == [.timedOut, .ready, .timedOut, .ready, .timedOut, .ready])
}

@Test("after the peer has left, a channel that was read by others is ready for ever")
func readByOthers() async throws {
    let wakes = await TestLoop.run { () -> [Channel.Wake] in
        guard let (left, other) = try? SocketPair.make() else { return [] }
        guard let channel = try? Channel(owning: FileDescriptor(owning: left)) else { return [] }
        SocketPair.send(other, [1])
        var wakes = [await channel.readable(until: Clock.bootMilliseconds() + 60_000)]
        // Nothing new has come.
        channel.drained()
        wakes.append(await channel.readable(until: Clock.bootMilliseconds() + 20))
        SocketPair.close(other)
        for _ in 0..<3 {
            wakes.append(await channel.readable(until: Clock.bootMilliseconds() + 60_000))
            channel.drained()
        }
        channel.close()
        return wakes
    }
    #expect(wakes == [.ready, .timedOut, .ready, .ready, .ready])
}

@Test("a wiped buffer keeps its bytes when it grows and moves")
func bufferGrows() {
    let buffer = WipedBuffer(capacity: 2)
    for byte in UInt8(0)..<200 { buffer.append(byte) }
    buffer.removeFirst(50)
    let kept = buffer.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } }
    #expect(kept == Array(50..<200))
    buffer.wipe()
    #expect(buffer.count == 0)
}

@Test("a small file is replaced whole, and one over the limit is refused")
func smallFiles() throws {
    let path = "/tmp/appvault-test-\(Clock.bootMilliseconds())-\(ThisProcess.pid)"
    try TextFile.replace(at: path, with: Array("first".utf8))
    try TextFile.replace(at: path, with: Array("second".utf8))
    #expect(try TextFile.read(at: path, limit: 6) == Array("second".utf8))
    #expect(throws: PosixError.self) { try TextFile.read(at: path, limit: 5) }
    SocketPair.unlink(path)
    #expect(throws: PosixError.self) { try TextFile.read(at: path, limit: 5) }
}

@Test("a second lock on a folder is refused while the first is held")
func oneLock() throws {
    let path = "/tmp/appvault-lock-\(ThisProcess.pid)"
    let first = try FolderLock(at: path)
    #expect(throws: FolderLock.Failure.held) { _ = try FolderLock(at: path) }
    _ = consume first
    _ = try FolderLock(at: path)
    SocketPair.unlink(path)
}

@Test("a timer does not wait for a queue that is long")
func timerAmidJobs() async {
    let done = await TestLoop.run { () -> Int in
        let jobs = Order()
        let seen = Order()
        for number in 0..<300 {
            EventLoop.shared.task {
                let end = Clock.monotonicNanoseconds() + 2_000_000
                while Clock.monotonicNanoseconds() < end {}
                jobs.add(number)
            }
        }
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + 10) { seen.add(jobs.all.count) }
        let end = Clock.bootMilliseconds() + 60_000
        while jobs.all.count < 300, Clock.bootMilliseconds() < end {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 20)
        }
        return seen.all.first ?? 300
    }
    #expect(done < 150)
}

private final class Account: JobAccount, @unchecked Sendable {
    // Used on the loop only.
    private(set) var jobs: [UInt64] = []
    func took(nanoseconds: UInt64) { jobs.append(nanoseconds) }
}

@Test("a job's whole time is put down to whoever it was charged to, and no other job's")
func chargedJobs() async {
    let jobs = await TestLoop.run { () -> [UInt64] in
        let account = Account()
        @LoopActor func spin() {
            let end = Clock.threadNanoseconds() + 3_000_000
            while Clock.threadNanoseconds() < end {}
        }
        await Task.yield()
        spin()
        EventLoop.shared.charge(to: account)
        await Task.yield()
        spin()
        await Task.yield()
        return account.jobs
    }
    #expect(jobs.count == 1)
    #expect(jobs.allSatisfy { $0 >= 3_000_000 })
}

private final class Bill: JobAccount, @unchecked Sendable {
    // Used on the loop only.
    private(set) var nanoseconds: UInt64 = 0
    func took(nanoseconds: UInt64) { self.nanoseconds += nanoseconds }
}

@Test(
    "a job in which the processor was away costs what it computed, and not what others did before")
func computedTime() async {
    let billed = await TestLoop.run { () -> UInt64 in
        let bill = Bill()
        for _ in 0..<3000 {
            let end = Clock.monotonicNanoseconds() + 80_000
            while Clock.monotonicNanoseconds() < end {}
            await EventLoop.sleep(until: 0)
        }
        EventLoop.shared.charge(to: bill)
        usleep(200_000)
        await EventLoop.sleep(until: 0)
        return bill.nanoseconds
    }
    #expect(billed < 100_000_000)
}
