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
                // The owner before this one.
                take(.writer)
            case .person(person.uid, person.name):
                if !member.isByGroup || groups == nil { take(member.role) }
            case .person: break
            case .group(_, let name): if groups?.contains(name) == true { take(member.role) }
            case .everybody: take(member.role)
            }
        }
        return role
    }

    /// The member slot of this person, whichever key it is sealed to.
    package func member(_ person: Person) -> VouchedMember? {
        members.first { $0.member.who == .person(uid: person.uid, name: person.name) }
    }

    private var memberFolder: MemberFolder? {
        machineForAdoption.map {
            MemberFolder(in: folder, store: id, machine: $0, reserve: workers.reserve)
        }
    }

    // MARK: opening

    /// The store key, by what the member's own store opens, and its generation.
    package func memberKey(
        _ ring: Ring, _ person: Person
    ) async throws(Refusal) -> (key: StoreKey, generation: UInt32) {
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let who = Member.Who.person(uid: person.uid, name: person.name)
        let (id, path) = (id, self.folder.path)
        let isOpen = records.isOpen ? keyGeneration : nil
        let found = await workers.disk.run { () -> Result<SharedKey?, KeyError> in
            Result { () throws(KeyError) in
                try Self.key(of: who, ring, try folder.all(), id, path, isOpen)
            }
        }
        switch found {
        case .failure(let error): throw Self.refusal(error, .unlock)
        case .success(nil): throw .invalidAction(action: .unlock, reason: .membershipPending)
        case .success(let found?): return (found.key, found.generation)
        }
    }

    private struct SharedKey: Sendable {
        let key: StoreKey
        let generation: UInt32
    }

    /// After a crash in the middle of a new key there may be two generations of slots: what opens
    /// the records says which counts. The records of an open store have said so already.
    private nonisolated static func key(
        of who: Member.Who, _ ring: Ring, _ found: MemberFolder.Found, _ id: StoreID,
        _ path: String, _ known: UInt32?
    ) throws(KeyError) -> SharedKey? {
        guard let member = ring.member else { return nil }
        let publicKey: [UInt8]
        do { publicKey = try SealedBox.publicKey(of: member.bytes) } catch { throw .secrets(error) }
        let slots = found.members.filter {
            $0.member.who == who && $0.member.isSealed(to: publicKey)
                && (known == nil || $0.generation == known)
        }
        for slot in slots.sorted(by: { $0.generation > $1.generation }) {
            let key = StoreKey(try slot.open(with: member.bytes, store: id))
            let isIt =
                slots.count == 1
                || (try? Records.opens(
                    inFolder: path, id: id.bytes, key: key.bytes,
                    keyGeneration: slot.generation)) == true
            if isIt { return SharedKey(key: key, generation: slot.generation) }
        }
        return nil
    }

    /// Opens it for a member whose own store is open.
    package func openShared(_ ring: Ring, _ person: Person) async throws(Refusal) {
        guard !records.isOpen else { return }
        let (key, generation) = try await memberKey(ring, person)
        try await open(key, .storeKey, .member(proven: nil), nil, generation: generation)
        try await settleMembers(key, generation)
    }

    /// What a crash has left of another generation goes, and only those count from here on whom
    /// somebody with the store key has made members.
    private func settleMembers(_ key: StoreKey, _ generation: UInt32) async throws(Refusal) {
        guard let folder = memberFolder else { return }
        let id = id
        let settled = try await inTurn(.own) { () async throws(Refusal) in
            await workers.disk.run { () -> Result<[VouchedMember], KeyError> in
                Result { () throws(KeyError) in
                    let found = try folder.all()
                    for member in found.members where member.generation != generation {
                        try folder.remove(member)
                    }
                    try folder.sweep()
                    var genuine: [VouchedMember] = []
                    for member in found.of(generation: generation)
                    where try member.isGenuine(key.bytes, store: id) { genuine.append(member) }
                    return genuine
                }
            }
        }
        if case .success(let members) = settled { self.members = members }
    }

    // MARK: members

    /// Makes somebody a member, or changes what a member may do. `publicKey` is the person's, where
    /// they have one: without it they wait.
    package func add(
        _ member: Member, _ key: StoreKey, sealedTo publicKey: [UInt8]?
    ) async throws(Refusal) {
        guard !isGettingKey else { throw .busy }
        let isNew = !members.contains { $0.member.who == member.who }
        guard !isNew || members.count < MemberFolder.most else {
            throw .invalidAction(action: .share, reason: .tooManyMembers(MemberFolder.most))
        }
        try await inTurn(.own) { () async throws(Refusal) in
            try await write([(member, publicKey)], key)
        }
    }

    private func write(
        _ all: [(Member, [UInt8]?)], _ key: StoreKey
    ) async throws(Refusal) {
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let (id, generation) = (id, keyGeneration)
        let written = await workers.disk.run { () -> Result<[VouchedMember], KeyError> in
            Result { () throws(KeyError) in
                var made: [VouchedMember] = []
                for (member, publicKey) in all {
                    var member = member
                    if let publicKey { try member.seal(key.bytes, to: publicKey) }
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
            let known = Set(made.map(\.member.who))
            members.removeAll { known.contains($0.member.who) }
            members += made
            tell(.members)
        }
    }

    /// Those who wait for a slot, or whose slot is sealed to a key that they no longer have, get one
    /// now: somebody who has the store open has come together with their public key.
    package func sealPending(
        _ key: StoreKey, _ publicKey: (Person) -> [UInt8]?
    ) async throws(Refusal) {
        guard !isGettingKey else { return }
        var all: [(Member, [UInt8]?)] = []
        for member in members.map(\.member) {
            guard case .person(let uid, let name) = member.who,
                let key = publicKey(Person(uid: uid, name: name)), !member.isSealed(to: key)
            else { continue }
            all.append((member, key))
        }
        guard !all.isEmpty else { return }
        let waiting = all
        try await inTurn(.own) { () async throws(Refusal) in try await write(waiting, key) }
    }

    /// Nobody opens it with their slots from here on. That they may have kept what they read, and
    /// perhaps the key, is why it gets a new one.
    package func remove(_ all: [Member.Who]) async throws(Refusal) {
        guard !isGettingKey else { throw .busy }
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        let needsKey = isShared
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .share) { (file) throws(KeyError) in
                // First: no crash may leave the member out and the key as it is.
                if needsKey {
                    var terms = file.terms
                    terms.newKeyIsDue = true
                    try file.write(terms)
                }
                for who in all { try folder.remove(who) }
            }
            members.removeAll { all.contains($0.member.who) }
            tell(.members)
        }
    }

    // MARK: a new key

    package var isNewKeyDue: Bool { isShared && snapshot.terms.newKeyIsDue }

    /// Gives the store a new key, while it is used: slots of the next generation for everybody who
    /// is a member still, then the records, and only then the former slots go. Cut short anywhere,
    /// the store opens, nothing is lost, and the next opening begins anew.
    package func giveNewKey(_ goesOn: @LoopActor (Int) -> Void = { _ in }) async throws(Refusal) {
        guard isShared, !isGettingKey else { return }
        guard let folder = memberFolder else { throw .storeDamaged(.machineKeyMissing) }
        isGettingKey = true
        defer { isGettingKey = false }
        let (id, former, coming) = (id, keyGeneration, keyGeneration + 1)
        let key: StoreKey
        do throws(SecretsError) { key = StoreKey(try SecretBytes.random(32)) } catch {
            throw .outOfMemory
        }
        let present = members
        let made = try await inTurn(.own) { () async throws(Refusal) in
            await workers.disk.run { () -> Result<[VouchedMember], KeyError> in
                Result { () throws(KeyError) in
                    var made: [VouchedMember] = []
                    for each in present {
                        var member = each.member
                        if let to = member.publicKey { try member.seal(key.bytes, to: to) }
                        let vouched = try VouchedMember(
                            member, key.bytes, generation: coming, store: id)
                        try folder.write(vouched)
                        made.append(vouched)
                    }
                    return made
                }
            }
        }
        let next: [VouchedMember]
        switch made {
        case .failure(let error):
            await drop(coming, folder)
            throw Self.refusal(error, .newKey)
        case .success(let made): next = made
        }
        do throws(Refusal) {
            try await records.sealAnew(key, coming, goesOn)
        } catch {
            // Where it is not certain which of the two the records have, both slots stay.
            if records.isOpen { await drop(coming, folder) }
            throw error
        }
        keyGeneration = coming
        members = next
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

    private func drop(_ generation: UInt32, _ folder: MemberFolder) async {
        await workers.disk.run {
            for each in (try? folder.all().of(generation: generation)) ?? [] {
                try? folder.remove(each)
            }
        }
    }
}
