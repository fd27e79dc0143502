internal import Posix

/// What the write-ahead log can show by itself: wrong bits, and answered commits that SQLite would
/// not reach.
///
/// SQLite takes the first frame with a wrong checksum for the end of the log. After a power cut
/// that is right; but a flipped bit would silently set the store back to an older state. Each
/// commit is synced before the next one begins. So if a later transaction continues from a commit
/// that SQLite would not reach, that commit was answered and is lost. A change in the very last
/// transaction cannot be told from a power cut here: what was noted of the commits tells it.
enum LogCheck {
    struct Finding: Equatable {
        /// The bytes that belong in the place of those that are there.
        var corrections: [Correction] = []
        /// At least so many answered commits are out of SQLite's reach.
        var missing = 0
    }

    struct Correction: Equatable {
        let position: Int
        let byte: UInt8
    }

    /// `bytes` gives the bytes at a position; fewer than asked for only at the end of the log.
    static func finding(
        size: Int, bytes: (_ position: Int, _ count: Int) throws(PosixError) -> [UInt8]
    ) throws(PosixError) -> Finding {
        var finding = Finding()
        guard size >= LogHeader.size else { return finding }
        var header = try bytes(0, LogHeader.size)
        guard header.count == LogHeader.size else { return finding }
        // The log was made, but nothing was synced yet.
        if header.allSatisfy({ $0 == 0 }) { return finding }
        let frames = (size - LogHeader.size) / LogFrame.size
        if !LogHeader.isWhole(header) {
            guard let bit = LogHeader.onlyWrongBit(header) else {
                // SQLite would take it for an empty log. Its frames begin only after the header
                // was synced.
                finding.missing = frames > 0 ? 1 : 0
                return finding
            }
            header.turn(bit)
            finding.corrections.append(Correction(bit, in: header, at: 0))
        }
        func frame(_ index: Int) throws(PosixError) -> LogFrame {
            LogFrame(try bytes(LogFrame.position(index), LogFrame.size), of: header)
        }

        var sum = LogHeader.sum(header)
        var index = 0
        while index < frames {
            var next = try frame(index)
            if !next.follows(sum) {
                let behind = index + 1 < frames ? try frame(index + 1) : nil
                guard let bit = next.onlyWrongBit(after: sum, behind) else { break }
                next.turn(bit)
                finding.corrections.append(
                    Correction(bit, in: next.bytes, at: LogFrame.position(index)))
            }
            sum = next.stored
            index += 1
        }
        // Beyond what SQLite would read: does a transaction continue from a commit?
        var commit: LogSum?
        while index < frames {
            let next = try frame(index)
            if let commit, next.follows(commit) { finding.missing += 1 }
            commit = next.isOfThisLog && next.endsCommit ? next.stored : nil
            index += 1
        }
        return finding
    }
}

extension LogCheck {
    /// What SQLite would take from the log.
    struct Content {
        /// Where the content of each page lies.
        var pages: [Int: Int]
        /// How many pages the file has with it.
        let count: Int
    }

    /// Nil if there is nothing.
    static func content(
        size: Int, bytes: (_ position: Int, _ count: Int) throws(PosixError) -> [UInt8]
    ) throws(PosixError) -> Content? {
        guard size >= LogHeader.size else { return nil }
        let header = try bytes(0, LogHeader.size)
        guard header.count == LogHeader.size, LogHeader.isWhole(header) else { return nil }
        var sum = LogHeader.sum(header)
        var pages: [Int: Int] = [:]
        var committed: Content?
        for index in 0..<(size - LogHeader.size) / LogFrame.size {
            let frame = LogFrame(try bytes(LogFrame.position(index), LogFrame.size), of: header)
            guard frame.follows(sum), frame.page > 0 else { break }
            pages[frame.page] = LogFrame.position(index) + LogFrame.headerSize
            if frame.endsCommit { committed = Content(pages: pages, count: frame.count) }
            sum = frame.stored
        }
        guard var committed else { return nil }
        let count = committed.count
        committed.pages = committed.pages.filter { $0.key <= count }
        return committed
    }
}

extension LogCheck.Correction {
    fileprivate init(_ bit: Int, in bytes: [UInt8], at start: Int) {
        self.init(position: start + bit / 8, byte: bytes[bit / 8])
    }
}

/// SQLite's running checksum, over pairs of little-endian words, as the magic number of our logs
/// says.
private struct LogSum: Equatable {
    var first: UInt32 = 0
    var second: UInt32 = 0

    mutating func add(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            first = first &+ little(bytes, position) &+ second
            second = second &+ little(bytes, position + 4) &+ first
            position += 8
        }
    }

    /// In how many bits the two differ.
    func distance(to other: LogSum) -> Int {
        (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount
    }
}

private enum LogHeader {
    static let size = 32
    private static let summed = 24

    static func sum(_ header: [UInt8]) -> LogSum {
        var sum = LogSum()
        sum.add(header.span, 0..<summed)
        return sum
    }

    static func isWhole(_ header: [UInt8]) -> Bool {
        big(header, 0) == 0x377f_0682 && big(header, 4) == 3_007_000
            && big(header, 8) == UInt32(LogFrame.pageSize)
            && sum(header) == LogSum(first: big(header, 24), second: big(header, 28))
    }

    /// Nil where no bit, or more than one, makes the header whole when it is turned.
    static func onlyWrongBit(_ header: [UInt8]) -> Int? {
        only(
            (0..<size * 8).filter { bit in
                var turned = header
                turned.turn(bit)
                return isWhole(turned)
            })
    }
}

private struct LogFrame {
    static let headerSize = 24
    static let pageSize = 4096
    static let size = headerSize + pageSize
    /// Page number and size of the file after a commit: what the checksum covers of the header.
    private static let summed = 8
    private static let salts = 8..<16
    private static let sums = 16

    private(set) var bytes: [UInt8]
    private let header: [UInt8]

    static func position(_ index: Int) -> Int { LogHeader.size + index * size }

    /// The file does not shrink while we hold it. If it did, a frame that is cut short is none.
    init(_ bytes: [UInt8], of header: [UInt8]) {
        self.bytes = bytes
        self.header = header
    }

    private var isWhole: Bool { bytes.count == Self.size }
    var endsCommit: Bool { isWhole && big(bytes, 4) != 0 }
    var page: Int { isWhole ? Int(big(bytes, 0)) : 0 }
    /// How many pages the file has after a commit.
    var count: Int { isWhole ? Int(big(bytes, 4)) : 0 }
    var isOfThisLog: Bool { isWhole && bytes[Self.salts] == header[16..<24] }

    var stored: LogSum {
        guard isWhole else { return LogSum() }
        return LogSum(first: big(bytes, Self.sums), second: big(bytes, Self.sums + 4))
    }

    mutating func turn(_ bit: Int) { bytes.turn(bit) }

    func follows(_ before: LogSum) -> Bool {
        isOfThisLog && sum(after: before) == stored
    }

    private func sum(after before: LogSum) -> LogSum {
        var sum = before
        sum.add(bytes.span, 0..<Self.summed)
        sum.add(bytes.span, Self.headerSize..<Self.size)
        return sum
    }

    /// Nil where no bit, or more than one, makes the frame follow when it is turned. The checksum
    /// is weak: about three bits in ten share theirs with others. What a wrong guess would put into
    /// a record, its seal refuses.
    func onlyWrongBit(after before: LogSum, _ behind: LogFrame?) -> Int? {
        guard isWhole else { return nil }
        let computed = sum(after: before)
        let wrongSalts = wrongSalts
        guard wrongSalts.isEmpty else { return computed == stored ? only(wrongSalts) : nil }
        var found = content(differingBy: computed)
        if computed.distance(to: stored) == 1 {
            let isFirst = computed.first != stored.first
            let wrong = isFirst ? computed.first ^ stored.first : computed.second ^ stored.second
            // The highest byte of each number comes first.
            let bit = wrong.trailingZeroBitCount
            let place = (Self.sums + (isFirst ? 3 : 7) - bit / 8) * 8 + bit % 8
            // The frame behind it goes on from the checksum as it was written.
            if behind?.follows(computed) == true { return place }
            if behind?.follows(stored) != true { found.append(place) }
        }
        return only(found)
    }

    /// The salts are the header's.
    private var wrongSalts: [Int] {
        var wrong: [Int] = []
        for index in Self.salts {
            let bits = bytes[index] ^ header[index + 8]
            for bit in 0..<8 where bits >> UInt8(bit) & 1 == 1 { wrong.append(index * 8 + bit) }
        }
        return wrong
    }

    /// The bits of page number, size and page that would give the stored checksum. What a word adds
    /// to both sums grows with the pairs behind it, so one pass over the words is enough.
    private func content(differingBy computed: LogSum) -> [Int] {
        let first = stored.first &- computed.first
        let second = stored.second &- computed.second
        var found: [Int] = []
        var even = LogSum(first: 1, second: 1)
        var odd = LogSum(first: 0, second: 1)
        let pages = stride(from: Self.headerSize, to: Self.size, by: 8).reversed()
        for position in Array(pages) + [0] {
            for (word, effect) in [(position, even), (position + 4, odd)] {
                let value = little(bytes.span, word)
                for bit in 0..<32 {
                    let power: UInt32 = 1 << UInt32(bit)
                    let change = value & power == 0 ? power : 0 &- power
                    if effect.first &* change == first, effect.second &* change == second {
                        found.append(word * 8 + bit)
                    }
                }
            }
            even = Self.behindOneMore(even)
            odd = Self.behindOneMore(odd)
        }
        return found
    }

    private static func behindOneMore(_ effect: LogSum) -> LogSum {
        LogSum(
            first: effect.first &+ effect.second,
            second: effect.first &+ effect.second &+ effect.second)
    }
}

private func only(_ bits: [Int]) -> Int? {
    bits.count == 1 ? bits[0] : nil
}

private func big(_ bytes: [UInt8], _ position: Int) -> UInt32 {
    bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
}

private func little(_ bytes: Span<UInt8>, _ position: Int) -> UInt32 {
    UInt32(bytes[position]) | UInt32(bytes[position + 1]) << 8
        | UInt32(bytes[position + 2]) << 16 | UInt32(bytes[position + 3]) << 24
}

extension [UInt8] {
    fileprivate mutating func turn(_ bit: Int) {
        self[bit / 8] ^= 1 << UInt8(bit % 8)
    }
}
