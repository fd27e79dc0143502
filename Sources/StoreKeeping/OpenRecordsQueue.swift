import KeySlots
import Posix
import SealedStore
import Secrets
import Wire
import Words

/// The records of one store while it is open. A get runs on the loop itself while no write is under
/// way. Sets that wait share one commit. Only one task at a time uses the records, because a second
/// reader would check old rows against new sums.
@LoopActor
package final class OpenRecordsQueue {
    let workers: Workers
    private let folder: String
    private let id: StoreID
    /// What the owner's stores take together. Set by the vault.
    package var allotment = Allotment() {
        didSet {
            oldValue.forget(id)
            noteSize()
        }
    }
    private(set) var records: Records?
    /// Closed for all requests, but the file is still open. It must be closed before it is opened
    /// again.
    private var closing: [Records] = []
    private(set) var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var changes: [Pending] = []
    /// What is known of the items of the desktop's secrets; nil where nobody has asked for it, or
    /// where it would not be right any more.
    var book: ItemBook? {
        didSet { if oldValue !== book { oldValue?.count(dropped: true) } }
    }
    /// Of the index before the present opening, or, while the records are closed, of the last one.
    var bookmark: ItemBookmark?
    /// The records that it is of, until they are closed.
    private var bookmarked: Records?
    private var isDraining = false
    /// Counts stored batches. While it does not change, the store is quiet.
    private var commits: UInt64 = 0
    /// The first that was found since the store was opened.
    package private(set) var damage: Refusal.Damage?
    /// What an opening found of the log. Set to whole by whoever has told of it.
    package var log = Records.LogState.whole
    private var commitNote: CommitNote?
    /// How many buckets are marked, because something damaged in them was written over. Like
    /// `damage`, and unlike the count, it is told of a store that was locked as well, until the
    /// next opening: so what ends after the closing still says how many there are.
    package private(set) var marked = 0
    /// Goes up with each opening and each closing. A scan that began under an earlier number stops.
    private var generation = 0
    /// How often somebody has closed them, or would have if they had been open.
    package private(set) var closings: UInt64 = 0
    /// Of the key that opened them last, or that they got while they were open.
    package private(set) var keyGeneration = Records.firstKeyGeneration
    /// What a new key has left of the former file is being removed.
    private var sweeping: Task<Void, Never>?

    private enum Pending {
        case change(Change, CheckedContinuation<Result<ChangeResult, RecordsError>, Never>)
        /// Prepared with this index.
        case items(ItemWork, ItemBook, CheckedContinuation<ItemOutcome, Never>)

        /// Those of the value; what a change keeps of an item is not known yet.
        var bytes: Int {
            switch self {
            case .change(let change, _): change.bytes
            case .items(let work, _, _): work.bytes
            }
        }
    }

    private static let batch = 512
    /// Buckets that are checked at once.
    private static let slice = 32
    /// Bytes of values in one batch, unless the first value alone has more. The log may hold this
    /// much for a moment.
    private static let batchBytes = 16 << 20
    /// More than one piece of an import can take in the log and in the file, even if it has only
    /// the smallest records.
    private static let pieceMost = 128 << 20

    package init(workers: Workers, folder: String, id: StoreID) {
        self.workers = workers
        self.folder = folder
        self.id = id
    }

    // MARK: what it takes

    /// After the last change.
    private var size = RecordsSize()
    /// The bytes of slots and fingers.
    private var besides = 0

    package func take(_ size: RecordsSize, besides: Int? = nil) {
        self.size = size
        if let besides { self.besides = besides }
        noteSize()
    }

    private func noteSize() {
        allotment.note(size.total + besides, log: size.log, of: id, self)
    }

    /// What the store takes on the disk.
    package var bytes: Int { size.total + besides }

    package func takeBesides(_ bytes: Int) {
        besides = bytes
        noteSize()
    }

    package var isOpen: Bool { records != nil }
    /// Called at the moment from which on no request reads them.
    var whenClosed: (@LoopActor () -> Void)?
    /// Called when values were stored or deleted.
    var whenChanged: (@LoopActor () -> Void)?
    /// After the last change: the records themselves may be in use on another thread.
    package private(set) var count: UInt64 = 0
    /// The number of this opening. Work that began under another number must end.
    package var opening: Int { generation }

    // MARK: one at a time

    func acquire() async {
        if !isBusy {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func release() {
        if waiting.isEmpty {
            isBusy = false
        } else {
            waiting.removeFirst().resume()
        }
    }

    /// Runs blocking work on the records, on a disk thread, with no other user of them. If they
    /// were closed meanwhile, what was read is given to nobody; what was stored is told. Of an
    /// opening that is named, nothing runs once it is over.
    func onDisk<R: Sendable>(
        _ during: Refusal.During = .read, of opened: Int? = nil,
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        await acquire()
        defer { release() }
        guard let records, opened ?? generation == generation else { throw .locked }
        if during == .store { bookmark = nil }
        let opening = generation
        let done = await workers.disk.run {
            Done(
                result: Result { () throws(RecordsError) in try body(records) },
                count: records.count, marked: records.marked, size: records.size,
                generation: records.generation)
        }
        if generation == opening { count = done.count }
        marked = done.marked
        noteLater(done.generation)
        if let size = done.size { take(size) }
        guard generation == opening || during == .store else { throw .locked }
        return try get(done.result, during)
    }

    /// What was done on a disk thread, and how the records are afterwards.
    private struct Done<R: Sendable>: Sendable {
        let result: R
        let count: UInt64
        let marked: Int
        var size: RecordsSize?
        /// Of the last commit, which is on the disk.
        let generation: UInt64
    }

    /// The last commit that was answered, and whether it is about to be noted.
    private var answered: UInt64 = 0
    private var isNoting = false
    private static let noteWait: UInt64 = 50

    /// Notes the last commit soon: one note for all of a moment, which no answer waits for.
    private func noteLater(_ generation: UInt64) {
        guard generation > answered else { return }
        answered = generation
        guard !isNoting, let note = commitNote else { return }
        isNoting = true
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.noteWait)
            self.isNoting = false
            guard note === self.commitNote else { return }
            let answered = self.answered
            await self.workers.disk.run { note.note(answered) }
        }
    }

    func get<R>(_ result: Result<R, RecordsError>, _ during: Refusal.During) throws(Refusal)
        -> R
    {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw refusal(error, during)
        }
    }

    // MARK: open and close

    /// Of what is missing from the log, all else opens: `log` tells of it, and it is returned.
    package func open(
        _ key: StoreKey, _ kind: RecordKeyKind, _ note: CommitNote,
        _ keyGeneration: UInt32 = Records.firstKeyGeneration
    ) async throws(Refusal) -> Records.LogState {
        let closings = closings
        await acquire()
        defer { release() }
        guard closings == self.closings else { throw .locked }
        guard records == nil else { return .whole }
        await finishClosing()
        let before = generation
        let (folder, id, reserve) = (folder, id, workers.reserve)
        // The next opening makes it anew, if this one may not.
        let isAlone = sweeping == nil && !isSealingAnew
        let opened = await workers.disk.run { () -> Result<Records, RecordsError> in
            Result { () throws(RecordsError) in
                let records = try reserve.spending(whereFull: { $0 == .full }) {
                    () throws(RecordsError) in
                    try Records(
                        opening: folder, id: id.bytes, key: key.bytes, kind,
                        noted: note.generation, keyGeneration: keyGeneration,
                        mayMakeAnew: isAlone)
                }
                switch records.log {
                case .lost:
                    // If this cannot be written, the next opening finds the loss once more.
                    try? note.settle(on: records.generation)
                case .whole, .repaired: note.note(records.generation)
                }
                return records
            }
        }
        damage = nil
        let made = try get(opened, .open)
        // The store was locked, erased or given to another owner during the opening. That wins, as
        // it does while the opening waits for its turn.
        guard generation == before else {
            closing.append(made)
            await finishClosing()
            throw .locked
        }
        records = made
        // Anything may have been done to the file meanwhile.
        if bookmark?.mark == nil || bookmark?.mark != made.mark { bookmark = nil }
        self.keyGeneration = keyGeneration
        // What nobody was told of yet is not forgotten for it.
        if made.log != .whole { log = made.log }
        commitNote = note
        answered = made.generation
        count = made.count
        marked = made.marked
        take(made.size ?? size)
        generation += 1
        scanLater(generation)
        // What a daemon before this one was killed over. Until these have opened, nobody knows what
        // counts.
        sweep()
        return made.log
    }

    // MARK: what was read of them

    /// What holds something that was read, until somebody has taken it, and how it goes.
    private var holders: [ObjectIdentifier: @LoopActor () -> Void] = [:]

    /// `drop` is called when the records are closed, and then no more.
    package func follow(_ holder: AnyObject, _ drop: @escaping @LoopActor () -> Void) {
        holders[ObjectIdentifier(holder)] = drop
    }

    package func unfollow(_ holder: AnyObject) {
        holders[ObjectIdentifier(holder)] = nil
    }

    /// After this, nothing in memory opens the store, and an opening that was under way fails. What
    /// was read and not taken yet goes at once.
    package func close() async {
        closings += 1
        generation += 1
        let drops = holders.values
        holders = [:]
        if let open = records {
            // A commit that is under way now is in the file and not in the index.
            bookmark = book?.bookmark ?? bookmark
            bookmark?.mark = nil
            bookmarked = open
        }
        book = nil
        for drop in drops { drop() }
        if let open = records {
            records = nil
            closing.append(open)
            whenClosed?()
        }
        count = 0
        await acquire()
        defer { release() }
        await finishClosing()
    }

    /// A copy of the keys of the open records; nil where they are closed by the time that nobody
    /// else uses them.
    package func keys() async -> StoreKey? {
        await acquire()
        defer { release() }
        guard let records, let keys = try? records.keys() else { return nil }
        return StoreKey(keys)
    }

    private func finishClosing() async {
        guard !closing.isEmpty else { return }
        let all = closing
        closing = []
        let (folder, note, bookmarked) = (folder, commitNote, bookmarked)
        let commit = bookmark?.commit
        self.bookmarked = nil
        let (size, mark) = await workers.disk.run {
            var mark: [UInt8]?
            for records in all {
                if records === bookmarked, records.generation == commit { mark = records.mark }
                note?.note(records.generation)
                records.close()
            }
            return (Records.size(inFolder: folder), mark)
        }
        take(size)
        if bookmarked != nil {
            bookmark?.mark = mark
            if mark == nil { bookmark = nil }
        }
    }

    /// Verifies all buckets once, some seconds after unlocking, so that the check delays no person.
    private func scanLater(_ opening: Int) {
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 3_000)
            var next = 0
            while self.generation == opening, next < Records.bucketCount {
                let slice = next..<min(next + Self.slice, Records.bucketCount)
                next = slice.upperBound
                // Damage is noted for `status`. A request that reads the damaged place is refused
                // then.
                try? await self.onDisk { (records) throws(RecordsError) in
                    try records.verify(buckets: slice)
                }
            }
            self.shrinkLater()
        }
    }

    package func emptyLog() async {
        try? await onDisk { (records) throws(RecordsError) in records.emptyLog() }
    }

    /// Logs are kept that commits were missing from.
    package var keepsLogs: Bool { size.keptLogs > 0 }

    /// Overwrites and removes them.
    package func removeKeptLogs() async throws(Refusal) {
        await acquire()
        defer { release() }
        let folder = folder
        let removed = await workers.disk.run {
            Result { () throws(RecordsError) in try Records.removeKeptLogs(inFolder: folder) }
        }
        try get(removed, .store)
        records?.forgetKeptLogs()
        (size.kept, size.keptLogs) = (0, 0)
        noteSize()
    }

    // MARK: a new key

    /// The names of what was changed since the sealing anew began; nil where none is under way.
    private var changed: Set<[UInt8]>?
    /// How much work that stores much is under way.
    private var storing = 0

    package var isSealingAnew: Bool { changed != nil }

    /// Seals all records anew under this key, while they are read and written, piece by piece. Then
    /// they open with it, and with no other. If it throws, they open with the present one as before.
    package func sealAnew(
        _ key: StoreKey, _ keyGeneration: UInt32
    ) async throws(Refusal) {
        guard changed == nil else { throw .busy }
        let opening = generation
        changed = []
        defer { changed = nil }
        await sweeping?.value
        // No further one begins.
        while storing > 0 { await EventLoop.sleep(until: Clock.bootMilliseconds() + 5) }
        guard generation == opening else { throw .locked }
        let (folder, id) = (folder, id)
        try await requireRoomForCopy()
        let coming = try await onDisk(.newKey) { (_) throws(RecordsError) in
            try ComingRecords.begin(
                inFolder: folder, id: id.bytes, key: key.bytes, keyGeneration: keyGeneration)
        }
        do throws(Refusal) {
            while true {
                // Locked meanwhile, and perhaps opened again.
                guard generation == opening else { throw .locked }
                let progress = try await onDisk(.newKey) { (records) throws(RecordsError) in
                    try coming.copyNext(from: records)
                }
                if progress.isDone { break }
            }
            // What little is left is done while nobody else uses them.
            try await bringToDisk(coming)
            try await followUp(coming)
            try await switchOver(to: coming, key, keyGeneration, opening)
        } catch {
            await workers.disk.run { try? coming.abandon() }
            throw error
        }
        sweep()
        await sweeping?.value
    }

    /// Overwrites and removes what is left of the former file, while the records are in use:
    /// however long that takes, or what the thread for slow work does before.
    private func sweep() {
        guard sweeping == nil else { return }
        let folder = folder
        sweeping = EventLoop.shared.task {
            await self.workers.slow.run { try? ComingRecords.sweep(inFolder: folder) }
            self.sweeping = nil
        }
    }

    private func bringToDisk(_ coming: ComingRecords) async throws(Refusal) {
        let synced = await workers.slow.run {
            Result { () throws(RecordsError) in try coming.sync() }
        }
        try get(synced, .newKey)
    }

    private func followUp(_ coming: ComingRecords) async throws(Refusal) {
        while let names = changed.map(Array.init), !names.isEmpty {
            changed = []
            for first in stride(from: 0, to: names.count, by: Self.fewChanges) {
                let few = Array(names[first..<min(first + Self.fewChanges, names.count)])
                try await onDisk(.newKey) { (records) throws(RecordsError) in
                    try coming.follow(few, from: records)
                }
            }
            guard names.count > Self.fewChanges else { return }
        }
    }

    /// More than others store meanwhile: a batch of theirs is smaller as long as this goes on.
    private static let fewChanges = 64
    private static let batchMeanwhile = 16
    /// What the log of the copy may take besides.
    private static let copyLog = 4 << 20

    /// Both are on the disk until the switch, whatever the owner's quota says.
    private func requireRoomForCopy() async throws(Refusal) {
        let reserve = workers.reserve
        let room = await workers.disk.run { try? reserve.roomForRecords() }
        if let room, room < size.total + Self.copyLog {
            throw .storageFailed(.newKey, .noSpace)
        }
    }

    private func switchOver(
        to coming: ComingRecords, _ key: StoreKey, _ keyGeneration: UInt32, _ opening: Int
    ) async throws(Refusal) {
        await acquire()
        defer { release() }
        guard let present = records, generation == opening, let note = commitNote else {
            throw .locked
        }
        bookmark = nil
        let (names, folder, id) = (Array(changed ?? []), folder, id)
        let done = await workers.disk.run { () -> Result<Records, RecordsError> in
            Result { () throws(RecordsError) in
                try coming.follow(names, from: present)
                let finished = try coming.finish(after: present)
                present.close()
                try finished.switchOver()
                let records = try Records(
                    opening: folder, id: id.bytes, key: key.bytes, keyGeneration: keyGeneration)
                note.note(records.generation)
                return records
            }
        }
        switch done {
        case .success(let made) where generation == opening && records === present:
            records = made
            changed = nil
            book = nil
            self.keyGeneration = keyGeneration
            // Whoever walks over the records has to begin anew: each has another place.
            generation += 1
            answered = made.generation
            count = made.count
            if let size = made.size { take(size) }
        case .success(let made):
            // Locked meanwhile.
            closing.append(made)
            await finishClosing()
            throw .locked
        case .failure(let error):
            // Whichever of the two is there, the next opening finds it.
            generation += 1
            book = nil
            if records === present {
                records = nil
                whenClosed?()
            }
            throw refusal(error, .newKey)
        }
    }

    // MARK: giving back

    /// Giving back less than this is not worth moving pages of other records. New records can use
    /// the space in any case.
    private static let worthGiving = 1 << 20
    private static let quiet: UInt64 = 1_000
    private var isShrinkPlanned = false

    /// Gives the space of deleted records back to the disk, once the store has not changed for a
    /// moment.
    private func shrinkLater() {
        guard size.free >= Self.worthGiving, !isShrinkPlanned else { return }
        isShrinkPlanned = true
        let opening = generation
        EventLoop.shared.task {
            var commits: UInt64
            repeat {
                commits = self.commits
                await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.quiet)
            } while commits != self.commits
            self.isShrinkPlanned = false
            await self.shrink(opening)
        }
    }

    private func shrink(_ opening: Int) async {
        while generation == opening, changes.isEmpty {
            let step = try? await onDisk { (records) throws(RecordsError) in
                let left = try records.shrink()
                // Each moved page is in the log as well until the log is emptied: a disk that is
                // nearly full has no room for more.
                records.emptyLog()
                return left
            }
            // The disk is too full even for this, or the store was closed: try another time.
            guard let left = step, left > 0 else { return }
        }
        shrinkLater()
    }

    // MARK: what is asked

    package func value(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) async throws(Refusal) {
        if try valueNow(of: name, take) { return }
        await acquire()
        defer { release() }
        if let records, isFarAway(name, records) {
            let opening = generation
            let around = await workers.disk.run {
                Result { () throws(RecordsError) in try records.readAround(name) }
            }
            guard generation == opening else { throw .locked }
            // After a failure, the loop would read the same from the disk, and wait for it.
            try get(around, .read)
        }
        try read(name, take)
    }

    /// Nobody else waits while much of the disk is read for one person.
    func isFarAway(_ name: [UInt8], _ records: Records) -> Bool {
        !name.isEmpty && (try? records.isFarAway(name)) == true
    }

    /// False where somebody else uses them at this moment, or where much of the disk must be read.
    package func valueNow(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) throws(Refusal) -> Bool {
        guard !isBusy, records.map({ isFarAway(name, $0) }) != true else { return false }
        try read(name, take)
        return true
    }

    private func read(_ name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void) throws(Refusal) {
        guard let records else { throw .locked }
        guard !name.isEmpty else { throw .invalidArgument(.name) }
        let slab = workers.recordSlab
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

    package func names(prefix: [UInt8], cursor: UInt64) async throws(Refusal) -> Records.Page {
        try await onDisk { (records) throws(RecordsError) in
            try records.names(
                prefix: prefix, hiding: ItemName.prefix, cursor: cursor, limit: Limits.page)
        }
    }

    /// Notes for `status` what could not be given. True where it is the first damage that was found
    /// since the store was opened.
    package func note(_ damaged: [DamagedRecord]) -> Bool {
        guard damage == nil, let first = damaged.first else { return false }
        let bucket = Int(first.id >> 52)
        damage =
            switch first.kind {
            case .broken: .recordsRecord(bucket)
            case .unproven, .missing: .recordsBucket(bucket)
            }
        return true
    }

    /// The owner knows of the damage to the records. Looking for it takes long in a large store, so
    /// others have their turns in between; what it writes is one commit. `goOn` is asked before
    /// each piece of the work.
    package func mend(
        _ goOn: @LoopActor () throws(Refusal) -> Void
    ) async throws(Refusal) -> Mended {
        let opening = generation
        guard !isSealingAnew else { throw .busy }
        // The file may be made anew, and so no other one is made meanwhile, and none is swept.
        storing += 1
        defer { storing -= 1 }
        await sweeping?.value
        for first in stride(from: 0, to: Records.bucketCount, by: Self.slice) {
            guard generation == opening else { throw .locked }
            try goOn()
            let slice = first..<first + Self.slice
            try await onDisk { (records) throws(RecordsError) in
                try records.examine(buckets: slice)
            }
        }
        guard generation == opening else { throw .locked }
        try goOn()
        let reserve = workers.reserve
        defer { book = nil }
        let mended = try await onDisk(.store, of: opening) { (records) throws(RecordsError) in
            try RoomyWriter.mend(records, reserve)
        }
        damage = nil
        return mended
    }

    /// For work that walks over many records: export and import.
    package func walk<R: Sendable>(
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        try await onDisk(.read, body)
    }

    /// The same for work that stores much, within the room that there is for it. It says what it has
    /// stored.
    package func store<R: Sendable>(
        _ body: @escaping @Sendable (Records, Room, ([Change]) -> Void) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        // A copy that is being made would not have it.
        guard !isSealingAnew else { throw .busy }
        storing += 1
        defer { storing -= 1 }
        _ = await allotment.emptyLogs(besides: id)
        let allotment = allotment
        let promise = allotment.promise(most: Self.pieceMost)
        defer { allotment.end(promise) }
        let (reserve, before) = (workers.reserve, size)
        // An index that is made from here on has what is stored here, or misses it.
        let known = book
        let key = known?.key
        var isFollowed = false
        defer { if !isFollowed { book = nil } }
        let (stored, items) = try await onDisk(.store) { (records) throws(RecordsError) in
            let writer = RoomyWriter(
                records: records, reserve: reserve, promise: promise, before: before)
            let room = writer.room(for: nil)
            var items: ItemSlice?
            let result = Result { () throws(RecordsError) in
                try body(records, room) { changes in
                    items = key.flatMap { ItemSlice(of: changes, $0) }
                }
            }
            _ = writer.tidy(room)
            return (try result.get(), items)
        }
        if let known, let items, known === book {
            isFollowed = follow(items, in: known)
            known.knows(answered)
        }
        whenChanged?()
        return stored
    }

    /// Refuses if that much more cannot be stored, as far as this can be told before.
    package func requireRoom(for growth: Int, _ during: Refusal.During) async throws(Refusal) {
        let reserve = workers.reserve
        let room = await workers.disk.run { try? reserve.roomForRecords() }
        await emptyLog()
        _ = await allotment.emptyLogs(besides: id)
        if let left = allotment.left, growth > left + size.free { throw allotment.refusal }
        if let room, growth > room { throw .storageFailed(during, .noSpace) }
    }

    /// Returns after the commit, which other waiting changes share.
    package func change(_ change: Change) async throws(Refusal) {
        guard records != nil else { throw .locked }
        let result = await withCheckedContinuation { enqueue(.change(change, $0)) }
        if let refused = refusal(result) { throw refused }
    }

    private func enqueue(_ pending: Pending) {
        changes.append(pending)
        guard !isDraining else { return }
        isDraining = true
        EventLoop.shared.task { await self.drain() }
    }

    /// Nil where it was done.
    private func refusal(_ result: Result<ChangeResult, RecordsError>) -> Refusal? {
        switch result {
        case .success(.stored), .success(.replaced), .success(.deleted): nil
        case .success(.absent): .doesNotExist(.record)
        case .success(.damaged(let found)): refusal(.damaged(found), .store)
        case .success(.collision): .storageFailed(.store, .collision)
        case .success(.nameRefused): .invalidArgument(.name)
        case .success(.tooLarge): .tooLarge(limit: Limits.value)
        case .success(.noRoom(let limit)): refusal(limit, .store)
        case .failure(let error): refusal(error, .store)
        }
    }

    /// As `change`. What it comes to is decided when its turn comes.
    package func change(items work: ItemWork) async throws(Refusal) -> ItemOutcome {
        for _ in 0..<16 {
            let book = try await itemBook()
            let outcome = await withCheckedContinuation { enqueue(.items(work, book, $0)) }
            switch outcome {
            case .again: continue
            case .refused(let refusal): throw refusal
            case .item, .collection, .done: return outcome
            }
        }
        throw .busy
    }

    package func refusal(_ limit: Room.Limit, _ during: Refusal.During) -> Refusal {
        switch limit {
        case .owner: allotment.refusal
        case .disk: .storageFailed(during, .noSpace)
        }
    }

    private func drain() async {
        while !changes.isEmpty {
            await acquire()
            let batch = nextBatch()
            let plans = await plan(batch)
            let all = plans.flatMap(\.changes)
            var results = all.isEmpty ? [] : await commit(all)
            follow(plans, results, where: { !$0.wantsRoom })
            if results.contains(where: \.wantsRoom) {
                let (planned, opening) = (book, generation)
                release()
                let isMore = await allotment.emptyLogs(besides: id)
                await acquire()
                // What items come to was planned by that index, in that opening.
                if isMore, planned === book, planned == nil || opening == generation {
                    let wanting = results.map(\.wantsRoom)
                    results = await commitAgain(all, results)
                    follow(plans, results, at: wanting)
                }
            }
            release()
            answer(batch, plans, results)
        }
        isDraining = false
        shrinkLater()
    }

    /// The caller has acquired the records.
    private func commit(_ all: [Change]) async -> [Result<ChangeResult, RecordsError>] {
        guard let records else { return all.map { _ in .failure(.closed) } }
        // An index that is made from here on has what is stored here.
        bookmark = nil
        // Kept here, because the store gets another allotment if its owner changes meanwhile.
        let allotment = allotment
        let promise = allotment.promise(most: RoomyWriter.most(all))
        defer { allotment.end(promise) }
        let (reserve, before) = (workers.reserve, size)
        let opening = generation
        let done = await workers.disk.run {
            let writer = RoomyWriter(
                records: records, reserve: reserve, promise: promise, before: before)
            return Done(
                result: writer.apply(all), count: records.count, marked: records.marked,
                generation: records.generation)
        }
        // Whether one was stored, a failure does not tell for certain.
        var hasChanged = false
        for (change, result) in zip(all, done.result.results) where result.mayHaveChanged {
            changed?.insert(change.name)
            hasChanged = true
        }
        if hasChanged { whenChanged?() }
        if generation == opening { count = done.count }
        marked = done.marked
        noteLater(done.generation)
        commits += 1
        take(done.result.size)
        return done.result.results
    }

    /// Tries the changes again that found no room, now that there is more.
    private func commitAgain(
        _ all: [Change], _ first: [Result<ChangeResult, RecordsError>]
    ) async -> [Result<ChangeResult, RecordsError>] {
        let refused = all.indices.filter { first[$0].wantsRoom }
        var results = first
        for (index, result) in zip(refused, await commit(refused.map { all[$0] })) {
            results[index] = result
        }
        return results
    }

    private func nextBatch() -> [Pending] {
        var bytes = 0
        var count = 0
        var touched: Set<ItemTouch> = []
        var hasItems = false
        loop: for pending in changes.prefix(isSealingAnew ? Self.batchMeanwhile : Self.batch) {
            bytes += pending.bytes
            if count > 0, bytes > Self.batchBytes { break }
            if case .items(let work, let book, _) = pending {
                // Each is planned by what the index knows before the batch.
                if hasItems, work.isAlone { break loop }
                let touches = book.touches(work)
                guard touched.isDisjoint(with: touches) else { break loop }
                touched.formUnion(touches)
                hasItems = true
                if work.isAlone {
                    count += 1
                    break loop
                }
            }
            count += 1
        }
        let batch = Array(changes.prefix(count))
        changes.removeFirst(count)
        return batch
    }

    // MARK: items

    private enum Plan {
        case change(Change)
        case items(ItemPlan)

        var changes: [Change] {
            switch self {
            case .change(let change): [change]
            case .items(let plan): plan.steps.map(\.change)
            }
        }
    }

    /// The caller has acquired the records, and commits what this returns.
    private func plan(_ batch: [Pending]) async -> [Plan] {
        let needs = batch.map { pending in
            switch pending {
            case .items(let work, let book, _) where book === self.book: book.need(work)
            case .change, .items: ItemNeed.nothing
            }
        }
        let findings = await find(needs)
        return zip(batch, findings).map { pending, finding in
            switch pending {
            case .change(let change, _): .change(change)
            case .items(let work, let book, _):
                .items(
                    book === self.book ? book.plan(work, finding) : ItemPlan(outcome: .again))
            }
        }
    }

    private func find(_ needs: [ItemNeed]) async -> [ItemFinding] {
        let nothing = needs.map { _ in ItemFinding.nothing }
        guard let records, needs.contains(where: \.isSomething) else { return nothing }
        return await workers.disk.run {
            let reader = ItemReader(records)
            return needs.map { reader.find($0) }
        }
    }

    /// Tells the index what was stored. Where that is not certain, there is no index any more.
    private func follow(
        _ plans: [Plan], _ results: [Result<ChangeResult, RecordsError>], at wanted: [Bool]
    ) {
        var at = 0
        for plan in plans {
            switch plan {
            case .change: at += 1
            case .items(let plan):
                for step in plan.steps {
                    defer { at += 1 }
                    guard wanted[at] else { continue }
                    switch results[at] {
                    case .success(.stored), .success(.replaced), .success(.deleted),
                        .success(.absent):
                        book?.follow(step.effect)
                    case .failure: book = nil
                    case .success(.damaged), .success(.collision), .success(.nameRefused),
                        .success(.tooLarge), .success(.noRoom):
                        break
                    }
                }
            }
        }
        book?.knows(answered)
    }

    private func follow(
        _ plans: [Plan], _ results: [Result<ChangeResult, RecordsError>],
        where isWanted: (Result<ChangeResult, RecordsError>) -> Bool
    ) {
        follow(plans, results, at: results.map(isWanted))
    }

    private func answer(
        _ batch: [Pending], _ plans: [Plan], _ results: [Result<ChangeResult, RecordsError>]
    ) {
        var at = 0
        for (pending, plan) in zip(batch, plans) {
            let own = results[at..<at + plan.changes.count]
            at += own.count
            switch (pending, plan) {
            case (.change(_, let continuation), _):
                continuation.resume(returning: own.first ?? .failure(.closed))
            case (.items(_, _, let continuation), .items(let plan)):
                let refusal = own.lazy.compactMap { self.refusal($0) }.first
                continuation.resume(returning: refusal.map { .refused($0) } ?? plan.outcome)
            case (.items(_, _, let continuation), .change):
                continuation.resume(returning: .refused(.unknown))
            }
        }
    }

    /// Notes damage for `status`.
    func refusal(_ error: RecordsError, _ during: Refusal.During) -> Refusal {
        let refusal = Self.plainRefusal(error, during)
        if case .storeDamaged(let what) = refusal { damage = what }
        return refusal
    }

    package static func plainRefusal(_ error: RecordsError, _ during: Refusal.During) -> Refusal {
        switch error {
        case .damaged(.file) where during != .open: return .storeDamaged(.recordsPages)
        case .damaged(let found): return .storeDamaged(words(found))
        case .missing: return .storeDamaged(.recordsMissing)
        case .exists: return .alreadyExists
        case .closed: return .locked
        case .full: return .storageFailed(during, .noSpace)
        case .outOfDescriptors: return .storageFailed(during, .noDescriptors)
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
        case .head: .recordsHead
        case .node(let number): .recordsNode(Int(number))
        case .bucket(let number): .recordsBucket(Int(number))
        case .record(let bucket): .recordsRecord(Int(bucket))
        }
    }
}

extension Result<ChangeResult, RecordsError> {
    fileprivate var mayHaveChanged: Bool {
        switch self {
        case .success(.stored), .success(.replaced), .success(.deleted), .failure: true
        case .success(.absent), .success(.damaged), .success(.collision), .success(.nameRefused),
            .success(.tooLarge), .success(.noRoom):
            false
        }
    }

    /// Refused because of the owner's quota.
    fileprivate var wantsRoom: Bool {
        switch self {
        case .success(.noRoom(.owner)): true
        case .success, .failure: false
        }
    }
}
