import KeySlots
import Posix
import SealedStore
import Words

/// The end of a store.
extension StoreHost {
    package func erase(_ file: SlotFile) async throws(Refusal) {
        // Whatever happens from here on, nothing of this store opens again.
        health = .erased
        whenErased?(self)
        cancelShut()
        let folder = folder.path
        let keys = await workers.disk.run {
            Result { () throws(KeyError) in try file.eraseKeys() }
        }
        await records.close()
        await forgetFingers()
        if case .failure(let error) = keys { throw Self.refusal(error, .erase) }
        let gone = await workers.slow.run {
            Result { () throws(KeyError) in
                try Vault.destroyRecords(in: folder)
                try file.finishErasing()
            }
        }
        snapshot = Self.snapshot(of: file)
        if case .failure(let error) = gone { throw Self.refusal(error, .erase) }
        records.take(RecordsSize())
    }

    /// For a reset: nothing stays but what the caller removes with the folder.
    package func eraseForReset() async throws(Refusal) {
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
            await forgetFingers()
            if case .failure(let error) = keys { throw Self.refusal(error, .erase) }
            let gone = await workers.slow.run {
                Result { () throws(KeyError) in try Vault.destroyRecords(in: folder.path) }
            }
            if case .failure(let error) = gone { throw Self.refusal(error, .erase) }
        }
    }
}
