import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import Words

/// Adds and removes the ways to open a store.
extension StoreHost {
    /// The store key of a store without a passcode.
    package func deviceKey() async throws(Refusal) -> Opening {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(.device)
            let departures = departures
            let opening = try await onDisk(file, .unlock) { (file) throws(KeyError) in
                Opening(
                    key: StoreKey(try file.openDevice()), ground: .device, departures: departures)
            }
            await mend(file, snapshot.isDamaged)
            return opening
        }
    }

    /// The result of replacing a passcode.
    package struct Replaced: Sendable {
        package let ground: Ground
        /// A recovery key that was made while there was no passcode was removed with that state.
        package let recoveryIsRevoked: Bool
    }

    /// Replaces the passcode. The new one is proven to open the store before the former one is
    /// removed; a crash leaves one of the two, or both.
    package func replacePasscode(
        _ opening: Opening, with new: consuming ComingPasscode, _ cost: KeyDerivation.Cost,
        _ policy: Policy
    ) async throws(Refusal) -> Replaced {
        let change = try await slotChange(opening, consume new, cost, policy)
        let ground = Ground.passcode(salt: change.details.salt)
        return try await inTurn(.own) { () async throws(Refusal) in
            if let foreign {
                try require(opening.ground)
                return Replaced(
                    ground: ground, recoveryIsRevoked: try await adopt(foreign.file, change))
            }
            let file = try requireLive()
            try require(opening.ground)
            let present = slot(of: opening.ground)
            let isNone = !hasPasscode
            let isRevoked = snapshot.hasUnprovenRecovery
            proven = try await onDisk(file, .change) {
                (file) throws(KeyError) -> PasscodeSlot? in
                guard let derived = change.derived.take() else { return nil }
                var along = Along(
                    history: change.history, terms: file.terms, identity: file.identity)
                along.terms?.end()
                // A finger that was on stays on, but not one that was on without a passcode.
                if isNone { along.terms?.fingerprintIsOn = false }
                along.identity?.way = change.details.way
                along.identity?.withoutPasscode = .hasPasscode
                if file.identity.kind.parent != nil { along.identity?.kind = .own }
                return try file.replacePasscode(
                    change.details, derived: derived, storeKey: change.key.bytes, proven: present,
                    with: along)
            }
            return Replaced(ground: ground, recoveryIsRevoked: isRevoked)
        }
    }

    /// Adds a slot beside the present one. The next unlock proves one of them, and the other is
    /// removed.
    package func addPasscode(
        _ opening: Opening, _ new: TypedPasscode, _ cost: KeyDerivation.Cost, _ policy: Policy
    ) async throws(Refusal) {
        let change = try await slotChange(opening, .login(new), cost, policy)
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            let present = slot(of: opening.ground)
            try await onDisk(file, .follow) { (file) throws(KeyError) in
                guard let derived = change.derived.take() else { return }
                try file.addPasscode(
                    change.details, derived: derived, storeKey: change.key.bytes, proven: present)
            }
        }
    }

    /// The slot that the last right passcode opened, in any exchange.
    package var provenSlot: PasscodeSlot? {
        snapshot.passcodes.first { $0.details.salt == proven?.details.salt }
    }

    package struct SlotChange: Sendable {
        package let key: StoreKey
        package let derived: SecretBox
        package let details: PasscodeDetails
        package let history: HistoryChange
    }

    /// Does everything that takes long, before the store's turn.
    private func slotChange(
        _ opening: Opening, _ new: ComingPasscode, _ cost: KeyDerivation.Cost, _ policy: Policy
    ) async throws(Refusal) -> SlotChange {
        let details = try new.details(cost)
        // Of login passwords no history is kept; but whoever lets the store follow the login for a
        // moment must not get a former passcode back.
        var history = HistoryChange(former: nil, present: nil, keep: Int(policy.historyCount))
        if policy.historyCount > 0 {
            if case .own(let typed, _) = new {
                history.present = HistoryHash(
                    of: details, hash: try await historyHash(typed, details.salt))
            }
            if let former = opening.typed, let slot = slot(of: opening.ground),
                slot.details.way == .own
            {
                history.former = HistoryHash(
                    of: slot.details, hash: try await historyHash(former, slot.details.salt))
            }
        }
        let derived = try await workers.deriveKey(
            new.typed, details.salt, details.cost, .own, of: identity.uid)
        return SlotChange(key: opening.key, derived: derived, details: details, history: history)
    }

    /// Replaces the passcode with the device slot.
    package func turnOff(
        _ opening: Opening, _ why: Identity.WithoutPasscode, _ policy: Policy
    ) async throws(Refusal) {
        let hadFingers = fingerprintIsOn
        try await remember(opening, keep: policy.historyCount)
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            try await onDisk(file, .turnOff) { (file) throws(KeyError) in
                var along = Along(terms: file.terms, identity: file.identity)
                along.terms?.end()
                along.terms?.fingerprintIsOn = false
                along.identity?.withoutPasscode = why
                along.identity?.way = .own
                try file.replacePasscodeWithDevice(storeKey: opening.key.bytes, with: along)
            }
        }
        if hadFingers { await forgetFingers() }
    }

    package struct NewRecoveryKey: Sendable {
        /// Shown once.
        package let text: SecretBox
        package let slot: RecoverySlot
    }

    /// Makes a recovery key beside the former one, which stays until the person has seen the new
    /// one.
    package func addRecoveryKey(
        _ opening: Opening, by person: Person
    ) async throws(Refusal) -> NewRecoveryKey {
        if isShared { return try await addSharedRecoveryKey(opening, by: person) }
        return try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            return try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                let (made, text) = try Self.newRecoveryKey()
                let slot = try file.addRecovery(
                    made.key, setAt: Clock.wallSeconds(), storeKey: opening.key.bytes,
                    isProven: opening.ground != .device)
                return NewRecoveryKey(text: text, slot: slot)
            }
        }
    }

    /// After the new key was shown: removes the former one.
    package func settle(_ new: NewRecoveryKey) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                try file.settleRecovery(on: new.slot)
            }
            try await forgetRecoveryMembers(but: new.slot.block)
        }
    }

    /// If the new key was not shown: removes it, and the former one stays valid.
    package func withdraw(_ new: NewRecoveryKey) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                try file.withdrawRecovery(new.slot)
            }
            try await forgetRecoveryMembers(of: [new.slot.block])
        }
    }

    /// Refused where it is the last way in.
    package func removeRecoveryKey(_ opening: Opening) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            do throws(Refusal) {
                try await onDisk(file, .recoveryKey) { (file) throws(KeyError) in
                    try file.removeRecovery()
                }
            } catch {
                guard case .invalidAction(action: .unlock, reason: .noSuchKey) = error else {
                    throw error
                }
                throw .invalidAction(action: .deleteRecoveryKey, reason: .lastWayIn)
            }
            try await forgetRecoveryMembers()
        }
    }

    package nonisolated static func newRecoveryKey() throws(KeyError) -> (RecoveryKeyBox, SecretBox)
    {
        do throws(SecretsError) {
            let key = try RecoveryKey.random()
            let text = SecretBox(try key.text())
            return (RecoveryKeyBox(key), text)
        } catch {
            throw .secrets(error)
        }
    }

    /// Brings a store under this machine's key. True if the recovery key that did it was removed as
    /// well.
    package func adopt(_ foreign: UncheckedSlotFile, _ change: SlotChange) async throws(Refusal)
        -> Bool
    {
        guard let machine = machineForAdoption else {
            throw .storeDamaged(.machineKeyMissing)
        }
        let folder = folder.path
        let (id, reserve) = (id, workers.reserve)
        let adopted = await workers.disk.run { () -> Result<Adopted, KeyError> in
            Result { () throws(KeyError) in
                guard let derived = change.derived.take() else { throw .noSuchSlot }
                let log = try Self.proof(
                    folder, id, change.key, Records.firstKeyGeneration,
                    noted: foreign.notedCommit(machine), reserve)
                guard var identity = foreign.likely else { throw .noSuchSlot }
                identity.way = change.details.way
                if identity.kind.parent != nil { identity.kind = .own }
                let file = try foreign.adopted(
                    by: machine, identity: identity, change.details, derived: derived,
                    storeKey: change.key.bytes)
                let isRevoked = Self.snapshot(of: file).hasUnprovenRecovery
                if let slot = try file.passcodeSlots.first { try file.settle(on: slot) }
                return Adopted(
                    file: file, isRevoked: isRevoked, log: log,
                    size: Records.size(inFolder: folder))
            }
        }
        switch adopted {
        case .failure(let error): throw Self.refusal(error, .recover)
        case .success(let adopted):
            await take(adopted, machine)
            return adopted.isRevoked
        }
    }

    /// Nobody vouches for the slot but the records that its key opens.
    nonisolated static func proof(
        _ folder: String, _ id: StoreID, _ key: StoreKey, _ generation: UInt32, noted: UInt64,
        _ reserve: DiskReserve
    ) throws(KeyError) -> Records.LogState {
        do throws(RecordsError) {
            let records = try reserve.spending(whereFull: { $0 == .full }) {
                () throws(RecordsError) in
                try Records(
                    opening: folder, id: id.bytes, key: key.bytes, noted: noted,
                    keyGeneration: generation)
            }
            defer { records.close() }
            return records.log
        } catch {
            switch error {
            case .damaged, .missing: throw .damaged(.foreignMachineKey)
            case .exists, .closed, .full, .readOnly, .busy, .outOfMemory, .outOfDescriptors,
                .bufferTooSmall, .io:
                throw .storage(PosixError("opening the records", error))
            }
        }
    }

    func take(_ adopted: Adopted, _ machine: MachineKey) async {
        condition = .live(adopted.file)
        snapshot = Self.snapshot(of: adopted.file)
        lostTries = OwnerFile.LostTries()
        records.log = adopted.log
        records.take(adopted.size)
        if adopted.log != .whole { whenLogWasDamaged?(self, adopted.log) }
        // If this fails, the next start writes it.
        _ = await write(identity, lostTries, machine)
    }

    struct Adopted: Sendable {
        let file: SlotFile
        let isRevoked: Bool
        /// What was found of the log, and what the records take since.
        let log: Records.LogState
        let size: RecordsSize
    }

    package func rewrite(
        _ during: Refusal.During = .chown, if isStillSo: Proviso = {},
        _ change: @escaping @Sendable (inout Identity) -> Void
    ) async throws(Refusal) {
        // The next owner must not learn anything about the former owner's password.
        judgings += 1
        judged = nil
        try await inTurn(.own) { () async throws(Refusal) in
            try isStillSo()
            let file = try requireLive()
            try await onDisk(file, during) { (file) throws(KeyError) in
                var identity = file.identity
                change(&identity)
                try file.write(identity)
            }
        }
    }
}
