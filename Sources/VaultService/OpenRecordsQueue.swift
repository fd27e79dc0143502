import KeySlots
import Posix
import SealedStore
import Secrets
import Wire

/// The records of one store while it is open. A get is served on the loop itself while nobody
/// writes; sets that wait share one commit; one after the other, because a second reader would
/// check old rows against new sums.
@LoopActor
final class OpenRecordsQueue {
    private let workers: Workers
    private var records: Records?
    /// Shut for everybody, but their file is not yet: it must be before it is opened again.
    private var closing: [Records] = []
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var changes: [Pending] = []
    private var isDraining = false
    private(set) var damage: Refusal.Damage?
    /// Which opening this is: a scan of an earlier one stops.
    private var generation = 0

    private struct Pending {
        let change: Change
        let continuation: CheckedContinuation<Result<ChangeResult, RecordsError>, Never>
    }

    private static let batch = 512

    init(workers: Workers) {
        self.workers = workers
    }

    var isOpen: Bool { records != nil }
    /// As of the last change: the records themselves may be on another thread just now.
    private(set) var count: UInt64 = 0
    /// Which opening this is; what began under another one has ended.
    var opening: Int { generation }

    // MARK: one at a time

    private func acquire() async {
        if !isBusy {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func release() {
        if waiting.isEmpty {
            isBusy = false
        } else {
            waiting.removeFirst().resume()
        }
    }

    /// Blocking work with the records in hand.
    private func onDisk<R: Sendable>(
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        await acquire()
        defer { release() }
        guard let records else { throw .locked }
        let (result, count) = await workers.disk.run {
            (Result { () throws(RecordsError) in try body(records) }, records.count)
        }
        self.count = count
        return try get(result, .read)
    }

    private func get<R>(_ result: Result<R, RecordsError>, _ during: Refusal.During) throws(Refusal)
        -> R
    {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw refusal(error, during)
        }
    }

    // MARK: open and close

    func open(_ folder: String, _ id: StoreID, _ key: SecretBox) async throws(Refusal) {
        await acquire()
        defer { release() }
        guard records == nil else { return }
        await finishClosing()
        let before = generation
        let opened = await workers.disk.run { () -> Result<Records, RecordsError> in
            guard let secret = key.take() else { return .failure(.closed) }
            return Result { () throws(RecordsError) in
                try Records(opening: folder, id: id.bytes, key: secret)
            }
        }
        damage = nil
        let made = try get(opened, .open)
        // Locked, erased or given away while it was being opened: that answer stands.
        guard generation == before else {
            closing.append(made)
            await finishClosing()
            throw .locked
        }
        records = made
        count = made.count
        generation += 1
        scanLater(generation)
    }

    /// After this nothing in memory opens the store, and no opening that was under way will.
    func close() async {
        generation += 1
        if let open = records {
            records = nil
            closing.append(open)
        }
        count = 0
        await acquire()
        defer { release() }
        await finishClosing()
        workers.dropSlab()
    }

    private func finishClosing() async {
        guard !closing.isEmpty else { return }
        let all = closing
        closing = []
        await workers.disk.run {
            for records in all { records.close() }
        }
    }

    /// All buckets are looked at once after unlocking, when nobody is in a hurry any more.
    private func scanLater(_ opening: Int) {
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 3_000)
            var next = 0
            while self.generation == opening, next < Records.bucketCount {
                let slice = next..<min(next + 32, Records.bucketCount)
                next = slice.upperBound
                // Damage is kept for `status`, and refused again when somebody comes to it.
                try? await self.onDisk { (records) throws(RecordsError) in
                    try records.verify(buckets: slice)
                }
            }
        }
    }

    // MARK: what is asked

    func value(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) async throws(Refusal) {
        if isBusy {
            await acquire()
            defer { release() }
            return try read(name, take)
        }
        try read(name, take)
    }

    private func read(_ name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void) throws(Refusal) {
        guard let records else { throw .locked }
        guard !name.isEmpty else { throw .invalidArgument(.name) }
        let slab = workers.recordSlab()
        let found: Range<Int>?
        do throws(RecordsError) {
            found = try slab.withMutableSpan { (bytes) throws(RecordsError) in
                try records.value(of: name, into: &bytes)
            }
        } catch {
            slab.wipe(first: slab.capacity)
            throw refusal(error, .read)
        }
        guard let place = found else { throw .doesNotExist(.record) }
        slab.setCount(place.upperBound)
        slab.withBytes { bytes in take(bytes.extracting(place)) }
        slab.wipe(first: place.upperBound)
    }

    func names(prefix: [UInt8], cursor: UInt64) async throws(Refusal) -> Names {
        let page = try await onDisk { (records) throws(RecordsError) in
            try records.names(prefix: prefix, cursor: cursor, limit: Limits.page)
        }
        return Names(cursor: page.cursor, names: page.names)
    }

    /// For what walks over many records: export and import.
    func walk<R: Sendable>(
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        try await onDisk(body)
    }

    /// Answered after the commit, which other changes that wait share.
    func change(_ change: Change) async throws(Refusal) {
        guard records != nil else { throw .locked }
        let result = await withCheckedContinuation { continuation in
            changes.append(Pending(change: change, continuation: continuation))
            if !isDraining {
                isDraining = true
                EventLoop.shared.task { await self.drain() }
            }
        }
        switch try get(result, .store) {
        case .stored, .replaced, .deleted: return
        case .absent: throw .doesNotExist(.record)
        case .damaged(let found): throw refusal(.damaged(found), .store)
        case .collision:
            throw .storageFailed(.store, .collision)
        case .nameRefused: throw .invalidArgument(.name)
        case .tooLarge: throw .tooLarge(limit: Limits.value)
        }
    }

    private func drain() async {
        while !changes.isEmpty {
            await acquire()
            let batch = Array(changes.prefix(Self.batch))
            changes.removeFirst(batch.count)
            let all = batch.map(\.change)
            let result: Result<[ChangeResult], RecordsError>
            if let records {
                let (done, count) = await workers.disk.run {
                    (Result { () throws(RecordsError) in try records.apply(all) }, records.count)
                }
                result = done
                self.count = count
            } else {
                result = .failure(.closed)
            }
            release()
            for (index, pending) in batch.enumerated() {
                pending.continuation.resume(returning: result.map { $0[index] })
            }
        }
        isDraining = false
    }

    /// Damage is kept for `status`.
    private func refusal(_ error: RecordsError, _ during: Refusal.During) -> Refusal {
        let refusal = Self.plainRefusal(error, during)
        if case .storeDamaged(let what) = refusal { damage = what }
        return refusal
    }

    static func plainRefusal(_ error: RecordsError, _ during: Refusal.During) -> Refusal {
        switch error {
        case .damaged(let found): return .storeDamaged(words(found))
        case .missing: return .storeDamaged(.recordsMissing)
        case .exists: return .alreadyExists
        case .closed: return .locked
        case .full: return .storageFailed(during, .noSpace)
        case .readOnly: return .storageFailed(during, .readOnly)
        case .busy: return .storageFailed(during, .held)
        case .outOfMemory: return .outOfMemory
        case .bufferTooSmall: return .unknown
        case .io(let code): return .storageFailed(during, .error(Int(code)))
        }
    }

    private static func words(_ damage: SealedStore.Damage) -> Refusal.Damage {
        switch damage {
        case .file: .recordsFile
        case .journal: .recordsJournal
        case .head: .recordsHead
        case .node(let number): .recordsNode(Int(number))
        case .bucket(let number): .recordsBucket(Int(number))
        case .record(let bucket): .recordsRecord(Int(bucket))
        }
    }
}
