import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Wire

/// One store of the running daemon: its slots, its tries, and its records while it is open.
///
/// The slots file is used by one at a time, by whoever has the store's turn; what others need to
/// know of it is in the snapshot.
@LoopActor
final class StoreHost {
    enum Health: Equatable {
        case live
        case erased
        case damaged(Refusal.Damage)
    }

    /// What is known of the slots file without reading it.
    struct Snapshot: Sendable {
        var identity: Identity
        var tally = Tally()
        var passcodes: [PasscodeSlot] = []
        var hasDevice = false
        var hasRecovery = false
    }

    let id: StoreID
    let folder: Folder
    let workers: Workers
    private(set) var health: Health
    private(set) var snapshot: Snapshot
    private(set) var file: SlotFile?
    /// A store under another machine's key, or damaged where its recovery key does not lie: only that
    /// key brings it back, under this machine's.
    private var foreign: UncheckedSlotFile?
    private var foreignTally = Tally()
    /// What could be read of a store that is damaged.
    private var unchecked: UncheckedSlotFile?
    let turn = Gate(width: 1, ownLimit: 128, apartLimit: 64)
    let records: OpenRecordsQueue
    private var shutTimer: UInt64?
    private var proven: PasscodeSlot?

    init(id: StoreID, folder: Folder, workers: Workers, contents: Contents) {
        self.id = id
        self.folder = folder
        self.workers = workers
        records = OpenRecordsQueue(workers: workers)
        switch contents {
        case .live(let file, let snapshot):
            self.file = file
            self.snapshot = snapshot
            health = .live
        case .erased(let identity):
            snapshot = Snapshot(identity: identity)
            health = .erased
        case .damaged(let unchecked, let what, let isRecoverable):
            snapshot = Snapshot(identity: unchecked.identity)
            self.unchecked = unchecked
            if isRecoverable {
                foreign = unchecked
                snapshot.hasRecovery = true
            }
            health = .damaged(what)
        case .unreadable(let owner, let what):
            snapshot = Snapshot(identity: owner ?? Self.nobody)
            health = .damaged(what)
        }
    }

    /// What was found in a store's folder.
    enum Contents: Sendable {
        case live(SlotFile, Snapshot)
        case erased(Identity)
        case damaged(UncheckedSlotFile, what: Refusal.Damage, isRecoverable: Bool)
        /// Not even its owner is sure.
        case unreadable(Identity?, what: Refusal.Damage)
    }

    /// The owner of a store that does not even say whose it is: no uid and no name that a person
    /// has.
    private static let nobody = Identity(
        uid: UInt32.max, account: [], createdAt: 0, way: .own, storeName: [], policyKey: [])

    nonisolated static func snapshot(of file: SlotFile) -> Snapshot {
        var snapshot = Snapshot(identity: file.identity, tally: file.tally)
        // The slots were checked when the file was read; what cannot be decoded opens nothing.
        snapshot.passcodes = (try? file.passcodeSlots) ?? []
        snapshot.hasDevice = file.hasDeviceSlot
        snapshot.hasRecovery = ((try? file.recoverySlots) ?? []).isEmpty == false
        return snapshot
    }

    // MARK: what others ask

    var identity: Identity { snapshot.identity }
    var isOpen: Bool { records.isOpen }
    var hasPasscode: Bool { !snapshot.passcodes.isEmpty }
    var hasRecovery: Bool { snapshot.hasRecovery }
    var followsLogin: Bool { identity.way == .followsLogin }
    var isRecoverable: Bool { foreign != nil }
    var isUsable: Bool { health == .live }

    func requireUsable() throws(Interruption) {
        switch health {
        case .live: return
        case .erased: throw .refused(.deleted)
        case .damaged(let what): throw .refused(.storeDamaged(what))
        }
    }

    private func requireLive() throws(Refusal) -> SlotFile {
        switch health {
        case .live:
            guard let file else { throw .unknown }
            return file
        case .erased: throw .deleted
        case .damaged(let what): throw .storeDamaged(what)
        }
    }

    static func now() -> Moment {
        Moment(bootID: Boot.id, milliseconds: Clock.bootMilliseconds())
    }

    /// Whether a try may be made now; costs nothing and gives nothing.
    func mayTry(_ kind: TryKind, _ policy: Policy) throws(Refusal) {
        if foreign == nil || kind != .recovery { _ = try requireLive() }
        let tally = foreign == nil ? snapshot.tally : foreignTally
        switch tally.verdict(kind, policy, Self.now()) {
        case .allowed: return
        case .throttled(let seconds): throw .throttled(seconds: Int(seconds))
        case .limitReached: throw .retryLimitReached(erased: false)
        }
    }

    /// Only the recovery key or root opens the way again.
    func isRetryLocked(_ policy: Policy) -> Bool {
        snapshot.tally.isRetryLocked(policy)
    }

    func stakes(_ kind: TryKind, _ policy: Policy) -> Stake {
        snapshot.tally.stake(kind, policy)
    }

    // MARK: the store's turn

    /// Runs with the slots file in hand, alone.
    func inTurn<R>(
        _ kind: Gate.Class, _ body: () async throws(Refusal) -> R
    ) async throws(Refusal) -> R {
        try await turn.enter(kind, until: Clock.bootMilliseconds() + Workers.queueWait)
        defer { turn.leave() }
        return try await body()
    }

    /// Blocking work on the slots file, on a disk thread; the snapshot is fresh afterwards.
    private func onDisk<R: Sendable>(
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

    static func refusal(_ error: KeyError, _ during: Refusal.During) -> Refusal {
        switch error {
        case .missing: .storeDamaged(.fileMissing)
        case .damaged(let damage): .storeDamaged(Self.damage(damage))
        case .wrongSecret: .unknown
        case .erased: .deleted
        case .noSuchSlot: .invalidAction(action: .unlock, reason: .noSuchKey)
        case .tooLong: .tooLarge(limit: Limits.name)
        case .alreadyExists: .alreadyExists
        case .storesExist: .storeDamaged(.machineKeyMissing)
        case .storage(let error): .storageFailed(during, .system(error.description))
        case .secrets: .outOfMemory
        }
    }

    nonisolated static func damage(_ damage: KeySlots.Damage) -> Refusal.Damage {
        switch damage {
        case .machineKey: .machineKey
        case .foreignMachineKey: .foreignMachineKey
        case .fileSize: .slotsSize
        case .block(let number): .slotsBlock(Int(number))
        case .noSlot: .slotsEmpty
        case .readBack(let number): .slotsReadBack(Int(number))
        }
    }

    // MARK: tries

    /// One try with a passcode: counted and synced before the derivation, its outcome recorded
    /// before anybody hears of it. Gives the store key; `counted` hears of a wrong one on the
    /// count.
    func attempt(
        _ kind: TryKind, _ secret: SecretBox, _ policy: Policy, counted: () -> Void = {}
    ) async throws(Refusal) -> SecretBox {
        try mayTry(kind, policy)
        let queue: Gate.Class = kind == .own ? .own : .apart
        return try await inTurn(queue) { () async throws(Refusal) in
            let deadline = Clock.bootMilliseconds() + Workers.queueWait
            try await workers.tries.enter(queue, until: deadline)
            defer { workers.tries.leave() }
            return try await attemptAlone(kind, queue, secret, policy, counted)
        }
    }

    private enum Trial: Sendable {
        case opened(SecretBox, PasscodeSlot)
        case wrong
        case notDerived
        case failed(KeyError)
    }

    private func attemptAlone(
        _ kind: TryKind, _ queue: Gate.Class, _ secret: SecretBox, _ policy: Policy,
        _ counted: () -> Void
    ) async throws(Refusal) -> SecretBox {
        // Judged again: whoever waited for the turn may stand behind the one who used up the tries.
        try mayTry(kind, policy)
        let file = try requireLive()
        guard let typed = secret.take() else { throw .unknown }
        let passcode = SecretBox(try PasscodeEntry.prepared(typed))
        let slots = snapshot.passcodes
        // Room for the dearest, before anything is counted.
        guard let cost = slots.map(\.details.cost).max(by: { $0.memoryKiB < $1.memoryKiB }) else {
            throw .doesNotExist(.passcode)
        }
        try await workers.requireMemory(for: cost)

        try await count(file, .count) { tally in tally.began(kind, Self.now()) }
        let trial: Trial
        do throws(Refusal) {
            trial = try await workers.derive(queue) { Self.tryAll(slots, passcode, file) }
        } catch {
            try await count(file, .uncount) { tally in tally.notDerived(kind) }
            throw error
        }
        switch trial {
        case .opened(let key, let slot):
            // A count that cannot be cleared is no reason to keep the owner out: it stays and is
            // cleared later.
            try? await count(file, .clearCount) { tally in tally.right(kind) }
            if slots.count > 1 || snapshot.hasDevice {
                try? await onDisk(file, .unlock) { (file) throws(KeyError) in
                    try file.settle(on: slot)
                }
            }
            proven = slot
            return key
        case .wrong:
            return try await wasWrong(kind, file, policy, counted)
        case .notDerived:
            try await count(file, .uncount) { tally in tally.notDerived(kind) }
            throw .outOfMemory
        case .failed(let error):
            throw Self.refusal(error, .unlock)
        }
    }

    /// The newest slot first; a second one is there only between a change of the login password and
    /// the next unlock.
    private nonisolated static func tryAll(
        _ slots: [PasscodeSlot], _ passcode: SecretBox, _ file: SlotFile
    ) -> Trial {
        guard let secret = passcode.take() else { return .notDerived }
        var hasEnded = false
        for slot in slots {
            do throws(SecretsError) {
                let derived = try KeyDerivation.derive(
                    secret, salt: slot.details.salt, cost: slot.details.cost)
                do throws(KeyError) {
                    return .opened(SecretBox(try file.openPasscode(slot, derived: derived)), slot)
                } catch {
                    if error != .wrongSecret { return .failed(error) }
                    hasEnded = true
                }
            } catch {
                // One that ended wrong has told something: the count stays.
                return hasEnded ? .failed(.secrets(error)) : .notDerived
            }
        }
        return .wrong
    }

    private func wasWrong(
        _ kind: TryKind, _ file: SlotFile, _ policy: Policy, _ counted: () -> Void
    ) async throws(Refusal) -> SecretBox {
        var tally = snapshot.tally
        let aftermath = tally.wrong(kind, policy)
        if aftermath == .erase {
            try await erase(file)
            throw .retryLimitReached(erased: true)
        }
        // Where the outcome cannot be written the try stays counted, as one without an outcome.
        do throws(Refusal) {
            let outcome = tally
            try await onDisk(file, .count) { (file) throws(KeyError) in
                try file.write(outcome)
            }
        } catch {
            throw .invalidPasscode(left: snapshot.tally.triesLeft(kind, policy))
        }
        counted()
        switch aftermath {
        case .left(0): throw .retryLimitReached(erased: false)
        case .left(let left): throw .invalidPasscode(left: left)
        case .lock, .erase: throw .retryLimitReached(erased: false)
        }
    }

    private func count(
        _ file: SlotFile, _ during: Refusal.During, _ change: (inout Tally) -> Void
    ) async throws(Refusal) {
        var tally = snapshot.tally
        change(&tally)
        let changed = tally
        do throws(Refusal) {
            try await onDisk(file, during) { (file) throws(KeyError) in try file.write(changed) }
        } catch {
            // Not counted is not tried: nothing is derived.
            if case .storageFailed(let during, let reason) = error {
                throw .serviceUnavailable(.failed(during, reason))
            }
            throw error
        }
    }

    func updateTally<R: Sendable>(_ change: @escaping @Sendable (inout Tally) -> R)
        async throws(Refusal) -> R
    {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            var tally = snapshot.tally
            let result = change(&tally)
            let changed = tally
            try await onDisk(file, .writeCount) { (file) throws(KeyError) in
                try file.write(changed)
            }
            return result
        }
    }

    /// A try with the recovery key, which is never a guess worth making: throttled, and never
    /// erasing.
    func attemptRecovery(_ typed: SecretBox, _ policy: Policy) async throws(Refusal) -> SecretBox {
        guard let text = typed.take(), text.count > 0 else { throw .cancelled }
        let key = RecoveryKeyBox(try Self.recoveryKey(text))
        try mayTry(.recovery, policy)
        return try await inTurn(.apart) { () async throws(Refusal) in
            try mayTry(.recovery, policy)
            if let foreign { return try await attemptForeign(foreign, key) }
            let file = try requireLive()
            try await count(file, .count) { tally in tally.began(.recovery, Self.now())
            }
            let opened = await workers.disk.run {
                Result { () throws(KeyError) in SecretBox(try file.openRecovery(key.key)) }
            }
            switch opened {
            case .success(let storeKey):
                try await count(file, .clearCount) { tally in tally.right(.recovery) }
                return storeKey
            case .failure(.wrongSecret):
                try await count(file, .count) { tally in
                    _ = tally.wrong(.recovery, policy)
                }
                throw .recoveryKeyInvalid(.wrong)
            case .failure(let error):
                throw Self.refusal(error, .recover)
            }
        }
    }

    private func attemptForeign(
        _ file: UncheckedSlotFile, _ key: RecoveryKeyBox
    ) async throws(Refusal) -> SecretBox {
        foreignTally.began(.recovery, Self.now())
        let opened = await workers.disk.run {
            Result { () throws(KeyError) in SecretBox(try file.openRecovery(key.key)) }
        }
        switch opened {
        case .success(let storeKey):
            foreignTally.right(.recovery)
            return storeKey
        case .failure(.wrongSecret):
            _ = foreignTally.wrong(.recovery, .builtIn)
            throw .recoveryKeyInvalid(.wrong)
        case .failure(let error):
            throw Self.refusal(error, .recover)
        }
    }

    private static func recoveryKey(_ text: borrowing SecretBytes) throws(Refusal) -> RecoveryKey {
        do throws(RecoveryKey.TextError) {
            return try RecoveryKey(text: text)
        } catch {
            switch error {
            case .length:
                throw .recoveryKeyInvalid(.length)
            case .character(let group), .group(let group):
                throw .recoveryKeyInvalid(.group(group + 1))
            case .whole: throw .recoveryKeyInvalid(.whole)
            case .secrets: throw .outOfMemory
            }
        }
    }

    // MARK: changing slots

    /// The store key of a store in state none.
    func deviceKey() async throws(Refusal) -> SecretBox {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            return try await onDisk(file, .unlock) { (file) throws(KeyError) in
                SecretBox(try file.openDevice())
            }
        }
    }

    /// The new passcode is proven to open before the former one goes; a crash leaves one of the
    /// two, or both.
    func replacePasscode(
        key: SecretBox, with new: SecretBox, _ cost: KeyDerivation.Cost, followsLogin: Bool
    ) async throws(Refusal) {
        let change = try await slotChange(key, new, cost, followsLogin)
        try await inTurn(.own) { () async throws(Refusal) in
            if let foreign { return try await adopt(foreign, change) }
            let file = try requireLive()
            let present = provenSlot
            try await onDisk(file, .change) { (file) throws(KeyError) in
                guard let storeKey = change.key.take(), let derived = change.derived.take() else {
                    return
                }
                // The way first: a store that follows and has a passcode of its own is opened by it
                // all the same.
                var identity = file.identity
                identity.way = change.details.way
                identity.withoutPasscode = .hasPasscode
                try file.replacePasscode(
                    change.details, derived: derived, storeKey: storeKey, proven: present)
                if identity != file.identity { try file.write(identity) }
            }
        }
    }

    /// The new slot beside the present one: the next unlock proves one of them, and the other goes.
    func addPasscode(key: SecretBox, _ new: SecretBox, _ cost: KeyDerivation.Cost)
        async throws(Refusal)
    {
        let change = try await slotChange(key, new, cost, true)
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            let present = provenSlot
            try await onDisk(file, .follow) { (file) throws(KeyError) in
                guard let storeKey = change.key.take(), let derived = change.derived.take() else {
                    return
                }
                try file.addPasscode(
                    change.details, derived: derived, storeKey: storeKey, proven: present)
            }
        }
    }

    /// The slot that the last right passcode opened: the one to keep until a new one is proven.
    private var provenSlot: PasscodeSlot? {
        snapshot.passcodes.first { $0.sequence == proven?.sequence && $0.block == proven?.block }
    }

    private struct SlotChange: Sendable {
        let key: SecretBox
        let derived: SecretBox
        let details: PasscodeSlot.Details
    }

    private func slotChange(
        _ key: SecretBox, _ new: SecretBox, _ cost: KeyDerivation.Cost, _ followsLogin: Bool
    ) async throws(Refusal) -> SlotChange {
        let details: PasscodeSlot.Details
        do throws(SecretsError) {
            details = try PasscodeSlot.Details(
                cost: cost, setAt: Clock.wallSeconds(), way: followsLogin ? .followsLogin : .own)
        } catch {
            throw .outOfMemory
        }
        let derived = try await workers.deriveKey(new, details.salt, details.cost, .own)
        return SlotChange(key: key, derived: derived, details: details)
    }

    func turnOff(key: SecretBox) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .turnOff) { (file) throws(KeyError) in
                guard let storeKey = key.take() else { return }
                try file.replacePasscodeWithDevice(storeKey: storeKey)
                var identity = file.identity
                identity.withoutPasscode = .byChoice
                identity.way = .own
                try file.write(identity)
            }
        }
    }

    struct NewRecoveryKey: Sendable {
        /// Shown once.
        let text: SecretBox
        let slot: RecoverySlot
    }

    /// Makes a recovery key beside the former one, which stays until the new one was seen.
    func addRecoveryKey(key: SecretBox) async throws(Refusal) -> NewRecoveryKey {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            return try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                guard let storeKey = key.take() else { throw .noSuchSlot }
                let (made, text) = try Self.newRecoveryKey()
                let slot = try file.addRecovery(
                    made.key, setAt: Clock.wallSeconds(), storeKey: storeKey)
                return NewRecoveryKey(text: text, slot: slot)
            }
        }
    }

    /// The new key was shown: the former one opens nothing any more.
    func settle(_ new: NewRecoveryKey) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                try file.settleRecovery(on: new.slot)
            }
        }
    }

    /// Nobody saw the new key: the former one stays the one that opens.
    func withdraw(_ new: NewRecoveryKey) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                try file.withdrawRecovery(new.slot)
            }
        }
    }

    private nonisolated static func newRecoveryKey() throws(KeyError) -> (RecoveryKeyBox, SecretBox)
    {
        do throws(SecretsError) {
            let key = try RecoveryKey.random()
            let text = SecretBox(try key.text())
            return (RecoveryKeyBox(key), text)
        } catch {
            throw .secrets(error)
        }
    }

    private func adopt(_ foreign: UncheckedSlotFile, _ change: SlotChange) async throws(Refusal) {
        guard let machine = machineForAdoption else {
            throw .storeDamaged(.machineKeyMissing)
        }
        let folder = folder.path
        let id = id
        let adopted = await workers.disk.run { () -> Result<SlotFile, KeyError> in
            Result { () throws(KeyError) in
                guard let storeKey = change.key.take(), let derived = change.derived.take() else {
                    throw .noSuchSlot
                }
                // Nobody vouches for the slot but the records that its key opens.
                guard let records = try? Records(opening: folder, id: id.bytes, key: storeKey)
                else {
                    throw .damaged(.foreignMachineKey)
                }
                records.close()
                var identity = foreign.identity
                identity.way = change.details.way
                return try foreign.adopted(
                    by: machine, identity: identity, change.details, derived: derived,
                    storeKey: storeKey)
            }
        }
        switch adopted {
        case .failure(let error): throw Self.refusal(error, .recover)
        case .success(let file):
            self.file = file
            self.foreign = nil
            snapshot = Self.snapshot(of: file)
            health = .live
        }
    }

    /// Set by the vault for a store that was made under another machine's key.
    var machineForAdoption: MachineKey?

    func rewrite(_ change: @escaping @Sendable (inout Identity) -> Void) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .chown) { (file) throws(KeyError) in
                var identity = file.identity
                change(&identity)
                try file.write(identity)
            }
        }
    }

    // MARK: erasing

    private func erase(_ file: SlotFile) async throws(Refusal) {
        // Whatever happens from here on, nothing of this store opens again.
        health = .erased
        cancelShut()
        let folder = folder.path
        let keys = await workers.disk.run {
            Result { () throws(KeyError) in try file.eraseKeys() }
        }
        await records.close()
        if case .failure(let error) = keys { throw Self.refusal(error, .erase) }
        let gone = await workers.slow.run {
            Result { () throws(KeyError) in
                try Vault.destroyRecords(in: folder)
                try file.finishErasing()
            }
        }
        snapshot = Self.snapshot(of: file)
        if case .failure(let error) = gone { throw Self.refusal(error, .erase) }
    }

    /// For a reset: nothing stays but what the caller removes with the folder.
    func eraseForReset() async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            health = .erased
            cancelShut()
            let file = file
            let unchecked = unchecked
            let folder = folder
            // The keys first, by whatever way there is to them.
            let keys = await workers.disk.run { () -> Result<Void, KeyError> in
                Result { () throws(KeyError) in
                    if let file {
                        try file.eraseKeys()
                    } else if let unchecked {
                        try unchecked.overwriteKeys()
                    } else {
                        try SlotFile.overwrite(in: folder)
                    }
                }
            }
            await records.close()
            if case .failure(let error) = keys { throw Self.refusal(error, .erase) }
            let gone = await workers.slow.run {
                Result { () throws(KeyError) in try Vault.destroyRecords(in: folder.path) }
            }
            if case .failure(let error) = gone { throw Self.refusal(error, .erase) }
        }
    }

    // MARK: opening and locking

    /// Opens the records. What was open stays open.
    func open(_ key: SecretBox) async throws(Refusal) {
        _ = try requireLive()
        guard !records.isOpen else { return }
        cancelShut()
        try await records.open(folder.path, id, key)
    }

    func lock() async {
        cancelShut()
        await records.close()
    }

    /// Locks at that moment, unless a session of the owner comes first.
    func shut(at moment: UInt64, _ then: @escaping @LoopActor @Sendable () -> Void) {
        cancelShut()
        shutTimer = EventLoop.shared.at(moment) {
            EventLoop.shared.task {
                self.shutTimer = nil
                await self.lock()
                then()
            }
        }
    }

    func cancelShut() {
        if let timer = shutTimer { EventLoop.shared.cancel(timer) }
        shutTimer = nil
    }

    // MARK: records

    func value(
        of name: [UInt8], _ take: @LoopActor (Span<UInt8>) -> Void
    ) async throws(Refusal) {
        try await records.value(of: name, take)
    }

    func change(_ change: Change) async throws(Refusal) {
        try await records.change(change)
    }

    func names(prefix: [UInt8], cursor: UInt64) async throws(Refusal) -> Names {
        try await records.names(prefix: prefix, cursor: cursor)
    }

    /// For what walks over many records: export and import.
    func walk<R: Sendable>(
        _ body: @escaping @Sendable (Records) throws(RecordsError) -> R
    ) async throws(Refusal) -> R {
        try await records.walk(body)
    }

    // MARK: status

    func state(_ policy: Policy, _ voice: Voice, sessions: Int, lock: State.Lock?) -> State {
        let now = Self.now()
        var state = State(lock: lock ?? currentLock(policy))
        switch health {
        case .live: state.passcode = hasPasscode ? .passcode : .none
        case .erased, .damaged: state.passcode = .unknown
        }
        state.followsLogin = followsLogin
        state.hasRecoveryKey = hasRecovery
        state.store = id.bytes
        state.name = identity.storeName
        state.owner = Subject(name: identity.account, uid: identity.uid)
        let tally = snapshot.tally
        state.ownTriesLeft = Int32(clamping: tally.triesLeft(.own, policy) ?? -1)
        state.apartTriesLeft = Int32(clamping: tally.triesLeft(.apart, policy) ?? -1)
        if case .throttled(let seconds) = tally.verdict(.own, policy, now) {
            state.throttledSeconds = seconds
        }
        state.records = records.count
        state.passcodeSetAt = snapshot.passcodes.first?.details.setAt ?? 0
        state.sessions = UInt32(clamping: sessions)
        let trouble = trouble(state.lock)
        state.trouble = trouble.map { voice.bytes($0.what) } ?? []
        state.advice = trouble?.advice.map { voice.bytes($0) } ?? []
        return state
    }

    private func currentLock(_ policy: Policy) -> State.Lock {
        switch health {
        case .erased: return .erased
        case .damaged: return .damaged
        case .live:
            if records.damage != nil { return .damaged }
            if records.isOpen { return .unlocked }
            return hasPasscode && snapshot.tally.isRetryLocked(policy) ? .retryLocked : .locked
        }
    }

    private func trouble(_ lock: State.Lock) -> (what: Phrase, advice: Phrase?)? {
        switch lock {
        case .absent, .locked, .unlocked: return nil
        case .erased: return (Refusal.deleted.message, Refusal.deleted.hint)
        case .retryLocked:
            let refusal = Refusal.retryLimitReached(erased: false)
            return (refusal.message, refusal.hint)
        case .ownerChanged:
            return (
                Phrase(
                    .troubleOwnerChanged, .count(identity.uid), .text(Text.clean(identity.account))),
                Phrase(.adviceOwnerChanged, .text(id.description))
            )
        case .damaged:
            let what: Refusal.Damage
            if case .damaged(let found) = health {
                what = found
            } else {
                what = records.damage ?? .unknown
            }
            return (what.phrase, Phrase(isRecoverable ? .adviceRecover : .adviceRestore))
        }
    }
}

/// A recovery key on its way to a disk thread.
final class RecoveryKeyBox: Sendable {
    let key: RecoveryKey

    init(_ key: consuming RecoveryKey) {
        self.key = key
    }
}

/// This boot, read once.
enum Boot {
    static let id = BootID(Clock.bootID()) ?? .none
}
