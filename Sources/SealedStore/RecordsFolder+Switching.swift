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

    /// Both files are closed and on the disk.
    func switchOver(to coming: RecordsFolder) throws(RecordsError) {
        try coming.checkFile()
        // A log would be taken for the other file's.
        guard !hasLog, !coming.hasLog else { throw .busy }
        try linkFormer()
        do throws(PosixError) {
            try folder.rename(Schema.comingName, to: Schema.fileName)
        } catch {
            try? folder.remove(Schema.formerName)
            throw RecordsError(error)
        }
        try sync()
    }

    /// Keeps a name for the present file, under which it is overwritten when it is no longer the
    /// present one. With this sync it is also on the disk that the logs are gone.
    func linkFormer() throws(RecordsError) {
        do throws(PosixError) {
            try folder.link(Schema.fileName, to: Schema.formerName)
            do throws(PosixError) {
                try folder.sync()
            } catch {
                try? folder.remove(Schema.formerName)
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
        var others: [String] = []
        do throws(PosixError) {
            // Without a present file, these may be all that there is.
            guard let present = try identity(Schema.fileName) else { return }
            // Before a switch was finished, the former name stands for the present file.
            for name in left where try identity(name) != present { others.append(name) }
        } catch {
            throw RecordsError(error)
        }
        do throws(RecordsError) {
            try overwrite(others)
        } catch {
            // A file system that writes elsewhere has no room for it, and gets it by removing.
            guard error == .full else { throw error }
        }
        try remove(left)
        try sync()
    }

    private func identity(_ name: String) throws(PosixError) -> FileIdentity? {
        try FileIdentity(of: folder.path + "/" + name)
    }
}
