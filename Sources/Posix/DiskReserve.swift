internal import CLinux

/// Disk room that records cannot take: a file with all its blocks allocated. It is removed when a
/// write that must succeed finds the disk full. Any thread may use it.
public final class DiskReserve: @unchecked Sendable {
    public static let fileName = "reserve"
    /// Enough to move the longest usual log into a records file, and to delete some of the largest
    /// values.
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

    /// Sets what is called each time the reserve is given up, on the thread that needed the room.
    public func follow(_ whenGivenUp: @escaping @Sendable () -> Void) {
        mutex.lock()
        self.whenGivenUp = whenGivenUp
        mutex.unlock()
    }

    /// The size is smaller on a small disk.
    static func size(ofDisk total: UInt64) -> Int {
        min(largest, Int(clamping: total / 16)) / 4096 * 4096
    }

    public enum Keeping: Equatable, Sendable {
        case kept
        /// The file was not made, because the disk has too little room left to set some aside.
        case noRoom
    }

    /// Makes the reserve if it is missing and the disk keeps as much again free. Blocks.
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
            // The file may exist without its blocks: a backup may have restored it.
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

    /// The room that records may take. It leaves free as much as the reserve, because tries and
    /// changes of the passcode may need that much before the reserve is touched. If the reserve
    /// does not exist, it also leaves free the room to make it again.
    public func roomForRecords() throws(PosixError) -> Int {
        let space = try FreeSpace(at: folder)
        mutex.lock()
        let share = isKept ? 1 : 2
        mutex.unlock()
        let floor = share * Self.size(ofDisk: space.total)
        return max(0, Int(clamping: space.bytes) - floor)
    }

    /// For a write that must succeed even on a full disk: if it fails for lack of room, gives up
    /// the reserve and runs it again.
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

    /// False if no room was gained: there was no reserve, and no other thread has given it up
    /// meanwhile.
    private func giveUp(since before: Int) -> Bool {
        mutex.lock()
        let isAnothers = timesGivenUp != before
        var isGone = false
        if !isAnothers, let state = try? Folder(path: folder), state.exists(Self.fileName),
            (try? state.remove(Self.fileName)) != nil
        {
            // On some file systems the blocks are only free once the removal is on the disk.
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
