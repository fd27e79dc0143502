import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Wire
import Words

/// All stores of this machine, and the key that their slots need.
@LoopActor
package final class Vault {
    package let stateFolder: String
    package let workers: Workers
    package let reserve: DiskReserve
    package private(set) var machine: MachineKey?
    package private(set) var machineTrouble: Refusal.Damage?
    private var hosts: [StoreID: StoreHost] = [:]
    private var byUID: [UInt32: [StoreHost]] = [:]
    private var reserved: Set<Place> = []
    /// Whose owner has left while the store was made.
    private var departed: [Place: Leave] = [:]
    private var allotments: [Person: Allotment] = [:]
    /// Called with each store when it is added. Set before the stores are loaded.
    package var prepare: (@LoopActor (StoreHost) -> Void)?
    /// What an organisation's orders say of each store. Set before the stores are loaded, too.
    package var orders: any StandingOrders = NoOrders()

    private nonisolated static let storesName = "stores"

    package init(stateFolder: String) {
        self.stateFolder = stateFolder
        reserve = DiskReserve(folder: stateFolder)
        workers = Workers(reserve: reserve)
    }

    // MARK: start

    private struct Found: Sendable {
        var machine: MachineKey?
        var machineTrouble: Refusal.Damage?
        var stores: [Entry] = []
        var notes: [(AuditEvent, String, String?)] = []
        /// Why the stores could not all be read.
        var failure: String?
    }

    /// One store's folder, and what was found in it.
    private struct Entry: Sendable {
        let id: StoreID
        let folder: Folder
        let contents: StoreHost.Contents
        let members: [VouchedMember]
        /// Files that are no member of this store.
        let damagedMembers: [String]
        let footprint: Footprint
        let lostTries: OwnerFile.LostTries
    }

    /// Loads all stores. Returns the reason if they could not all be read.
    package func open(_ note: (AuditEvent, String, String?) -> Void) async -> String? {
        let path = stateFolder
        let reserve = reserve
        let found = await workers.disk.run { Self.look(at: path, reserve) }
        machine = found.machine
        machineTrouble = found.machineTrouble
        for entry in found.stores { add(entry) }
        for (event, text, store) in found.notes { note(event, text, store) }
        await sweepFingers()
        return found.failure
    }

    /// Removes the fingers of stores that are gone or erased, or that no finger opens. The fingers
    /// of a damaged store stay, because it is unknown whether they open it. The owner files of
    /// stores that are gone go as well.
    private func sweepFingers() async {
        let keeping = Set(
            hosts.values.filter {
                $0.health != .erased && ($0.health != .live || $0.fingerprintIsOn)
            }
            .map(\.id))
        let all = Set(hosts.keys)
        let path = stateFolder
        await workers.disk.run {
            guard let state = try? Folder(path: path) else { return }
            try? FingerFolder.sweep(in: state, keeping: keeping)
            try? OwnerFile.sweep(in: state, keeping: all)
        }
    }

    private nonisolated static func look(at path: String, _ reserve: DiskReserve) -> Found {
        var found = Found()
        do throws(PosixError) {
            let state = try Folder(path: path)
            if !state.exists(storesName) {
                try state.makeFolder(storesName)
                try state.sync()
            }
            do throws(KeyError) {
                found.machine = try MachineKey.load(in: state)
            } catch {
                found.machineTrouble =
                    error == .missing ? .machineKeyMissing : .machineKeyUnreadable
            }
            let stores = try state.folder(storesName)
            removeLeftovers(stores)
            for name in try TextFile.names(in: stores.path) {
                guard let id = StoreID(text: name) else {
                    found.notes.append(
                        (.fault, "an entry in the stores folder is not a store", nil))
                    continue
                }
                // A store that cannot be read now must not count as "none": its owner would be told
                // to make another one. It is better that the daemon does not start.
                let entry = entry(
                    id, try stores.folder(name), in: state, found.machine, found.machineTrouble,
                    reserve)
                switch entry.contents {
                case .damaged(_, let what, _), .unreadable(_, let what):
                    found.notes.append((.fault, Refusal.storeDamaged(what).message.english, name))
                case .live(let file, _):
                    for number in file.lost {
                        let damage = Refusal.storeDamaged(.slotsBlock(number))
                        found.notes.append((.fault, damage.message.english, name))
                    }
                    for file in entry.damagedMembers {
                        found.notes.append((.fault, "a member's file is damaged: \(file)", name))
                    }
                case .erased: break
                }
                found.stores.append(entry)
            }
        } catch {
            found.failure = error.description
        }
        return found
    }

    private nonisolated static func entry(
        _ id: StoreID, _ folder: Folder, in state: Folder, _ machine: MachineKey?,
        _ machineTrouble: Refusal.Damage?, _ reserve: DiskReserve
    ) -> Entry {
        let owner = OwnerFile.read(of: id, in: state, machine)
        let contents = read(folder, id, machine, machineTrouble, reserve, owner)
        var tries = owner?.tries ?? OwnerFile.LostTries(areSpent: true)
        if let machine, case .live(let file, let snapshot) = contents {
            // From here on a file that was lost or never made is there, and says what the slots
            // file says. What tries that cannot be read come to, it alone says.
            if !file.triesAreLost {
                // What a last try has noted stays, also where that try was cut short, until the
                // count is cleared.
                tries = OwnerFile.LostTries(areSpent: tries.areSpent && !snapshot.tally.isClear)
            } else if tries.since == .never {
                tries.since = StoreHost.now()
            }
            // If it cannot be written, the next start tries again.
            if let right = try? OwnerFile(snapshot.identity, tries), right != owner {
                try? right.write(of: id, in: state, machine, reserve)
            }
        }
        let members = machine.flatMap {
            try? MemberFolder(in: folder, store: id, machine: $0).all()
        }
        return Entry(
            id: id, folder: folder, contents: contents, members: members?.latest ?? [],
            damagedMembers: members?.damaged ?? [],
            footprint: Footprint(of: id, folder, in: state), lostTries: tries)
    }

    private nonisolated static func read(
        _ folder: Folder, _ id: StoreID, _ machine: MachineKey?, _ machineTrouble: Refusal.Damage?,
        _ reserve: DiskReserve, _ owner: OwnerFile?
    ) -> StoreHost.Contents {
        let unchecked: UncheckedSlotFile
        do throws(KeyError) {
            unchecked = try SlotFile.open(in: folder, store: id, reserve: reserve, owner: owner)
        } catch {
            return .unreadable(owner?.likelyOwner, what: damage(error))
        }
        guard let machine else {
            return .damaged(
                unchecked, what: machineTrouble ?? .machineKeyMissing,
                isRecoverable: false)
        }
        do throws(KeyError) {
            let file = try unchecked.checked(with: machine)
            switch file.identity.condition {
            case .live: return .live(file, StoreHost.snapshot(of: file))
            case .erased: return .erased(file.identity)
            case .erasing:
                // A power cut interrupted the erasing: finish it.
                try file.eraseKeys()
                try destroyRecords(in: folder.path)
                try file.finishErasing()
                return .erased(file.identity)
            }
        } catch {
            // It is damage elsewhere, or another machine's key. The recovery key depends on
            // neither.
            return .damaged(
                unchecked, what: damage(error), isRecoverable: unchecked.hasReadableRecovery)
        }
    }

    private nonisolated static func damage(_ error: KeyError) -> Refusal.Damage {
        switch error {
        case .damaged(let damage): StoreHost.damage(damage)
        case .missing: .slotsMissing
        case .storage(let error): .system(error.description)
        case .wrongSecret, .erased, .noSuchSlot, .tooLong, .alreadyExists, .storesExist, .secrets:
            .slotsUnreadable
        }
    }

    /// Removes stores whose making or whose reset was not finished. Their names begin with a dot.
    private nonisolated static func removeLeftovers(_ stores: Folder) {
        guard let names = try? TextFile.names(in: stores.path, dotted: true) else { return }
        for name in names
        where name.hasPrefix(".") && StoreID(text: String(name.dropFirst())) != nil {
            guard let folder = try? stores.folder(name) else { continue }
            // Of a reset that was cut short, the keys may still be there.
            guard (try? SlotFile.overwrite(in: folder)) != nil else { continue }
            try? removeAll(folder, name, from: stores)
        }
    }

    private nonisolated static func removeAll(_ folder: Folder, _ name: String, from stores: Folder)
        throws(KeyError)
    {
        try MemberFolder.removeAll(in: folder)
        try destroyRecords(in: folder.path)
        do throws(PosixError) {
            if folder.exists(SlotFile.fileName) { try folder.remove(SlotFile.fileName) }
            try stores.removeFolder(name)
            try stores.sync()
        } catch {
            throw .storage(error)
        }
    }

    package nonisolated static func destroyRecords(in path: String) throws(KeyError) {
        do throws(RecordsError) {
            try Records.destroy(inFolder: path)
        } catch {
            throw .storage(PosixError(call: "overwriting the records", number: 5))
        }
    }

    // MARK: looking up

    private func add(_ entry: Entry) {
        let host = StoreHost(
            id: entry.id, folder: entry.folder, workers: workers, contents: entry.contents,
            members: entry.members,
            damagedMembers: Set(
                entry.damagedMembers.compactMap(MemberFolder.person)
            ).subtracting(entry.members.compactMap(\.member.who.uid)))
        host.lostTries = entry.lostTries
        add(host, entry.footprint)
    }

    private func add(_ host: StoreHost, _ footprint: Footprint) {
        host.records.allotment = allotment(of: host.owner)
        host.records.take(footprint.records, besides: footprint.besides)
        host.machineForAdoption = machine
        host.stateFolder = stateFolder
        host.followers = { [weak self, weak host] in
            host.flatMap { self?.followers(of: $0) } ?? []
        }
        prepare?(host)
        follow(orders, host)
        hosts[host.id] = host
        if host.isShared || host.isConfiguration { sharedStores.append(host) }
        byUID[host.identity.uid, default: []].append(host)
        tie(host.identity.uid)
    }

    /// Tells each store of this person which one it follows.
    private func tie(_ uid: UInt32) {
        for host in stores(of: uid) {
            let parent = host.identity.kind.parent.flatMap { hosts[$0] }
            // Only its own owner's store opens it, whatever root has done with that one; and only
            // one that slots of its own open, whatever the file says.
            host.parent = parent.flatMap {
                $0.owner == host.owner && $0.identity.kind == .own ? $0 : nil
            }
        }
    }

    /// The stores that follow this one.
    package func followers(of host: StoreHost) -> [StoreHost] {
        stores(of: host.identity.uid).filter { $0.parent === host && $0.isFollower }
    }

    private func forget(_ host: StoreHost, isGone: Bool = true) {
        hosts[host.id] = nil
        sharedStores.removeAll { $0 === host }
        // What still ends on this store now is on no person's quota.
        host.records.allotment = Allotment()
        byUID[host.identity.uid]?.removeAll { $0 === host }
        tie(host.identity.uid)
        host.tell(isGone ? .removed : .changed)
    }

    /// The open stores, and all stores.
    package var openStores: [StoreHost] { hosts.values.filter { $0.isOpen } }
    package var all: [StoreHost] { Array(hosts.values) }

    package var hasOpenStores: Bool { hosts.values.contains { $0.isOpen } }
    /// What a finger opens would be lost with the daemon.
    package var hasResidents: Bool { hosts.values.contains { $0.resident != nil } }

    /// The allotment of the stores whose owner has this uid and this name.
    package func allotment(of person: Person) -> Allotment {
        if let known = allotments[person] { return known }
        let made = Allotment()
        // Nothing has to be remembered about people without a store.
        if allotments.count > 2 * hosts.count + 64 {
            for (owner, kept) in allotments where kept.isUnused { allotments[owner] = nil }
        }
        allotments[person] = made
        return made
    }

    package func host(_ id: StoreID) -> StoreHost? { hosts[id] }

    package func stores(of uid: UInt32) -> [StoreHost] { byUID[uid] ?? [] }

    /// Those that have members.
    package private(set) var sharedStores: [StoreHost] = []

    /// What opens the shared stores of this person: their default store, while it is open.
    package func ring(of person: Person) -> Ring? {
        guard let own = ownStore(of: person, named: []), own.isOpen else { return nil }
        return own.ring
    }

    /// To which others seal what they share with this person. Nobody shares with a store that opens
    /// without a question.
    package func publicKey(of person: Person) -> [UInt8]? {
        guard let own = ownStore(of: person, named: []), own.isLive, own.hasPasscode else {
            return nil
        }
        return own.snapshot.memberKey?.publicKey
    }

    /// Stores that are too damaged to say whose they are. They may be anybody's, so only root is
    /// told of them.
    package var storesOfNobody: [StoreHost] { byUID[StoreHost.nobody.uid] ?? [] }

    package func hasStore(_ person: Person) -> Bool {
        stores(of: person.uid).contains { $0.identity.account == person.name }
    }

    package static let defaultName = Array("default".utf8)

    private static func name(_ asked: [UInt8]) -> [UInt8] {
        asked.isEmpty ? defaultName : asked
    }

    /// The person's store of that name. If only the owner's uid or only the owner's name still
    /// fits, the store stays shut, because either can be given to another person.
    package func store(of person: Person, named asked: [UInt8] = []) throws(Refusal) -> StoreHost? {
        if let own = ownStore(of: person, named: asked) { return own }
        if strayStore(of: person, named: asked) != nil {
            throw .notPermitted(.ownerChanged)
        }
        return nil
    }

    /// The store of that name whose owner has the person's uid and name.
    package func ownStore(of person: Person, named asked: [UInt8]) -> StoreHost? {
        let name = Self.name(asked)
        return stores(of: person.uid).first {
            $0.identity.storeName == name && $0.identity.account == person.name
        }
    }

    /// A store of that name whose owner has either the person's uid or the person's name, but not
    /// both.
    package func strayStore(of person: Person, named asked: [UInt8]) -> StoreHost? {
        let name = Self.name(asked)
        return hosts.values.first { host in
            let identity = host.identity
            return identity.storeName == name
                && (identity.uid == person.uid) != (identity.account == person.name)
        }
    }

    // MARK: making and removing

    package struct NewStore {
        package let host: StoreHost
        /// The store key, for a recovery key that is shown next.
        package let opening: Opening
    }

    /// What a new store is called, and under which rules it is.
    package struct Label: Sendable {
        package var name: [UInt8]
        /// Nil: a new one.
        package var id: StoreID?
        package var policyKey: [UInt8]

        package init(
            _ name: [UInt8], id: StoreID? = nil, policyKey: [UInt8] = Array("default".utf8)
        ) {
            self.name = name
            self.id = id
            self.policyKey = policyKey
        }
    }

    /// Makes a store and opens it. It exists from the moment its folder has its name: what a crash
    /// leaves before that is removed at the next start.
    package func create(
        for person: Person, _ label: Label, _ start: consuming StoreStart,
        _ cost: KeyDerivation.Cost, _ policy: Policy
    ) async throws(Refusal) -> NewStore {
        if let bar = orders.bar(of: person) { throw .barred(bar) }
        let name = Self.name(label.name)
        let follows = start.ring != nil
        let coming = reserved.count { $0.uid == person.uid && $0.follows == follows }
        let present = stores(of: person.uid).count { $0.isFollower == follows }
        let most = follows ? Self.followersEach : Self.storesEach
        guard present + coming < most else {
            throw .invalidAction(
                action: .create,
                reason: follows ? .tooManyFollowers(most) : .tooManyStores(most))
        }
        if let id = label.id, hosts[id] != nil { throw .alreadyExists }
        // Its person may have typed for minutes.
        guard
            !stores(of: person.uid).contains(where: {
                $0.identity.storeName == name && $0.identity.account == person.name
            })
        else { throw .alreadyExists }
        // Two creations at once: the second is refused before anything is made.
        let place = Place(uid: person.uid, name: name, follows: follows)
        guard reserved.insert(place).inserted else { throw .alreadyExists }
        departed[place] = nil
        defer { reserved.remove(place) }
        let allotment = allotment(of: person)
        allotment.follow(policy, reading: nil)
        if let left = allotment.left, left < Footprint.ofNew {
            _ = await allotment.emptyLogs(besides: nil)
        }
        let promise = allotment.promise(most: Footprint.ofNew)
        defer { allotment.end(promise) }
        guard promise?.isAmple ?? true else { throw allotment.refusal }
        var identity = Identity(
            uid: person.uid, account: person.name, createdAt: Clock.wallSeconds(),
            way: start.way, withoutPasscode: start.withoutPasscode,
            storeName: name, policyKey: label.policyKey, kind: start.kind)
        let ring = start.ring
        let publicKey = start.publicKey
        let passcode = try await derived((consume start).coming, cost, policy, of: person.uid)
        // The orders may have changed while it was derived.
        if let bar = orders.bar(of: person) { throw .barred(bar) }
        identity.madeUnder = orders.mark
        let made = identity
        let now = Clock.wallSeconds()
        let terms = Terms(
            fingerprintWasAllowed: policy.allowFingerprint,
            seenAt: now < BuildDate.seconds ? 0 : now)
        let path = stateFolder
        let key = machine
        let reserve = reserve
        let id = label.id
        let built = await workers.disk.run { () -> Result<Built, KeyError> in
            Result { () throws(KeyError) in
                let id = try Self.id(or: id)
                return try Self.build(
                    in: path, id, reserve, key, made, terms, passcode, ring, publicKey)
            }
        }
        switch built {
        case .failure(let error): throw StoreHost.refusal(error, .create)
        case .success(let built):
            machine = built.machine
            machineTrouble = nil
            let contents = StoreHost.Contents.live(built.file, StoreHost.snapshot(of: built.file))
            let host = StoreHost(
                id: built.id, folder: built.folder, workers: workers, contents: contents)
            host.members = built.members
            add(host, built.footprint)
            // Its owner may be away: a program may make a store that follows an open one.
            if let parent = host.parent { host.take(parent.times) }
            if let leave = departed.removeValue(forKey: place) { host.ownerLeft(leave) }
            let made = Opening(key: built.key, ground: host.standingGround, departures: 0)
            if host.isFollower || host.isShared {
                // Nobody has shown anything for it: an owner who is away stays away.
                try await host.open(built.key, .storeKey, made.ground, nil)
            } else {
                try await host.open(made)
            }
            return NewStore(host: host, opening: made)
        }
    }

    /// Each holds two descriptors as long as the daemon runs.
    private static let storesEach = 16
    /// Besides those. A program may keep each of its things in a store of its own.
    private static let followersEach = 64

    /// A person has left: returns their stores. A store that is being made learns of it when it is
    /// there.
    package func ownerLeft(_ uid: UInt32, _ leave: Leave) -> [StoreHost] {
        for place in reserved where place.uid == uid { departed[place] = leave }
        return stores(of: uid)
    }

    private struct Place: Hashable {
        let uid: UInt32
        let name: [UInt8]
        let follows: Bool

        static func == (here: Place, there: Place) -> Bool {
            here.uid == there.uid && here.name == there.name
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(uid)
            hasher.combine(name)
        }
    }

    private struct Derived: Sendable {
        let key: SecretBox
        let details: PasscodeDetails
        let history: HistoryChange?
    }

    private struct Built: Sendable {
        let machine: MachineKey
        let id: StoreID
        let folder: Folder
        let file: SlotFile
        let key: StoreKey
        let members: [VouchedMember]
        let footprint: Footprint
    }

    private func derived(
        _ coming: ComingPasscode?, _ cost: KeyDerivation.Cost, _ policy: Policy, of uid: UInt32
    ) async throws(Refusal) -> Derived? {
        guard let coming else { return nil }
        let details = try coming.details(cost)
        var history: HistoryChange?
        if case .own(let typed, _) = coming, policy.historyCount > 0 {
            let hash = try await workers.deriveKey(
                typed, details.salt, PasscodeHistory.cost, .apart,
                of: uid)
            history = HistoryChange(
                former: nil, present: HistoryHash(of: details, hash: hash),
                keep: Int(policy.historyCount))
        }
        let key = try await workers.deriveKey(
            coming.typed, details.salt, details.cost, .apart, of: uid)
        return Derived(key: key, details: details, history: history)
    }

    private nonisolated static func id(or given: StoreID?) throws(KeyError) -> StoreID {
        if let given { return given }
        do { return try StoreID.random() } catch { throw .secrets(error) }
    }

    private nonisolated static func build(
        in path: String, _ id: StoreID, _ reserve: DiskReserve, _ present: MachineKey?,
        _ identity: Identity, _ terms: Terms, _ passcode: Derived?, _ ring: Ring?,
        _ publicKey: [UInt8]?
    ) throws(KeyError) -> Built {
        let state: Folder
        let stores: Folder
        let folder: Folder
        let hidden = ".\(id)"
        do throws(PosixError) {
            // The records are written twice: first to their log.
            guard try reserve.roomForRecords() >= 2 * Footprint.ofNew else {
                throw PosixError.noSpace("making a store")
            }
            state = try Folder(path: path)
            stores = try state.folder(storesName)
            try stores.makeFolder(hidden)
            folder = try stores.folder(hidden)
        } catch {
            throw .storage(error)
        }
        do throws(KeyError) {
            let machine: MachineKey
            if let present { machine = present } else { machine = try firstKey(in: state) }
            let key: SecretBytes
            do { key = try SecretBytes.random(32) } catch { throw KeyError.secrets(error) }
            do throws(RecordsError) {
                let records = try Records.create(inFolder: folder.path, id: id.bytes, key: key)
                records.close()
            } catch {
                throw .storage(PosixError("making the records", error))
            }
            let file = try SlotFile.create(
                in: folder, store: id, identity: identity, machine: machine, reserve: reserve)
            if let passcode, let derived = passcode.key.take() {
                try file.replacePasscode(
                    passcode.details, derived: derived, storeKey: key, proven: nil,
                    with: Along(history: passcode.history, terms: terms))
            } else if identity.kind == .shared {
                try file.write(terms)
            } else if let ring {
                try file.follow(ring.following, storeKey: key, with: Along(terms: terms))
            } else {
                try file.replacePasscodeWithDevice(storeKey: key, with: Along(terms: terms))
            }
            var members: [VouchedMember] = []
            if let owner = try Self.owner(identity, publicKey, key, id) {
                try MemberFolder(in: folder, store: id, machine: machine, reserve: reserve)
                    .write(owner)
                members = [owner]
            }
            do throws(PosixError) {
                try stores.rename(hidden, to: "\(id)")
                do throws(PosixError) {
                    try stores.sync()
                } catch {
                    // A store that is not certain to be on the disk counts as not made.
                    try? stores.rename("\(id)", to: hidden)
                    throw error
                }
                let made = try stores.folder("\(id)")
                // If this fails, the next start writes it.
                try? OwnerFile(identity, OwnerFile.LostTries()).write(
                    of: id, in: state, machine, reserve)
                return Built(
                    machine: machine, id: id, folder: made, file: file, key: StoreKey(key),
                    members: members, footprint: Footprint(of: id, made, in: nil))
            } catch {
                throw .storage(error)
            }
        } catch {
            try? removeAll(folder, hidden, from: stores)
            throw error
        }
    }

    /// Who makes a store that is shared is its first member.
    private nonisolated static func owner(
        _ identity: Identity, _ publicKey: [UInt8]?, _ key: borrowing SecretBytes, _ id: StoreID
    ) throws(KeyError) -> VouchedMember? {
        guard identity.kind == .shared || identity.kind == .configuration else { return nil }
        var owner = Member(
            .person(uid: identity.uid, name: identity.account), .owner,
            addedAt: identity.createdAt, addedBy: identity.uid)
        if let publicKey { try owner.seal(key, to: publicKey) }
        return try VouchedMember(owner, key, generation: 1, store: id)
    }

    /// Makes the machine key for the first store. If several people create theirs at the same time,
    /// one makes the key and the others load it.
    private nonisolated static func firstKey(in state: Folder) throws(KeyError) -> MachineKey {
        do throws(KeyError) {
            return try MachineKey.make(in: state)
        } catch {
            switch error {
            case .alreadyExists, .storesExist:
                do throws(KeyError) {
                    return try MachineKey.load(in: state)
                } catch {
                    throw error == .missing ? .storesExist : error
                }
            case .missing, .damaged, .wrongSecret, .erased, .noSuchSlot, .tooLong, .storage,
                .secrets:
                throw error
            }
        }
    }

    /// A reset: overwrites the store and removes its folder, so that the name is free.
    package func remove(_ host: StoreHost) async throws(Refusal) {
        let path = stateFolder
        let id = host.id
        try await host.eraseForReset { () throws(KeyError) in try Self.hide(id, path).moved }
        let removed = await workers.disk.run {
            Result { () throws(KeyError) in
                let hidden = try Self.hide(id, path)
                try Self.removeAll(hidden.moved, ".\(id)", from: hidden.stores)
                // What is left of it is removed at the next start.
                if let state = try? Folder(path: path) { try? OwnerFile.remove(of: id, in: state) }
            }
        }
        if case .failure(let error) = removed { throw StoreHost.refusal(error, .remove) }
        forget(host)
    }

    /// Gives a store's folder the name of one that the next start removes, unless it has it
    /// already.
    private nonisolated static func hide(
        _ id: StoreID, _ path: String
    ) throws(KeyError) -> (stores: Folder, moved: Folder) {
        let (name, hidden) = ("\(id)", ".\(id)")
        do throws(PosixError) {
            let stores = try Folder(path: path).folder(storesName)
            if stores.exists(name) {
                try stores.rename(name, to: hidden)
                try stores.sync()
            }
            return (stores, try stores.folder(hidden))
        } catch {
            throw .storage(error)
        }
    }

    /// With it go the stores that follow it.
    package func chown(_ host: StoreHost, to owner: Person) async throws(Refusal) {
        // Its organisation would not find it any more.
        if case .barred(let bar) = host.health { throw .barred(bar) }
        if host.isFollower, let parent = host.parent {
            throw .invalidAction(
                action: .chown, reason: .follows(Text.clean(parent.identity.storeName)))
        }
        guard host.isUsable || host.health == .erased else {
            return try await chownDamaged(host, to: owner)
        }
        let all = [host] + followers(of: host).filter(\.isUsable)
        for each in all where isTaken(each.identity.storeName, by: owner, besides: each) {
            throw .alreadyExists
        }
        for each in all { try await give(each, to: owner) }
    }

    private func give(_ host: StoreHost, to owner: Person) async throws(Refusal) {
        // Otherwise an open store would stay open for its former owner, and the former owner's
        // fingers would still open it.
        await host.lock()
        if host.fingerprintIsOn { try await host.turnFingerprintOff() }
        let former = host.identity.uid
        try await host.rewrite { identity in
            identity.uid = owner.uid
            identity.account = owner.name
        }
        host.records.allotment = allotment(of: owner)
        byUID[former]?.removeAll { $0 === host }
        byUID[owner.uid, default: []].append(host)
        tie(former)
        tie(owner.uid)
        follow(orders, host)
        // If this fails, the next start writes it.
        if let machine { _ = await host.write(host.identity, host.lostTries, machine) }
    }

    /// Whether somebody may have one more store, and this one.
    package func requireRoom(for host: StoreHost, of owner: Person) throws(Refusal) {
        guard !isTaken(host.identity.storeName, by: owner, besides: host) else {
            throw .alreadyExists
        }
        let coming = reserved.count { $0.uid == owner.uid && !$0.follows }
        guard stores(of: owner.uid).count(where: { !$0.isFollower }) + coming < Self.storesEach
        else { throw .invalidAction(action: .share, reason: .tooManyStores(Self.storesEach)) }
        let allotment = allotment(of: owner)
        guard allotment.left.map({ $0 >= host.records.bytes }) ?? true else {
            throw allotment.refusal
        }
    }

    /// A member of a shared store becomes its owner, and the owner before a member who writes.
    package func handOn(
        _ host: StoreHost, to owner: Person, if isStillSo: StoreHost.Proviso
    ) async throws(Refusal) {
        try requireRoom(for: host, of: owner)
        let name = host.identity.storeName
        let place = Place(uid: owner.uid, name: name, follows: false)
        guard reserved.insert(place).inserted else { throw .alreadyExists }
        defer { reserved.remove(place) }
        let former = host.identity.uid
        let isPossible: StoreHost.Proviso = { () throws(Refusal) in
            guard host.identity.storeName == name, host.identity.uid == former else {
                throw .busy
            }
            try isStillSo()
        }
        try await host.rewrite(if: isPossible) { identity in
            identity.uid = owner.uid
            identity.account = owner.name
        }
        host.records.allotment = allotment(of: owner)
        byUID[former]?.removeAll { $0 === host }
        byUID[owner.uid, default: []].append(host)
        if let machine { _ = await host.write(host.identity, host.lostTries, machine) }
        host.tell(.members)
    }

    /// Gives it another name, which none of its owner's stores has.
    package func rename(_ host: StoreHost, to name: [UInt8]) async throws(Refusal) {
        let place = Place(uid: host.identity.uid, name: name, follows: host.isFollower)
        guard !isTaken(name, by: host.owner, besides: host), reserved.insert(place).inserted
        else { throw .alreadyExists }
        defer { reserved.remove(place) }
        let owner = host.owner
        let isPossible: StoreHost.Proviso = { () throws(Refusal) in
            guard host.owner == owner else { throw .notPermitted(.ownerOnly) }
        }
        try await host.rewrite(.rename, if: isPossible) { $0.storeName = name }
        // If this fails, the next start writes it.
        if let machine { _ = await host.write(host.identity, host.lostTries, machine) }
    }

    private func isTaken(_ name: [UInt8], by owner: Person, besides host: StoreHost) -> Bool {
        stores(of: owner.uid).contains {
            $0 !== host && $0.identity.storeName == name && $0.identity.account == owner.name
        }
    }

    /// Root says whose a damaged store is. What is left of it is read again then: it may open, its
    /// owner is told what helps, or may erase it.
    private func chownDamaged(_ host: StoreHost, to owner: Person) async throws(Refusal) {
        guard let machine else { throw .storeDamaged(machineTrouble ?? .machineKeyMissing) }
        var identity = host.identity
        identity.uid = owner.uid
        identity.account = owner.name
        if identity.policyKey.isEmpty { identity.policyKey = Self.defaultName }
        if identity.storeName.isEmpty { identity.storeName = Self.defaultName }
        // The owner may have made another one meanwhile. So that both can be reached, and the
        // damaged one erased, it is called what its folder is called.
        if isTaken(identity.storeName, by: owner, besides: host) {
            identity.storeName = Array("\(host.id)".utf8)
        }
        let path = stateFolder
        let (id, folder, reserve, tries) = (host.id, host.folder, reserve, host.lostTries)
        let known = identity
        let unchecked = host.unchecked
        let result = try await host.inTurn(.own) { () async throws(Refusal) in
            await workers.disk.run {
                Result { () throws(KeyError) -> Entry in
                    let state: Folder
                    do throws(PosixError) {
                        state = try Folder(path: path)
                    } catch {
                        throw .storage(error)
                    }
                    try OwnerFile(known, tries).write(of: id, in: state, machine, reserve)
                    try unchecked?.write(known, machine)
                    return Self.entry(id, folder, in: state, machine, nil, reserve)
                }
            }
        }
        switch result {
        case .failure(let error): throw StoreHost.refusal(error, .chown)
        case .success(let entry):
            forget(host, isGone: false)
            add(entry)
        }
    }

    // MARK: all of them

    /// A session of the person has begun: what a login opened stays open.
    package func followed(_ person: Person) {
        for host in stores(of: person.uid) { host.cancelShut() }
    }

    /// Locks all stores at the same time, because one of them may have to wait for its disk.
    package func lockAll() async {
        let locks = withKeys.map { host in EventLoop.shared.task { await host.lock() } }
        for lock in locks { await lock.value }
    }

    /// Milliseconds. systemd waits for ten seconds.
    private static let leaving: UInt64 = 4_000

    /// Closes all stores like `lockAll`, and returns those that the next daemon may open.
    package func leaveAll() async -> [StoreHost.Leaving] {
        var left: [StoreHost.Leaving] = []
        let leaves = withKeys.map { host in
            EventLoop.shared.task {
                if let leaving = await host.leave() {
                    left.append(leaving)
                } else {
                    await host.lock()
                }
            }
        }
        let ended = EventLoop.shared.task { for leave in leaves { await leave.value } }
        var isOver = false
        EventLoop.shared.task {
            await ended.value
            isOver = true
        }
        // One store's slow disk does not lock all others.
        let end = Clock.bootMilliseconds() + Self.leaving
        while !isOver, Clock.bootMilliseconds() < end {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 2)
        }
        return left
    }

    /// The stores whose keys are in memory: also those that are closed for requests because their
    /// idle time is over.
    package var withKeys: [StoreHost] { hosts.values.filter { $0.records.isOpen } }
}

extension PosixError {
    init(_ call: String, _ error: RecordsError) {
        switch error {
        case .full: self = .noSpace(call)
        case .outOfDescriptors: self = .outOfDescriptors(call)
        case .readOnly: self = .readOnly(call)
        case .damaged, .exists, .missing, .closed, .busy, .outOfMemory, .bufferTooSmall, .io:
            self = PosixError(call: call, number: 5)
        }
    }
}
