import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Wire
import Words

/// One store of the running daemon: its slots, its tries, and its records while it is open.
///
/// One task at a time uses the slots file: the one that has the store's turn. The snapshot holds
/// what others need to know of it.
@LoopActor
package final class StoreHost {
    /// What the store's folder holds. Each case has what is available then.
    package enum Condition {
        case live(SlotFile)
        /// Sealed under another machine's key, or damaged outside its recovery slot. Only the
        /// recovery key can bring it back, under this machine's key.
        case recoverable(Foreign, Refusal.Damage)
        /// With what could be read of it.
        case damaged(UncheckedSlotFile?, Refusal.Damage)
        case erased
    }

    /// A recoverable store. Its tries are counted in memory, because its file cannot be written
    /// under this machine's key.
    @LoopActor
    package final class Foreign {
        package let file: UncheckedSlotFile
        package var tally = Tally()

        package init(_ file: UncheckedSlotFile) {
            self.file = file
        }
    }

    package enum Health: Equatable {
        case live
        case erased
        case damaged(Refusal.Damage)
        /// Whatever else it is, its organisation keeps it shut.
        case barred(Refusal.Bar)
    }

    /// What is known of the slots file without reading it again.
    package struct Snapshot: Sendable {
        package var identity: Identity
        package var tally = Tally()
        package var passcodes: [PasscodeSlot] = []
        package var hasDevice = false
        package var recovery: [RecoverySlot] = []
        package var terms = Terms()
        package var hasKeyringPassword = false
        /// To which others seal what they share with its owner.
        package var memberKey: MemberKey?
        /// A count of them cannot be read: `StoreHost.tally` says what counts instead.
        package var triesAreLost = false
        /// Only the owner file says whose store it is.
        package var ownerIsLost = false
        /// Something in the slots file is to be made anew.
        package var isDamaged = false

        /// A recovery key was made while there was no passcode. It is removed when there is one.
        package var hasUnprovenRecovery: Bool { recovery.contains { !$0.details.isProven } }
    }

    package let id: StoreID
    package let folder: Folder
    package let workers: Workers
    package var condition: Condition
    package var snapshot: Snapshot { didSet { tell(.changed) } }
    package let turn = Gate(width: 1, ownLimit: 128, apartLimit: 64)
    package let records: OpenRecordsQueue
    package var shutTimer: UInt64?
    /// When that timer ends, by the boot clock.
    package private(set) var shutAt: UInt64?
    package var proven: PasscodeSlot?
    package var judged: Judged?
    package var judgings: UInt64 = 0
    /// Set by the vault: for the fingers' and owners' files, and for a store of another machine.
    package var machineForAdoption: MachineKey?
    package var stateFolder = ""
    /// What the owner file says of tries that cannot be read.
    package var lostTries = OwnerFile.LostTries()
    /// When its owner was last told that it is damaged, by the boot clock.
    var damageToldAt: UInt64?
    /// What was made anew when the store was opened, until somebody is told.
    package var mended: SlotFile.Mended?

    // MARK: an organisation's orders

    /// Why its organisation keeps it shut. It is closed for all requests from the moment on at
    /// which this is set.
    package var bar: Refusal.Bar? { didSet { if bar != oldValue { tell(.changed) } } }
    /// Set by the vault: whose machine this is, and which orders of theirs hold.
    var orderer: Refusal.Orderer?
    var orders = OrdersMark.none

    // MARK: stores that follow

    /// What it opens besides its own records, as long as it is open.
    package private(set) var ring: Ring?
    /// Set by the vault: the store that it follows.
    package weak var parent: StoreHost?
    /// Set by the vault: those that follow it.
    package var followers: @LoopActor () -> [StoreHost] = { [] }

    // MARK: members

    /// Whom it is shared with. While it is locked, nobody but the machine vouches for them.
    package internal(set) var members: [VouchedMember] = []
    /// How often it had been locked when the store that it follows was opened.
    package var closingsBeforeParent: UInt64?
    /// People whose file cannot be read, by their numbers: what they may do is not known any more.
    package internal(set) var damagedMembers: Set<UInt32> = []
    /// Of the store key that opens it; known once it was open.
    package var keyGeneration: UInt32 { records.keyGeneration }
    /// From the turn on in which the slots of the next key are written, until the records have it.
    package internal(set) var isGettingKey = false
    var gettingKey: Task<Void, Never>?
    private var needs = 0
    /// The last of those has ended.
    package var whenUnneeded: (@LoopActor () -> Void)?

    // MARK: fingers

    package var resident: Resident?
    /// What is done with the files of its fingers is done one after the other.
    let fingerTurn = FingerTurnstile()
    var fingersBeingKept = 0
    /// Called when the resident slot was made anew or wiped.
    package var whenResident: (@LoopActor (StoreHost) -> Void)?
    package var whenFingersGo: (@LoopActor () -> Void)?
    package var forgetOnChips: (@LoopActor ([EnrolledFinger]) -> Void)?
    /// Of the order that wipes it, from the wipe's begin on; what is on the disk says it later.
    var wipedUnder: OrdersMark?
    package var whenErased: (@LoopActor (StoreHost) -> Void)?

    // MARK: closed by time

    /// By the boot clock, in milliseconds, as all of these.
    package internal(set) var lastUse: UInt64 = 0
    /// Milliseconds without a request after which the store locks; nil means never.
    package var idleLimit: UInt64?
    /// What keeps its owner away, and since when.
    package private(set) var absences: [Absence: Away] = [:] { didSet { settleAbsence() } }
    /// What the owner's policy says of leaving; nil where it is not known yet.
    package var leavingRules: LeavingRules? {
        didSet {
            settleAbsence()
            for follower in followers() { follower.settleAbsence() }
        }
    }
    /// When it is locked because its owner has left and does not come back.
    package private(set) var awayEnd: UInt64?
    /// How often the owner has left. What was typed before that does not open the store after it.
    package private(set) var departures: UInt64 = 0
    /// It was open when it was locked because its owner left, and has not been opened since.
    package var wasLockedAway = false
    package var isBeingLocked = false
    /// Until when the owner has suspended locking, and since when.
    package private(set) var heldUntil: UInt64? {
        didSet {
            settleAbsence()
            for follower in company(.ofOnePolicy) { follower.settleAbsence() }
        }
    }
    private var heldSince: UInt64 = 0
    /// Set by the vault: called when one of these times has changed.
    package var whenTimesChange: (@LoopActor (StoreHost) -> Void)?
    /// Set by the vault.
    package var whenOpened: (@LoopActor (StoreHost) -> Void)?
    /// Likewise: called with what others may want to know at once.
    package var whenHappens: (@LoopActor (StoreHost, Happening) -> Void)?

    package enum Happening {
        case locked
        /// Something that `status` shows.
        case changed
        case fingerAdded
        /// Whom it is shared with.
        case members
        /// Values were stored or deleted.
        case records
        /// The store is no more.
        case removed
    }

    package func tell(_ happening: Happening) {
        whenHappens?(self, happening)
    }

    /// Likewise: called where an opening found that the log was damaged.
    package var whenLogWasDamaged: (@LoopActor (StoreHost, Records.LogState) -> Void)?

    /// When its idle time is over, if it is not used until then.
    private var idleEnd: UInt64? {
        idleLimit.map { max(timekeeper.lastUse + $0, timekeeper.heldUntil ?? 0) }
    }

    private var rules: LeavingRules { leavingRules ?? Policy.builtIn.leaving }

    /// When each absence locks it. Whatever its own policy says, it does not outlast the last logout
    /// of the store that it follows, which may have been locked before.
    private var absenceEnds: [(end: UInt64, away: Away)] {
        var ends = absences.values.compactMap { away in rules.end(of: away).map { ($0, away) } }
        if isFollower, let parent, let logout = absences[.session],
            let end = parent.rules.end(of: logout)
        {
            ends.append((end, logout))
        }
        return ends
    }

    /// Each request asks for this, so it is worked out beforehand.
    private func settleAbsence() {
        awayEnd = absenceEnds.map(\.end).min().map { max($0, timekeeper.heldUntil ?? 0) }
    }

    /// How the owner has left whose absence locks it.
    package var lockingLeave: Leave? {
        absenceEnds.min { $0.end < $1.end }?.away.leave
    }
    /// Until when a finger opens it again.
    package var fingerEnd: UInt64? {
        absences.values.compactMap { rules.fingerEnd(of: $0) }.min().map { max($0, heldUntil ?? 0) }
    }
    /// When one of its times is over.
    package var end: UInt64? { [idleEnd, awayEnd].compactMap { $0 }.min() }
    package var isIdle: Bool { Self.isOver(idleEnd) }
    package var isAway: Bool { Self.isOver(awayEnd) }

    private static func isOver(_ end: UInt64?) -> Bool {
        end.map { Clock.bootMilliseconds() >= $0 } ?? false
    }

    /// The owner has left. The first of several times in the same way counts.
    package func ownerLeft(_ leave: Leave) {
        // The others may still be there.
        guard !isShared else { return }
        departures += 1
        // A hold ends with the session.
        if leave == .sessionEnd, heldUntil != nil { heldUntil = nil }
        let known = absences[leave.absence]
        guard known == nil || known?.leave == .screenLockByIdleness else { return }
        let away = Away(leave, since: Clock.bootMilliseconds())
        if let known, let end = rules.end(of: known), end <= rules.end(of: away) ?? .max { return }
        absences[leave.absence] = away
    }

    /// What was not locked by then stays open. Others are opened by who shows something for it, but
    /// for those that follow: the store that they follow says whether they open.
    package func ownerCameBack(_ absence: Absence) {
        guard let away = absences[absence] else { return }
        if isFollower { return absences[absence] = nil }
        let end = rules.end(of: away).map { max($0, timekeeper.heldUntil ?? 0) }
        if !Self.isOver(end) { absences[absence] = nil }
    }

    /// The store does not lock by itself for so long.
    package func hold(seconds: UInt32) {
        heldSince = Clock.bootMilliseconds()
        heldUntil = heldSince + UInt64(seconds) * 1000
        whenTimesChange?(self)
    }

    /// The policy may allow less than it did.
    package func limitHold(to seconds: UInt32) {
        guard let until = heldUntil else { return }
        heldUntil = min(until, heldSince + UInt64(seconds) * 1000)
    }

    /// From now on the store locks by itself again.
    package func resume() {
        guard heldUntil != nil else { return }
        heldUntil = nil
        whenTimesChange?(self)
    }

    /// For the next daemon.
    var times: HandOver.Times {
        HandOver.Times(
            absences: Array(absences.values), heldSince: heldSince, heldUntil: heldUntil)
    }

    /// As the daemon before this one knew them.
    package func take(_ times: HandOver.Times) {
        let former = times.absences.map { ($0.leave.absence, $0) }
        absences.merge(former) { here, _ in here }
        // What a finger opens is left after its store was closed, which ends a hold.
        guard times.heldUntil != nil else { return }
        heldSince = times.heldSince
        heldUntil = times.heldUntil
    }

    /// It stays open meanwhile, also where no member's store is.
    package func needed<R, E: Error>(_ body: () async throws(E) -> R) async throws(E) -> R {
        needs += 1
        defer {
            needs -= 1
            if needs == 0 { whenUnneeded?() }
        }
        return try await body()
    }

    package var isNeeded: Bool { needs > 0 }

    /// What is said to whoever needs it open.
    package var whyShut: Refusal { bar.map(Refusal.barred) ?? .locked }

    /// Each request on the open store starts its idle time again.
    private func use() throws(Refusal) {
        guard isOpen else { throw whyShut }
        timekeeper.lastUse = Clock.bootMilliseconds()
    }

    package init(
        id: StoreID, folder: Folder, workers: Workers, contents: Contents,
        members: [VouchedMember] = [], damagedMembers: Set<UInt32> = []
    ) {
        self.id = id
        self.members = members
        self.damagedMembers = damagedMembers
        self.folder = folder
        self.workers = workers
        records = OpenRecordsQueue(workers: workers, folder: folder.path, id: id)
        switch contents {
        case .live(let file, let snapshot):
            self.snapshot = snapshot
            condition = .live(file)
        case .erased(let identity):
            snapshot = Snapshot(identity: identity)
            condition = .erased
        case .damaged(let unchecked, let what, isRecoverable: true):
            snapshot = Snapshot(identity: Self.likely(unchecked, members))
            condition = .recoverable(Foreign(unchecked), what)
        case .damaged(let unchecked, let what, isRecoverable: false):
            snapshot = Snapshot(identity: Self.likely(unchecked, members))
            condition = .damaged(unchecked, what)
        case .unreadable(let owner, let what):
            snapshot = Snapshot(identity: owner ?? Self.nobody)
            condition = .damaged(nil, what)
        }
        records.whenClosed = { [weak self] in
            self?.ring = nil
            self?.tell(.locked)
        }
        records.whenChanged = { [weak self] in self?.tell(.records) }
    }

    /// What was found in a store's folder.
    package enum Contents: Sendable {
        case live(SlotFile, Snapshot)
        case erased(Identity)
        case damaged(UncheckedSlotFile, what: Refusal.Damage, isRecoverable: Bool)
        /// There is no slots file that can be read.
        case unreadable(Identity?, what: Refusal.Damage)
    }

    /// The owner of a store that does not say whose it is: no person has this uid or this name.
    static let nobody = Identity(
        uid: UInt32.max, account: [], createdAt: 0, way: .own, storeName: [], policyKey: [])

    /// Only a shared store has a member that is a recovery key, whatever is legible of the rest.
    private static func likely(
        _ file: UncheckedSlotFile, _ members: [VouchedMember]
    ) -> Identity {
        var identity = file.likely ?? nobody
        let isShared = members.contains {
            if case .recoveryKey = $0.member.who { true } else { false }
        }
        if isShared { identity.kind = .shared }
        return identity
    }

    package nonisolated static func snapshot(of file: SlotFile) -> Snapshot {
        var snapshot = Snapshot(identity: file.identity, tally: file.tally)
        // The slots were checked when the file was read. A slot that cannot be decoded opens
        // nothing.
        snapshot.passcodes = (try? file.passcodeSlots) ?? []
        snapshot.hasDevice = file.hasDeviceSlot
        snapshot.terms = file.terms
        snapshot.hasKeyringPassword = file.hasKeyringPassword
        snapshot.memberKey = file.memberKey
        snapshot.recovery = (try? file.recoverySlots) ?? []
        snapshot.triesAreLost = file.triesAreLost
        snapshot.ownerIsLost = file.ownerIsLost
        snapshot.isDamaged = !file.isWhole
        return snapshot
    }

    // MARK: what others ask

    package var health: Health {
        switch condition {
        case .erased: .erased
        case .live: bar.map(Health.barred) ?? .live
        case .recoverable(_, let what), .damaged(_, let what):
            bar.map(Health.barred) ?? .damaged(what)
        }
    }

    package var foreign: Foreign? {
        switch condition {
        case .recoverable(let foreign, _): foreign
        case .live, .damaged, .erased: nil
        }
    }

    /// Also where its organisation keeps it shut.
    var isLive: Bool {
        if case .live = condition { true } else { false }
    }

    private var isErased: Bool {
        if case .erased = condition { true } else { false }
    }

    /// What could be read of a damaged store's slots file.
    var unchecked: UncheckedSlotFile? {
        switch condition {
        case .recoverable(let foreign, _): foreign.file
        case .damaged(let unchecked, _): unchecked
        case .live, .erased: nil
        }
    }

    package var identity: Identity { snapshot.identity }
    package var owner: Person { Person(uid: identity.uid, name: identity.account) }
    /// A store whose time is over is closed for all requests, even before it is locked.
    package var isOpen: Bool { records.isOpen && !isIdle && !isAway && bar == nil }
    package var hasPasscode: Bool { !snapshot.passcodes.isEmpty }
    package var hasRecovery: Bool {
        guard isShared else { return foreign != nil || !snapshot.recovery.isEmpty }
        // Without its file among the members', the slot of a shared store opens nothing.
        return members.contains { member in
            guard case .recoveryKey(let block) = member.member.who else { return false }
            return foreign != nil || snapshot.recovery.contains { $0.block == block }
        }
    }
    package var followsLogin: Bool { identity.way == .followsLogin }
    package var isRecoverable: Bool { foreign != nil }
    package var isUsable: Bool { health == .live }

    package func requireUsable() throws(Refusal) {
        switch health {
        case .live: return
        case .erased: throw gone
        case .damaged(let what): throw .storeDamaged(what)
        case .barred(let bar): throw .barred(bar)
        }
    }

    package func requireLive() throws(Refusal) -> SlotFile {
        if let bar, !isErased { throw .barred(bar) }
        switch condition {
        case .live(let file): return file
        case .erased: throw gone
        case .recoverable(_, let what), .damaged(_, let what): throw .storeDamaged(what)
        }
    }

    package nonisolated static func now() -> Moment {
        Moment(bootID: Boot.id, milliseconds: Clock.bootMilliseconds())
    }

    /// Refuses if no try may be made now. This counts nothing and derives nothing.
    package func mayTry(_ kind: TryKind, _ policy: Policy) throws(Refusal) {
        if let bar, !isErased { throw .barred(bar) }
        if foreign == nil || kind != .recovery { _ = try requireLive() }
        guard !mayBeErasing(policy) else { throw .storeDamaged(.slotsBlock(0)) }
        switch (foreign?.tally ?? tally(policy)).verdict(kind, policy, Self.now()) {
        case .allowed: return
        case .throttled(let seconds): throw .throttled(seconds: Int(seconds))
        case .limitReached: throw limitReached(policy)
        }
    }

    /// The limit of tries is reached: only the recovery key or root can make tries possible again.
    package func isRetryLocked(_ policy: Policy) -> Bool {
        tally(policy).isRetryLocked(policy)
    }

    package func limitReached(_ policy: Policy) -> Refusal {
        .retryLimitReached(.locked(forgotten(policy)))
    }

    /// What leads on for a person who does not know the passcode.
    package func forgotten(_ policy: Policy) -> Refusal.WayBack {
        if hasRecovery, policy.allowRecoveryKey { return .recover }
        return policy.showReset ? .reset : .nothing
    }

    package func stakes(_ kind: TryKind, _ policy: Policy) -> Stake {
        tally(policy).stake(kind, policy)
    }

    /// The tries that count, also where they cannot be read.
    package func tally(_ policy: Policy) -> Tally {
        guard snapshot.triesAreLost else { return snapshot.tally }
        return .lost(policy, areSpent: lostTries.areSpent, since: lostTries.since)
    }

    /// The block that would say that the store is being erased cannot be read, and the limit that
    /// erases it is reached: nothing opens it, until root's chown says that it is somebody's.
    func mayBeErasing(_ policy: Policy) -> Bool {
        if let foreign { return foreign.file.triesWithoutOwner?.isRetryLocked(policy) == true }
        return snapshot.ownerIsLost && isRetryLocked(policy)
    }

    // MARK: the store's turn

    /// Runs `body` when it is the store's turn: no other task uses the slots file meanwhile.
    package func inTurn<R>(
        _ kind: Gate.Class, _ body: () async throws(Refusal) -> R
    ) async throws(Refusal) -> R {
        try await turn.enter(kind, until: Clock.bootMilliseconds() + Workers.queueWait)
        defer { turn.leave() }
        return try await body()
    }

    /// Runs blocking work on the slots file, on a disk thread. Afterwards the snapshot is fresh.
    package func onDisk<R: Sendable>(
        _ file: SlotFile, _ during: Refusal.During,
        _ body: @escaping @Sendable (SlotFile) throws(KeyError) -> R
    ) async throws(Refusal) -> R {
        let (result, fresh) = await workers.disk.run { () -> (Result<R, KeyError>, Snapshot) in
            let result = Result { () throws(KeyError) in try body(file) }
            return (result, Self.snapshot(of: file))
        }
        snapshot = fresh
        switch result {
        case .success(let value): return value
        case .failure(let error): throw Self.refusal(error, during)
        }
    }

    package static func refusal(_ error: KeyError, _ during: Refusal.During) -> Refusal {
        switch error {
        case .missing: .storeDamaged(.fileMissing)
        case .damaged(let damage): .storeDamaged(Self.damage(damage))
        case .wrongSecret: .unknown
        case .erased: .deleted
        case .noSuchSlot: .invalidAction(action: .unlock, reason: .noSuchKey)
        case .tooLong: .tooLarge(limit: Limits.name)
        case .alreadyExists: .alreadyExists
        case .storesExist: .storeDamaged(.machineKeyMissing)
        case .storage(let error):
            .storageFailed(during, Refusal.DiskFault(error))
        case .secrets: .outOfMemory
        }
    }

    package nonisolated static func damage(_ damage: KeySlots.Damage) -> Refusal.Damage {
        switch damage {
        case .machineKey: .machineKey
        case .foreignMachineKey: .foreignMachineKey
        case .fileSize: .slotsSize
        case .block(let number): .slotsBlock(Int(number))
        case .noSlot: .slotsEmpty
        case .readBack(let number): .slotsReadBack(Int(number))
        }
    }

    // MARK: opening and locking

    /// Opens the records. If they are open already, they stay open.
    package func open(_ opening: Opening) async throws(Refusal) {
        let ring = try await ring(of: opening)
        try await open(opening.key, .storeKey, opening.ground, ring) { ownerProved(opening) }
    }

    func open(
        _ key: StoreKey, _ kind: RecordKeyKind, _ ground: Ground, _ ring: Ring?,
        generation: UInt32 = Records.firstKeyGeneration, _ used: () -> Void = {}
    ) async throws(Refusal) {
        let file = try requireLive()
        try require(ground)
        timekeeper.lastUse = Clock.bootMilliseconds()
        used()
        guard !records.isOpen else {
            // A daemon before this one could not leave it.
            self.ring = self.ring ?? ring
            return
        }
        cancelShut()
        let log = try await records.open(key, kind, file.commits, generation)
        self.ring = ring
        timekeeper.lastUse = Clock.bootMilliseconds()
        used()
        if log != .whole { whenLogWasDamaged?(self, log) }
        whenOpened?(self)
    }

    /// Whoever opens the store is back, unless the owner has left since the passcode was typed.
    private func ownerProved(_ opening: Opening) {
        guard opening.departures == departures else { return }
        ownerIsBack()
        for follower in followers() { follower.ownerIsBack() }
        if resident != nil { whenResident?(self) }
    }

    private func ownerIsBack() {
        if !absences.isEmpty { absences = [:] }
        wasLockedAway = false
    }

    /// Locks it, and those that follow it.
    package func lock(_ company: Company = .all) async {
        let along = self.company(company).map { follower in
            EventLoop.shared.task { await follower.lock() }
        }
        await close()
        for lock in along { await lock.value }
    }

    /// Locks it alone.
    func close() async {
        cancelShut()
        if heldUntil != nil { heldUntil = nil }
        await records.close()
    }

    /// Locks at that moment, unless a session of the owner begins first.
    package func shut(at moment: UInt64, _ then: @escaping @LoopActor @Sendable () -> Void) {
        cancelShut()
        shutAt = moment
        shutTimer = EventLoop.shared.at(moment) {
            EventLoop.shared.task {
                self.shutTimer = nil
                self.shutAt = nil
                await self.lock()
                then()
            }
        }
    }

    package func cancelShut() {
        if let timer = shutTimer { EventLoop.shared.cancel(timer) }
        shutTimer = nil
        shutAt = nil
    }

    // MARK: records

    package func value(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) async throws(Refusal) {
        try use()
        try await records.value(of: name, take)
    }

    /// False where somebody else uses the records at this moment.
    package func valueNow(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) throws(Refusal) -> Bool {
        try use()
        return try records.valueNow(of: name, take)
    }

    package func change(_ change: Change) async throws(Refusal) {
        try use()
        try await records.change(change)
    }

    /// For work that stores much: an import.
    package func store<R: Sendable>(
        _ body: @escaping @Sendable (Records, Room, ([Change]) -> Void) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        try use()
        return try await records.store(body)
    }

    package func names(prefix: [UInt8], cursor: UInt64) async throws(Refusal)
        -> Records.Page
    {
        try use()
        return try await records.names(prefix: prefix, cursor: cursor)
    }

    // MARK: items

    /// As `change`.
    package func change(items work: ItemWork) async throws(Refusal) -> ItemOutcome {
        try use()
        return try await records.change(items: work)
    }

    package func items(_ wanted: FindItems) async throws(Refusal) -> OpenRecordsQueue.ItemPage {
        try use()
        return try await records.items(wanted)
    }

    package func secrets(of ids: [ItemID]) async throws(Refusal) -> OpenRecordsQueue.SecretPage {
        try use()
        return try await records.secrets(of: ids)
    }

    package func itemNews(_ asked: ItemChanges) async throws(Refusal) -> OpenRecordsQueue.NewsPage {
        try use()
        return try await records.itemNews(asked)
    }

    package func mend() async throws(Refusal) -> Mended {
        // Its owner waits for it: a store is not idle while it is mended.
        try await records.mend { () throws(Refusal) in try use() }
    }

    /// For work that walks over many records: export, and an import that is checked.
    package func walk<R: Sendable>(
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        try use()
        return try await records.walk(body)
    }

}

/// A recovery key on its way to a disk thread.
package final class RecoveryKeyBox: Sendable {
    package let key: RecoveryKey

    package init(_ key: consuming RecoveryKey) {
        self.key = key
    }
}

/// This boot, read once.
package enum Boot {
    package static let id = BootID(Clock.bootID()) ?? .none
}

extension Refusal.DiskFault {
    init(_ error: PosixError) {
        if error.isNoSpace {
            self = .noSpace
        } else if error.isOutOfDescriptors {
            self = .noDescriptors
        } else if error.isReadOnly {
            self = .readOnly
        } else {
            self = .system(error.description)
        }
    }
}
