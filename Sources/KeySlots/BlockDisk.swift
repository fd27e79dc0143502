import Posix

/// Where the blocks are stored. Tests use a disk that loses power.
package protocol BlockDisk: AnyObject {
    func read() throws(PosixError) -> [UInt8]
    /// Like `read`, but from the disk itself: the page cache may hold something else.
    func readBack() throws(PosixError) -> [UInt8]
    /// Writes a block, or the whole page that begins with it. The write is not synced.
    func write(_ bytes: [UInt8], block: Int) throws(PosixError)
    /// Writes a block that may as well be lost. It is not synced, and any thread may write it.
    func note(_ bytes: [UInt8], block: Int) throws(PosixError)
    /// Cuts off what is behind the last page.
    func trim() throws(PosixError)
    func sync() throws(PosixError)
}

/// The file `slots` of a store.
final class FileDisk: BlockDisk {
    private let file: File
    private let reserve: DiskReserve?

    init(_ file: consuming File, _ reserve: DiskReserve? = nil) {
        self.file = file
        self.reserve = reserve
    }

    func readBack() throws(PosixError) -> [UInt8] {
        file.dropCache()
        return try read()
    }

    func read() throws(PosixError) -> [UInt8] {
        // One byte more than the file may have, so that a longer file is noticed.
        var bytes = [UInt8](repeating: 0, count: Page.fileSize + 1)
        var span = bytes.mutableSpan
        let count = try file.read(into: &span, at: 0)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    func write(_ bytes: [UInt8], block: Int) throws(PosixError) {
        guard let reserve else { return try file.write(bytes.span, at: block * Page.size) }
        // The block already has its place, but a file system that copies on write needs a new one,
        // so the write may use the reserve. `sync` does not: when it fails, a second sync that
        // succeeds does not prove that what the first one lost is on the disk.
        try reserve.spending { () throws(PosixError) in
            try file.write(bytes.span, at: block * Page.size)
        }
    }

    func note(_ bytes: [UInt8], block: Int) throws(PosixError) {
        try file.write(bytes.span, at: block * Page.size)
    }

    func trim() throws(PosixError) {
        guard try file.size() > Page.fileSize else { return }
        try file.cut(to: Page.fileSize)
    }

    func sync() throws(PosixError) {
        try file.syncData()
    }
}
