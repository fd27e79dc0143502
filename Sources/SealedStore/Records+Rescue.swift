internal import Posix
internal import Secrets

extension Records {
    /// Where something is damaged, the file may hold more than SQLite reads: then a new one takes its
    /// place, with all of it. The number of the last commit stays. In a large store it takes as long as
    /// to read and write all of it; where less room than that is left, nothing is begun. Returns how
    /// many records are back. Nothing else may be at work meanwhile on what is in the folder beside
    /// the file.
    public func bringBack(within room: Int? = nil) throws(RecordsError) -> Int {
        guard let (coming, found) = try rescued(within: room) else { return 0 }
        guard let keys = try records?.keys.again() else { throw .closed }
        // Should it not open now, the next use of the records tries it again.
        toReopen = HeldKeys(keys)
        records = nil
        pages = nil
        do throws(RecordsError) {
            try folder.switchOver(to: coming)
        } catch {
            // Whichever of the two is there, it is whole. What is left goes at the next opening.
            try reopen()
            throw error
        }
        try reopen()
        try? folder.sweep()
        return found
    }

    func reopen() throws(RecordsError) {
        guard let held = toReopen else { return }
        records = try held.open(folder)
        records?.database.leaveLog(false)
        toReopen = nil
    }

    /// The new file, closed and on the disk; nil if it would hold no more than there is.
    private func rescued(within room: Int?) throws(RecordsError) -> (RecordsFolder, found: Int)? {
        let present = try ready()
        let flawed = try present.flawed()
        guard !flawed.isEmpty else { return nil }
        try present.database.emptyLog()
        let pages = if let pages { pages } else { try RawPages(folder) }
        self.pages = pages
        try pages.lookAnew()
        let rescue = try Rescue(of: present, pages, flawed: flawed)
        guard rescue.isWorthIt else { return nil }
        if let room, room < Self.mostLog + present.size.file { throw .full }
        let coming = try folder.make(rescue)
        try present.database.emptyLog()
        return (coming, rescue.found)
    }

    /// What the log of the new file takes at most.
    private static let mostLog = 8 << 20
}

/// The keys of records that are closed for a moment.
final class HeldKeys {
    private let keys: RecordKeys

    init(_ keys: consuming RecordKeys) { self.keys = keys }

    func open(_ folder: RecordsFolder) throws(RecordsError) -> OpenRecords {
        try OpenRecords(
            folder, store: keys.store, key: try keys.all(), .recordKeys,
            keyGeneration: keys.generation)
    }
}

extension RecordsFolder {
    struct Rescued {
        let log: LogCheck.Finding
        /// It had commits that were answered, and that the file does not have.
        let isLogKept: Bool
        let isWhole: Bool
    }

    /// For a file that SQLite cannot open, or in which it does not find the head. Where not all of it
    /// is whole, the former file is kept with the logs that commits were missing from. Throws what
    /// opening it has thrown where nothing helps.
    func rescue(
        from error: RecordsError, with keys: borrowing RecordKeys, noted: UInt64
    ) throws(RecordsError) -> Rescued {
        guard error == .damaged(.file) || error == .damaged(.head),
            !Schema.isOfLater(header: try header())
        else { throw error }
        let finding = try checkLog()
        let pages = try RawPages(self)
        guard pages.count > 0,
            !Schema.isOfLater(header: Array(try pages.page(1).prefix(Schema.headerSize)))
        else { throw error }
        // A head that does not open may be the present one, and another one that does an older one:
        // then nothing else is as that one says.
        guard let rescue = try Rescue(pages, keys), rescue.isWhole || error != .damaged(.head)
        else { throw error }
        let coming = try make(rescue)
        // Until the switch, the present file and its log are what counts.
        let lacksCommits = finding.missing > 0 || noted > rescue.generation
        let keepsLog = hasLog && lacksCommits
        if hasLog {
            try copyLog()
            if keepsLog { try keepLog() } else { try removeLog() }
        }
        try switchOver(to: coming, keepingFormer: !rescue.isWhole)
        return Rescued(log: finding, isLogKept: keepsLog, isWhole: rescue.isWhole)
    }

    fileprivate func make(_ rescue: Rescue) throws(RecordsError) -> RecordsFolder {
        try sweep()
        let coming = try RecordsFolder(folder.path, Schema.comingName)
        try coming.create()
        do throws(RecordsError) {
            try rescue.fill(coming)
            try rescue.check(coming)
            try coming.syncClosed()
        } catch {
            try? sweepComing()
            throw error
        }
        return coming
    }
}
