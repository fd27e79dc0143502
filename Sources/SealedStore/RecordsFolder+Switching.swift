internal import Posix

extension RecordsFolder {
    /// Of a file that SQLite has closed.
    func syncClosed() throws(RecordsError) {
        guard !hasLog else { throw .busy }
        do throws(PosixError) {
            // Most of it was written without a sync.
            try openForReading().sync()
            try folder.sync()
        } catch {
            throw RecordsError(error)
        }
    }

    /// Both files are closed and on the disk. The former file is left to be swept, or is kept until
    /// its owner no longer wants it.
    func switchOver(
        to coming: RecordsFolder, keepingFormer keeps: Bool = false
    ) throws(RecordsError) {
        try coming.checkFile()
        // A log would be taken for the other file's.
        guard !hasLog, !coming.hasLog else { throw .busy }
        // A log that was kept a moment ago may be the last of them.
        let former = keeps ? nameToKeep(last: 1) : Schema.formerName
        if keeps { try remove([former]) }
        try linkFormer(former)
        do throws(PosixError) {
            try folder.rename(Schema.comingName, to: Schema.fileName)
        } catch {
            try? folder.remove(former)
            throw RecordsError(error)
        }
        try sync()
    }

    /// Keeps a name for the present file, under which it is overwritten when it is no longer the
    /// present one. With this sync it is also on the disk that the logs are gone.
    func linkFormer(_ name: String = Schema.formerName) throws(RecordsError) {
        do throws(PosixError) {
            try folder.link(Schema.fileName, to: name)
            do throws(PosixError) {
                try folder.sync()
            } catch {
                try? folder.remove(name)
                throw error
            }
        } catch {
            throw RecordsError(error)
        }
    }

    func sweep() throws(RecordsError) {
        try sweep(Schema.comingNames + [Schema.formerName])
    }

    func sweepComing() throws(RecordsError) {
        try sweep(Schema.comingNames)
    }

    private func sweep(_ names: [String]) throws(RecordsError) {
        let left = names.filter(folder.exists)
        guard !left.isEmpty else { return }
        // A switch that is not on the disk yet could be undone by a power cut.
        try sync()
        guard let others = try withoutPresent(left) else { return }
        do throws(RecordsError) {
            try overwrite(others)
        } catch {
            // A file system that writes elsewhere has no room for it, and gets it by removing.
            guard error == .full else { throw error }
        }
        try remove(left)
        try sync()
    }

    /// Those that are no other name of the present file, as the former one is before a switch was
    /// finished. Nil without a present file: then they may be all that there is.
    func withoutPresent(_ names: [String]) throws(RecordsError) -> [String]? {
        do throws(PosixError) {
            guard let present = try identity(Schema.fileName) else { return nil }
            var others: [String] = []
            for name in names where try identity(name) != present { others.append(name) }
            return others
        } catch {
            throw RecordsError(error)
        }
    }

    private func identity(_ name: String) throws(PosixError) -> FileIdentity? {
        try FileIdentity(of: folder.path + "/" + name)
    }
}
