import Posix

/// Where the blocks lie. A test's disk loses power.
package protocol BlockDisk: AnyObject {
    func read() throws(PosixError) -> [UInt8]
    /// As `read`, from the disk itself and not from what the page cache believes it to hold.
    func readBack() throws(PosixError) -> [UInt8]
    /// A block, or the whole page that it begins; at once, not yet synced.
    func write(_ bytes: [UInt8], block: Int) throws(PosixError)
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
        // One byte more than it may have, so that a longer file is seen.
        var bytes = [UInt8](repeating: 0, count: Page.fileSize + 1)
        var span = bytes.mutableSpan
        let count = try file.read(into: &span, at: 0)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    func write(_ bytes: [UInt8], block: Int) throws(PosixError) {
        guard let reserve else { return try file.write(bytes.span, at: block * Page.size) }
        // The block has its place, but a file system that copies on write takes a new one for it. Not so `sync`: a
        // second one that succeeds says nothing of what the first has lost.
        try reserve.spending { () throws(PosixError) in
            try file.write(bytes.span, at: block * Page.size)
        }
    }

    func sync() throws(PosixError) {
        try file.syncData()
    }
}
