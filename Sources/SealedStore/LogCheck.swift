internal import Posix

/// Whether the write-ahead log still holds every answered commit, as far as the log itself can
/// show.
///
/// SQLite takes the first frame with a wrong checksum for the end of the log. After a power cut
/// that is right; but a flipped bit would silently set the store back to an older state. Each
/// commit is synced before the next one begins. So if a later transaction continues from a commit
/// that SQLite would not reach, that commit was answered and is lost. A change in the very last
/// transaction cannot be told from a power cut.
enum LogCheck {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let pageSize = 4096
    private static let frameSize = frameHeaderSize + pageSize

    /// SQLite's running checksum, over pairs of little-endian words, as the magic number of our
    /// logs says.
    private struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: Span<UInt8>, _ range: Range<Int>) {
            var position = range.lowerBound
            while position + 8 <= range.upperBound {
                first = first &+ LogCheck.little(bytes, position) &+ second
                second = second &+ LogCheck.little(bytes, position + 4) &+ first
                position += 8
            }
        }
    }

    private struct Frame {
        private let bytes: [UInt8]
        let endsCommit: Bool
        let isOfThisLog: Bool
        let stored: Checksum

        /// The file does not shrink while we hold it. If it did, a frame that is cut short is none.
        init(_ bytes: [UInt8], of header: [UInt8]) {
            self.bytes = bytes
            let isWhole = bytes.count == frameSize
            endsCommit = isWhole && big(bytes, 4) != 0
            isOfThisLog = isWhole && bytes[8..<16] == header[16..<24]
            stored = isWhole ? LogCheck.stored(bytes, 16) : Checksum()
        }

        func follows(_ before: Checksum) -> Bool {
            guard isOfThisLog else { return false }
            var sum = before
            sum.add(bytes.span, 0..<8)
            sum.add(bytes.span, frameHeaderSize..<frameSize)
            return sum == stored
        }
    }

    /// `bytes` gives the bytes at a position; fewer than asked for only at the end of the log.
    static func isComplete(
        size: Int, bytes: (_ position: Int, _ count: Int) throws(PosixError) -> [UInt8]
    ) throws(PosixError) -> Bool {
        guard size >= headerSize else { return true }
        let header = try bytes(0, headerSize)
        guard header.count == headerSize else { return true }
        // The log was made, but nothing was synced yet.
        if header.allSatisfy({ $0 == 0 }) { return true }
        var sum = Checksum()
        sum.add(header.span, 0..<24)
        guard big(header, 0) == 0x377f_0682, big(header, 4) == 3_007_000,
            big(header, 8) == UInt32(pageSize), sum == stored(header, 24)
        else { return false }

        let frames = (size - headerSize) / frameSize
        var index = 0
        while index < frames {
            let frame = Frame(try bytes(headerSize + index * frameSize, frameSize), of: header)
            guard frame.follows(sum) else { break }
            sum = frame.stored
            index += 1
        }
        // Beyond what SQLite would read: does a transaction continue from a commit?
        var commit: Checksum?
        while index < frames {
            let frame = Frame(try bytes(headerSize + index * frameSize, frameSize), of: header)
            if let commit, frame.follows(commit) { return false }
            commit = frame.isOfThisLog && frame.endsCommit ? frame.stored : nil
            index += 1
        }
        return true
    }

    private static func stored(_ bytes: [UInt8], _ position: Int) -> Checksum {
        Checksum(first: big(bytes, position), second: big(bytes, position + 4))
    }

    private static func big(_ bytes: [UInt8], _ position: Int) -> UInt32 {
        bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func little(_ bytes: Span<UInt8>, _ position: Int) -> UInt32 {
        UInt32(bytes[position]) | UInt32(bytes[position + 1]) << 8
            | UInt32(bytes[position + 2]) << 16 | UInt32(bytes[position + 3]) << 24
    }
}
