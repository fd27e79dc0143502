import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Words

/// The recovery key of a shared store. What its slot wraps is not the store key but a private key,
/// and a member's file has the store key for that one. So the recovery key outlives each new key of
/// the store, without anybody having to type it.
extension StoreHost {
    /// What a recovery slot has given leads to the store key.
    struct Unwrapping: Sendable {
        let place: MemberPlace?

        struct MemberPlace: Sendable {
            let folder: MemberFolder
            let id: StoreID
            let path: String
            /// The generation of the key, where the open records say it.
            let known: UInt32?
        }

        func key(_ wrapped: StoreKey) throws(KeyError) -> SharedKey {
            guard let place else { return SharedKey(wrapped) }
            let found = try place.folder.all()
            for block in RecoveryDetails.blocks {
                let who = Member.Who.recoveryKey(block: block)
                if let key = try StoreHost.key(
                    of: who, wrapped, found, place.id, place.path, place.known)
                {
                    return key
                }
            }
            throw .wrongSecret
        }
    }

    var unwrapping: Unwrapping {
        guard isShared, let folder = memberFolder else { return Unwrapping(place: nil) }
        return Unwrapping(
            place: Unwrapping.MemberPlace(
                folder: folder, id: id, path: self.folder.path,
                known: records.isOpen ? keyGeneration : nil))
    }

    func addSharedRecoveryKey(
        _ opening: Opening, by person: Person
    ) async throws(Refusal) -> NewRecoveryKey {
        let wrapped: StoreKey
        let publicKey: [UInt8]
        do throws(SecretsError) {
            wrapped = StoreKey(try SecretBytes.random(SealedBox.privateKeySize))
            publicKey = try SealedBox.publicKey(of: wrapped.bytes)
        } catch {
            throw .outOfMemory
        }
        return try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            guard owner == person else { throw .notPermitted(.ownerOnly) }
            try requirePresent(opening.shared)
            let new = try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                let (made, text) = try Self.newRecoveryKey()
                let slot = try file.addRecovery(
                    made.key, setAt: Clock.wallSeconds(), storeKey: wrapped.bytes)
                return NewRecoveryKey(text: text, slot: slot)
            }
            let member = Member(
                .recoveryKey(block: new.slot.block), .owner, addedAt: Clock.wallSeconds(),
                // They have written it down: it goes when they do.
                addedBy: person.uid)
            do throws(Refusal) {
                try await write([(member, publicKey)], opening.shared)
            } catch {
                // It would open nothing.
                try? await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                    try file.withdrawRecovery(new.slot)
                }
                throw error
            }
            return new
        }
    }

    /// After those slots went: without its slot nobody has what such a file is sealed to.
    func forgetRecoveryMembers(but kept: Int? = nil) async throws(Refusal) {
        try await forgetRecoveryMembers(of: RecoveryDetails.blocks.filter { $0 != kept })
    }

    func forgetRecoveryMembers(of blocks: [Int]) async throws(Refusal) {
        guard isShared, let folder = memberFolder else { return }
        let gone = blocks.map { Member.Who.recoveryKey(block: $0) }
        let file = try requireLive()
        try await onDisk(file, .recoveryKey) { (_) throws(KeyError) in
            for who in gone { try folder.remove(who) }
        }
        members.removeAll { gone.contains($0.member.who) }
    }

    package enum SharedRecovery: Equatable, Sendable {
        case opened
        /// It is from another machine, and its owner is its only member here.
        case alone
    }

    /// The owner's own store opens it again. Nothing is written before the records have shown that
    /// the key is theirs.
    package func recoverShared(
        _ opening: Opening, for person: Person, sealedTo publicKey: [UInt8]
    ) async throws(Refusal) -> SharedRecovery {
        var recovery = SharedRecovery.opened
        if let foreign {
            try require(opening.ground)
            recovery = try await adoptShared(foreign.file, opening, person, publicKey)
        }
        try await openShared(opening.shared)
        let who = Member.Who.person(uid: person.uid, name: person.name)
        let member =
            member(person)?.member
            ?? Member(who, .owner, addedAt: Clock.wallSeconds(), addedBy: person.uid)
        try await add(member, opening.shared, sealedTo: publicKey) { () throws(Refusal) in
            guard owner == person else { throw .notPermitted(.ownerOnly) }
        }
        return recovery
    }

    /// Brings a store of another machine under this machine's key. Of its members only the one who
    /// has come with the recovery key is known here.
    private func adoptShared(
        _ foreign: UncheckedSlotFile, _ opening: Opening, _ person: Person, _ publicKey: [UInt8]
    ) async throws(Refusal) -> SharedRecovery {
        guard let machine = machineForAdoption, let folder = memberFolder else {
            throw .storeDamaged(.machineKeyMissing)
        }
        let (id, path, generation) = (id, self.folder.path, opening.generation)
        let (key, reserve, identity) = (opening.key, workers.reserve, identity)
        let owner = Member(
            .person(uid: person.uid, name: person.name), .owner, addedAt: Clock.wallSeconds(),
            addedBy: person.uid)
        let adopted = try await inTurn(.own) { () async throws(Refusal) in
            await workers.disk.run { () -> Result<(Adopted, SharedRecovery), KeyError> in
                Result { () throws(KeyError) in
                    let log = try Self.proof(
                        path, id, key, generation, noted: foreign.notedCommit(machine), reserve)
                    var member = owner
                    try member.seal(key.bytes, to: publicKey)
                    try folder.write(
                        try VouchedMember(member, key.bytes, generation: generation, store: id))
                    let file = try foreign.adopted(by: machine, identity: identity)
                    let lost = try folder.all().damaged
                    for name in lost { try folder.remove(damaged: name) }
                    let adopted = Adopted(
                        file: file, isRevoked: false, log: log, size: Records.size(inFolder: path))
                    return (adopted, lost.isEmpty ? .opened : .alone)
                }
            }
        }
        switch adopted {
        case .failure(let error): throw Self.refusal(error, .recover)
        case .success(let (adopted, recovery)):
            await take(adopted, machine)
            damagedMembers = []
            return recovery
        }
    }
}
