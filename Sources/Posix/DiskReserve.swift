internal import CLinux

/// Room on the disk that records cannot take: a file whose blocks are there, removed when a write that must go on finds
/// the disk full. Used from any thread.
public final class DiskReserve: @unchecked Sendable {
    public static let fileName = "reserve"
    /// Enough for what the longest usual log brings into a records file, and for deleting some of the largest values.
    public static let largest = 8 << 20

    private let folder: String

    // Guarded by `mutex`.
    private let mutex = Mutex()
    private var isKept = false
    private var timesGivenUp = 0
    private var whenGivenUp: @Sendable () -> Void = {}

    public init(folder: String) {
        self.folder = folder
    }

    /// Calls it each time on the thread that needed the room.
    public func follow(_ whenGivenUp: @escaping @Sendable () -> Void) {
        mutex.lock()
        self.whenGivenUp = whenGivenUp
        mutex.unlock()
    }

    /// On a small disk it is a small part of it.
    static func size(ofDisk total: UInt64) -> Int {
        min(largest, Int(clamping: total / 16)) / 4096 * 4096
    }

    public enum Keeping: Equatable, Sendable {
        case kept
        /// Not made: the disk has too little left to set something aside.
        case noRoom
    }

    /// Makes it where it is missing, and where as much again stays free. Blocks.
    public func keep() throws(PosixError) -> Keeping {
        mutex.lock()
        defer { mutex.unlock() }
        let state = try Folder(path: folder)
        let space = try FreeSpace(at: folder)
        let size = Self.size(ofDisk: space.total)
        let present = state.exists(Self.fileName) ? try FileFacts(of: path, following: false) : nil
        if present?.size != size {
            isKept = false
            guard space.bytes >= 2 * UInt64(size) else { return .noRoom }
        }
        do throws(PosixError) {
            // A file that is there may be one that a backup brought back, without its blocks.
            try state.file(Self.fileName, .createOrOpen).allocate(size)
        } catch {
            try? state.remove(Self.fileName)
            isKept = false
            guard error.isNoSpace else { throw error }
            return .noRoom
        }
        isKept = true
        return .kept
    }

    private var path: String { "\(folder)/\(Self.fileName)" }

    /// What is free for records: neither the reserve, where it has to be made again, nor as much as it, which is what
    /// tries and changes of the passcode may need before it is touched.
    public func roomForRecords() throws(PosixError) -> Int {
        let space = try FreeSpace(at: folder)
        mutex.lock()
        let share = isKept ? 1 : 2
        mutex.unlock()
        let floor = share * Self.size(ofDisk: space.total)
        return max(0, Int(clamping: space.bytes) - floor)
    }

    /// For what has to go on where the disk is full: once more, with the room that was kept for it.
    public func spending<R, E: Error>(
        whereFull isFull: (E) -> Bool, _ body: () throws(E) -> R
    ) throws(E) -> R {
        mutex.lock()
        let before = timesGivenUp
        mutex.unlock()
        do throws(E) {
            return try body()
        } catch {
            guard isFull(error), giveUp(since: before) else { throw error }
            return try body()
        }
    }

    /// False where there was nothing to give up, neither now nor for another thread meanwhile.
    private func giveUp(since before: Int) -> Bool {
        mutex.lock()
        let isAnothers = timesGivenUp != before
        var isGone = false
        if !isAnothers, let state = try? Folder(path: folder), state.exists(Self.fileName),
            (try? state.remove(Self.fileName)) != nil
        {
            // Some file systems free the blocks only with the removal on the disk.
            try? state.sync()
            isGone = true
            isKept = false
            timesGivenUp += 1
        }
        let tell = whenGivenUp
        mutex.unlock()
        if isGone { tell() }
        return isAnothers || isGone
    }
}

extension DiskReserve {
    public func spending<R>(_ body: () throws(PosixError) -> R) throws(PosixError) -> R {
        try spending(whereFull: { $0.isNoSpace }, body)
    }
}
