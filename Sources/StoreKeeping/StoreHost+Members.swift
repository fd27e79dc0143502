import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Words

/// A store that is shared: each of its members has a slot, which their own store opens.
extension StoreHost {
    /// Opened by its members' stores.
    package var isShared: Bool { identity.kind == .shared }
    /// Opened by the device, for its members.
    package var isConfiguration: Bool { identity.kind == .configuration }

    /// What a person may do with it; nil where they are no member. Where nobody can tell their
    /// groups, what was known of them when they got their slot still holds.
    package func role(of person: Person, groups: [[UInt8]]?) -> Member.Role? {
        if owner == person { return .owner }
        var role: Member.Role?
        func take(_ other: Member.Role) {
            role = role.map { $0.rawValue <= other.rawValue ? $0 : other } ?? other
        }
        for member in members.map(\.member) {
            switch member.who {
            case .person(person.uid, person.name) where member.role == .owner:
                // It is offered to them.
                take(.writer)
            case .person(person.uid, person.name):
                if !member.isByGroup || groups == nil { take(member.role) }
            case .person: break
            case .group(_, let name): if groups?.contains(name) == true { take(member.role) }
            case .everybody: take(member.role)
            case .recoveryKey: break
            }
        }
        return role
    }

    /// Without the slots of the recovery key.
    package var sharedWith: [Member] {
        members.map(\.member).filter { if case .recoveryKey = $0.who { false } else { true } }
    }

    /// They were a member, and their file cannot be read.
    package func isDamaged(_ who: Member.Who) -> Bool {
        who.uid.map(damagedMembers.contains) ?? false
    }

    /// The member slot of this person, whichever key it is sealed to.
    package func member(_ person: Person) -> VouchedMember? {
        members.first { $0.member.who == .person(uid: person.uid, name: person.name) }
    }

    /// One that does not open for them is sealed to a key that went with their own store: somebody
    /// has to share it with them once more.
    package func hasSlot(_ person: Person) -> Bool {
        member(person)?.member.slot != nil
    }

    package func opens(for person: Person, _ publicKey: [UInt8]?) -> Bool {
        member(person)?.member.isSealed(to: publicKey) == true
    }

    var memberFolder: MemberFolder? {
        machineForAdoption.map {
            MemberFolder(in: folder, store: id, machine: $0, reserve: workers.reserve)
        }
    }

    // MARK: opening

    /// The store key, by what the member's own store opens, and its generation.
    package func memberKey(
        _ ring: Ring, _ person: Person
    ) async throws(Refusal) -> SharedKey {
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let who = Member.Who.person(uid: person.uid, name: person.name)
        let (id, path) = (id, self.folder.path)
        let isOpen = records.isOpen ? keyGeneration : nil
        let found = await workers.disk.run { () -> Result<SharedKey?, KeyError> in
            Result { () throws(KeyError) in
                guard let member = ring.member else { return nil }
                return try Self.key(of: who, member, try folder.all(), id, path, isOpen)
            }
        }
        switch found {
        case .failure(let error): throw Self.refusal(error, .unlock)
        case .success(nil): throw .invalidAction(action: .unlock, reason: .membershipPending)
        case .success(let found?): return found
        }
    }

    /// After a crash in the middle of a new key there may be two generations of slots: what opens
    /// the records says which counts. The records of an open store have said so already.
    nonisolated static func key(
        of who: Member.Who, _ privateKey: StoreKey, _ found: MemberFolder.Found, _ id: StoreID,
        _ path: String, _ known: UInt32?
    ) throws(KeyError) -> SharedKey? {
        let publicKey: [UInt8]
        do { publicKey = try SealedBox.publicKey(of: privateKey.bytes) } catch {
            throw .secrets(error)
        }
        let slots = found.members.filter {
            $0.member.who == who && $0.member.isSealed(to: publicKey)
                && (known == nil || $0.generation == known)
        }
        for slot in slots.sorted(by: { $0.generation > $1.generation }) {
            let key = StoreKey(try slot.open(with: privateKey.bytes, store: id))
            let isIt =
                slots.count == 1
                || (try? Records.opens(
                    inFolder: path, id: id.bytes, key: key.bytes,
                    keyGeneration: slot.generation)) == true
            if isIt { return SharedKey(key, generation: slot.generation) }
        }
        return nil
    }

    /// Opens it for a member whose own store is open.
    package func openShared(_ ring: Ring, _ person: Person) async throws(Refusal) {
        guard !records.isOpen else { return }
        try await openShared(try await memberKey(ring, person))
    }

    func openShared(_ key: SharedKey) async throws(Refusal) {
        let wasOpen = records.isOpen
        try await open(
            key.key, .storeKey, .member(proven: nil), nil, generation: key.generation)
        if !wasOpen { try await settleMembers(key) }
    }

    /// What a crash has left of another generation goes, or of a recovery key without its slot, and
    /// only those count from here on whom somebody with the store key has made members.
    package func settleMembers(_ key: SharedKey) async throws(Refusal) {
        guard let folder = memberFolder else { return }
        let (id, generation) = (id, key.generation)
        try await inTurn(.own) { () async throws(Refusal) in
            // The other generation may be the one that it is getting now.
            guard !isGettingKey, records.isOpen, keyGeneration == generation else { return }
            let slots = Set(snapshot.recovery.map(\.block))
            let settled = await workers.disk.run { () -> Result<[VouchedMember], KeyError> in
                Result { () throws(KeyError) in
                    let found = try folder.all()
                    var genuine: [VouchedMember] = []
                    for member in found.members {
                        var isLeft = member.generation != generation
                        if case .recoveryKey(let block) = member.member.who {
                            isLeft = isLeft || !slots.contains(block)
                        }
                        if isLeft {
                            try folder.remove(member)
                        } else if try member.isGenuine(key.key.bytes, store: id) {
                            genuine.append(member)
                        }
                    }
                    try folder.sweep()
                    return genuine
                }
            }
            if case .success(let members) = settled { self.members = members }
        }
    }

    // MARK: members

    /// Looked at in the store's turn: others may have changed something before it.
    package typealias Proviso = @LoopActor () throws(Refusal) -> Void

    /// Makes somebody a member, or changes what a member may do. `publicKey` is the person's, where
    /// they have one: without it they wait.
    package func add(
        _ member: Member, _ key: SharedKey, sealedTo publicKey: [UInt8]?,
        if isStillSo: Proviso = {}
    ) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            try isStillSo()
            try requireRoom(for: member.who)
            try await write([(member, publicKey)], key)
        }
    }

    /// Somebody who has it open has come together with a member who waits, or with a person who is
    /// in a group that it is shared with: that one gets a slot. Whose slot is sealed to a key that
    /// they have no longer gets none: their store was reset, and whoever did that may not be them.
    package func admit(
        _ person: Person, groups: [[UInt8]]?, _ key: SharedKey, sealedTo publicKey: [UInt8]
    ) async throws(Refusal) {
        let who = Member.Who.person(uid: person.uid, name: person.name)
        try await inTurn(.own) { () async throws(Refusal) in
            let present = member(person)?.member
            // Asked now, because they may have been removed meanwhile.
            guard present?.slot == nil, let role = role(of: person, groups: groups),
                present != nil || owner != person
            else { return }
            try requireRoom(for: who)
            let member =
                present
                ?? Member(
                    who, role, addedAt: Clock.wallSeconds(), addedBy: owner.uid, isByGroup: true)
            try await write([(member, publicKey)], key)
        }
    }

    /// The files of members are called by their numbers. Where a number is another account's by
    /// now, the one before it has to be removed, so that the store gets a new key; but the owner
    /// whose account has another name comes in their own place.
    private func requireRoom(for who: Member.Who) throws(Refusal) {
        guard who != .person(uid: owner.uid, name: owner.name) else { return }
        let others = sharedWith.filter { $0.who != who }
        guard others.count < MemberFolder.most else {
            throw .invalidAction(action: .share, reason: .tooManyMembers(MemberFolder.most))
        }
        switch sameNumber(as: who).first {
        case .person(_, let name)?, .group(_, let name)?:
            throw .invalidAction(action: .share, reason: .sameNumber(Text.clean(name)))
        case .everybody?, .recoveryKey?, nil: break
        }
    }

    /// A slot for a key that the store has no longer would open nothing. It stays so until the turn
    /// is over.
    func requirePresent(_ key: SharedKey) throws(Refusal) {
        let isPresent =
            records.isOpen
            ? key.generation == keyGeneration : key.generation >= keyGeneration
        guard !isGettingKey, isPresent else { throw .busy }
    }

    /// Needs the turn.
    func write(_ all: [(Member, [UInt8]?)], _ shared: SharedKey) async throws(Refusal) {
        try requirePresent(shared)
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let (id, key, generation) = (id, shared.key, shared.generation)
        let replaced = all.flatMap { sameNumber(as: $0.0.who) }
        if isShared, !replaced.isEmpty {
            try await onDisk(try requireLive(), .share) { (file) throws(KeyError) in
                var terms = file.terms
                terms.newKeyIsDue = true
                try file.write(terms)
            }
        }
        let written = await workers.disk.run { () -> Result<[VouchedMember], KeyError> in
            Result { () throws(KeyError) in
                var made: [VouchedMember] = []
                for (member, publicKey) in all {
                    var member = member
                    // Anew also for the same one: nobody has looked into a slot of before.
                    if let to = publicKey ?? member.publicKey {
                        try member.seal(key.bytes, to: to)
                    }
                    let vouched = try VouchedMember(
                        member, key.bytes, generation: generation, store: id)
                    try folder.write(vouched)
                    made.append(vouched)
                }
                return made
            }
        }
        switch written {
        case .failure(let error): throw Self.refusal(error, .share)
        case .success(let made):
            let known = Set(made.map(\.member.who) + replaced)
            members.removeAll { known.contains($0.member.who) }
            members += made
            damagedMembers.subtract(made.compactMap(\.member.who.uid))
            tell(.members)
        }
    }

    /// Others whose file has the same name.
    private func sameNumber(as who: Member.Who) -> [Member.Who] {
        sharedWith.map(\.who).filter { other in
            switch (who, other) {
            case (.person(let here, _), .person(let there, _)),
                (.group(let here, _), .group(let there, _)):
                here == there && who != other
            case (.person, _), (.group, _), (.everybody, _), (.recoveryKey, _): false
            }
        }
    }

    /// Those who wait for a slot get one now: somebody who has the store open has come together with
    /// their public key.
    package func sealPending(
        _ key: SharedKey, _ publicKey: (Person) -> [UInt8]?
    ) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            guard !isGettingKey else { return }
            var all: [(Member, [UInt8]?)] = []
            for member in members.map(\.member) {
                guard case .person(let uid, let name) = member.who,
                    member.slot == nil, let key = publicKey(Person(uid: uid, name: name))
                else { continue }
                all.append((member, key))
            }
            guard !all.isEmpty else { return }
            try await write(all, key)
        }
    }

    /// Who has made the recovery key has written it down.
    package func recoveryIsKnown(to all: [Member.Who]) -> Bool { !recoveryKeys(of: all).isEmpty }

    private func recoveryKeys(of all: [Member.Who]) -> [Member.Who] {
        let numbers = all.compactMap { if case .person(let uid, _) = $0 { uid } else { nil } }
        return members.map(\.member).filter {
            if case .recoveryKey = $0.who { numbers.contains($0.addedBy) } else { false }
        }.map(\.who)
    }

    /// Nobody opens it with their slots from here on. That they may have kept what they read, and
    /// perhaps the key, is why it gets a new one.
    package func remove(
        _ asked: [Member.Who], if isStillSo: Proviso = {}
    ) async throws(Refusal) {
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let needsKey = isShared
        try await inTurn(.own) { () async throws(Refusal) in
            guard !isGettingKey else { throw .busy }
            try isStillSo()
            let file = try requireLive()
            let owner = Member.Who.person(uid: owner.uid, name: owner.name)
            let present = Set(sharedWith.map(\.who))
            let gone = asked.filter { $0 != owner && (present.contains($0) || isDamaged($0)) }
            guard !gone.isEmpty else { return }
            let keys = recoveryKeys(of: gone)
            let all = keys + gone
            try await onDisk(file, .share) { (file) throws(KeyError) in
                // First: no crash may leave the member out and the key as it is.
                if needsKey {
                    var terms = file.terms
                    terms.newKeyIsDue = true
                    try file.write(terms)
                }
                // Before its files: those without a slot go when the store is opened next.
                if !keys.isEmpty { try file.removeRecovery() }
                for who in all { try folder.remove(who) }
            }
            members.removeAll { all.contains($0.member.who) }
            damagedMembers.subtract(gone.compactMap(\.uid))
            tell(.members)
        }
    }

    // MARK: a new key

    package var isNewKeyDue: Bool { isShared && snapshot.terms.newKeyIsDue }

    /// Gives the store a new key, while it is used: slots of the next generation for everybody who
    /// is a member still, then the records, and only then the former slots go. Cut short anywhere,
    /// the store opens, nothing is lost, and the next opening begins anew.
    package func giveNewKey() async throws(Refusal) {
        await newKeyEnds()
        guard isNewKeyDue else { return }
        let outcome = First<Refusal?>()
        // Whoever has asked for it may leave: it goes on.
        gettingKey = EventLoop.shared.task {
            var refusal: Refusal?
            do throws(Refusal) { try await self.sealAnew() } catch { refusal = error }
            self.gettingKey = nil
            outcome.settle(refusal)
        }
        if let refusal = await outcome.value() { throw refusal }
    }

    /// Waits for one that is under way.
    package func newKeyEnds() async {
        while let gettingKey { await gettingKey.value }
    }

    private func sealAnew() async throws(Refusal) {
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let key: StoreKey
        do throws(SecretsError) { key = StoreKey(try SecretBytes.random(32)) } catch {
            throw .outOfMemory
        }
        defer { isGettingKey = false }
        let (former, made) = try await inTurn(.own) { () async throws(Refusal) in
            // Not before the turn: somebody may be becoming a member.
            isGettingKey = true
            let former = keyGeneration
            return (former, await slots(of: former + 1, key, in: folder))
        }
        let coming = former + 1
        let next: [VouchedMember]
        switch made {
        case .failure(let error):
            await drop(coming, folder)
            throw Self.refusal(error, .newKey)
        case .success(let made): next = made
        }
        do throws(Refusal) {
            try await records.sealAnew(key, coming)
        } catch {
            // Where it is not certain which of the two the records have, both slots stay.
            if records.isOpen, keyGeneration == former { await drop(coming, folder) }
            throw error
        }
        // A recovery key may have gone meanwhile.
        let left = Set(members.map(\.member.who))
        members = next.filter { left.contains($0.member.who) }
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .newKey) { (file) throws(KeyError) in
                for each in try folder.all().of(generation: former) { try folder.remove(each) }
                var terms = file.terms
                terms.newKeyIsDue = false
                try file.write(terms)
            }
        }
    }

    /// For everybody who is a member, with the next key.
    private func slots(
        of generation: UInt32, _ key: StoreKey, in folder: MemberFolder
    ) async -> Result<[VouchedMember], KeyError> {
        let (id, present) = (id, members)
        return await workers.disk.run {
            Result { () throws(KeyError) in
                var made: [VouchedMember] = []
                for each in present {
                    var member = each.member
                    if let to = member.publicKey { try member.seal(key.bytes, to: to) }
                    let vouched = try VouchedMember(
                        member, key.bytes, generation: generation, store: id)
                    try folder.write(vouched)
                    made.append(vouched)
                }
                return made
            }
        }
    }

    private func drop(_ generation: UInt32, _ folder: MemberFolder) async {
        await workers.disk.run {
            for each in (try? folder.all().of(generation: generation)) ?? [] {
                try? folder.remove(each)
            }
        }
    }
}
