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

    init(_ file: consuming File) {
        self.file = file
    }

    func readBack() throws(PosixError) -> [UInt8] {
        file.dropCache()
        return try read()
    }

    func read() throws(PosixError) -> [UInt8] {
        // One byte more than it may have, so that a longer file is seen.
        var bytes = [UInt8](repeating: 0, count: SlotFile.size + 1)
        var span = bytes.mutableSpan
        let count = try file.read(into: &span, at: 0)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    func write(_ bytes: [UInt8], block: Int) throws(PosixError) {
        try file.write(bytes.span, at: block * Page.size)
    }

    func sync() throws(PosixError) {
        try file.syncData()
    }
}
