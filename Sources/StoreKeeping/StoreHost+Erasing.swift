import KeySlots
import Posix
import SealedStore
import Words

/// Erases a store.
extension StoreHost {
    package func erase(_ file: SlotFile, wipedUnder orders: OrdersMark? = nil) async throws(Refusal)
    {
        // Whatever happens from here on, no part of this store opens again.
        // Before anybody can see that it is erased: they are told why.
        wipedUnder = orders
        condition = .erased
        whenErased?(self)
        tell(.changed)
        cancelShut()
        let folder = folder.path
        let keys = await workers.disk.run {
            Result { () throws(KeyError) in try file.eraseKeys(wipedUnder: orders) }
        }
        await lock()
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

    /// For a reset: erases everything except what the caller removes with the folder. The folder is
    /// hidden first: the next start removes what is hidden, so a reset that is cut short is none or
    /// is finished, and looks like no other erase.
    package func eraseForReset(
        _ hide: @escaping @Sendable () throws(KeyError) -> Folder
    ) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let folder = folder
            let former = condition
            let eraseKeys: @Sendable () throws(KeyError) -> Void
            // Overwrite the keys in the way that this condition allows.
            switch condition {
            case .live(let file):
                eraseKeys = { () throws(KeyError) in try file.eraseKeys() }
            case .recoverable(let foreign, _):
                let file = foreign.file
                eraseKeys = { () throws(KeyError) in try file.overwriteKeys() }
            case .damaged(.some(let unchecked), _):
                eraseKeys = { () throws(KeyError) in try unchecked.overwriteKeys() }
            case .damaged(nil, _), .erased:
                eraseKeys = { () throws(KeyError) in try SlotFile.overwrite(in: folder) }
            }
            condition = .erased
            await lock()
            let hidden: Folder
            switch await workers.disk.run({ Result { () throws(KeyError) in try hide() } }) {
            case .success(let moved): hidden = moved
            case .failure(let error):
                condition = former
                throw Self.refusal(error, .remove)
            }
            let keys = await workers.disk.run { () -> Result<Void, KeyError> in
                Result { () throws(KeyError) in try eraseKeys() }
            }
            await forgetFingers()
            if case .failure(let error) = keys { throw Self.refusal(error, .erase) }
            let gone = await workers.slow.run {
                Result { () throws(KeyError) in try Vault.destroyRecords(in: hidden.path) }
            }
            if case .failure(let error) = gone { throw Self.refusal(error, .erase) }
        }
    }
}
