internal import Posix
internal import Secrets

extension Records {
    /// Where something is damaged, the file may hold more than SQLite reads: then a new one takes its place, with all of
    /// it. The number of the last commit stays. In a large store it takes as long as to read and write all of it. Returns
    /// how many records are back.
    func rescue() throws(RecordsError) -> Int {
        guard let (coming, found) = try rescued() else { return 0 }
        guard let keys = try records?.keys.again() else { throw .closed }
        records = nil
        pages = nil
        func reopen() throws(RecordsError) {
            records = try OpenRecords(
                folder, store: keys.store, key: try keys.all(), .recordKeys,
                keyGeneration: keys.generation)
            records?.database.leaveLog(false)
        }
        do throws(RecordsError) {
            try folder.switchOver(to: coming)
        } catch {
            try reopen()
            try? folder.sweep()
            throw error
        }
        try reopen()
        // What is left of the former file goes at the next opening, if not now.
        try? folder.sweep()
        return found
    }

    /// The new file, closed and on the disk; nil if it would hold no more than there is.
    private func rescued() throws(RecordsError) -> (RecordsFolder, found: Int)? {
        let present = try ready()
        let flawed = try present.flawed()
        guard !flawed.isEmpty else { return nil }
        try present.database.emptyLog()
        let pages = if let pages { pages } else { try RawPages(folder) }
        self.pages = pages
        try pages.lookAnew()
        let rescue = try Rescue(of: present, pages, flawed: flawed)
        guard rescue.isWorthIt else { return nil }
        let coming = try folder.make(rescue)
        try present.database.emptyLog()
        return (coming, rescue.found)
    }
}

extension RecordsFolder {
    /// For a file that SQLite cannot open, or in which it does not find the head. Where not all of it is whole, the former
    /// file is kept with the logs that commits were missing from. Throws what opening it has thrown where nothing helps.
    func rescue(
        from error: RecordsError, with keys: borrowing RecordKeys
    ) throws(RecordsError) -> (finding: LogCheck.Finding, isWhole: Bool) {
        guard error == .damaged(.file) || error == .damaged(.head),
            !Schema.isOfLater(header: try header())
        else { throw error }
        let finding = try checkLog()
        // A head that does not open may be the present one, and another one that does an older one: then nothing else is
        // as that one says.
        guard let rescue = try Rescue(try RawPages(self), keys),
            rescue.isWhole || error != .damaged(.head)
        else { throw error }
        let coming = try make(rescue)
        // Until the switch, the present file and its log are what counts.
        if hasLog {
            try copyLog()
            if finding.missing > 0 { try keepLog() } else { try removeLog() }
        }
        try switchOver(to: coming)
        if !rescue.isWhole { try keepFormer() }
        return (finding, rescue.isWhole)
    }

    fileprivate func make(_ rescue: Rescue) throws(RecordsError) -> RecordsFolder {
        try sweep()
        let coming = try RecordsFolder(folder.path, Schema.comingName)
        try coming.create()
        do throws(RecordsError) {
            try rescue.fill(coming)
            try coming.syncClosed()
        } catch {
            try? sweepComing()
            throw error
        }
        return coming
    }
}
