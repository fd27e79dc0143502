import KeySlots
import Policy
import Posix
import SealedStore
import Words

/// What becomes of a store whose slots file is damaged where nothing is needed to open it.
extension StoreHost {
    /// Writes the owner file. The store's turn is the caller's.
    func noteLostTries(_ tries: OwnerFile.LostTries) async throws(Refusal) {
        guard let machine = machineForAdoption, tries != lostTries else { return }
        let written = await write(identity, tries, machine)
        if case .failure(let error) = written { throw Self.refusal(error, .writeCount) }
        lostTries = tries
    }

    func write(
        _ identity: Identity, _ tries: OwnerFile.LostTries, _ machine: MachineKey
    ) async -> Result<Void, KeyError> {
        let (path, id, reserve) = (stateFolder, id, workers.reserve)
        return await workers.disk.run {
            Result { () throws(KeyError) in
                let state: Folder
                do throws(PosixError) {
                    state = try Folder(path: path)
                } catch {
                    throw .storage(error)
                }
                try OwnerFile(identity, tries).write(of: id, in: state, machine, reserve)
            }
        }
    }

    /// Called before a try is counted. What is left of lost tries is noted outside the slots file
    /// first: else whoever destroys the count once more would have it again. For the same reason it
    /// is noted when the last try of a count that can be read begins.
    func noteBefore(_ kind: TryKind, _ policy: Policy) async throws(Refusal) {
        var tries = lostTries
        if snapshot.triesAreLost {
            // Without a limit there is only the wait, which begins anew with each try.
            if policy.retryLimit > 0 { tries.areSpent = true }
            tries.since = Self.now()
            do throws(Refusal) {
                try await noteLostTries(tries)
            } catch {
                guard case .storageFailed(let during, let reason) = error else { throw error }
                throw .serviceUnavailable(.failed(during, reason))
            }
        } else if snapshot.tally.isLast(kind, policy) {
            tries.areSpent = true
            // A disk that refuses this must keep no person out: the count itself is not damaged.
            try? await noteLostTries(tries)
        }
    }

    /// Called when a count was cleared.
    func noteCleared() async {
        guard !snapshot.triesAreLost, snapshot.tally.isClear else { return }
        try? await noteLostTries(OwnerFile.LostTries())
    }

    /// Called when the store was opened, in its turn. A disk that refuses this keeps nobody out, and
    /// the next unlock tries again.
    func mend(_ file: SlotFile, _ wasDamaged: Bool) async {
        guard wasDamaged else { return }
        mended = try? await onDisk(file, .unlock) { (file) throws(KeyError) in try file.mend() }
    }

    /// False within a minute of when it was true: the damage was just spoken of.
    package func takeDamageNews() -> Bool {
        let now = Clock.bootMilliseconds()
        if let damageToldAt, now - damageToldAt < 60_000 { return false }
        damageToldAt = now
        return true
    }

    /// What the opening found of the log, once.
    package func takeLogNews() -> Records.LogState {
        defer { records.log = .whole }
        return records.log
    }

    /// Once for each time that something was mended.
    package func takeMended() -> SlotFile.Mended? {
        defer { mended = nil }
        return mended
    }
}
