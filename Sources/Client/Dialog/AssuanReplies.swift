import Posix
import Wire

/// What pinentry says, line by line. It is another program: no line is believed to be short, or
/// whole, or the last.
struct AssuanReplies: ~Copyable {
    enum Reply: Equatable {
        case ok
        /// The number without the part that says which program it is from.
        case error(UInt16)
        /// A piece of the answer, which was added to `data`.
        case data
        /// A status or a comment.
        case remark
    }

    enum Fault: Error, Equatable {
        case tooLong
        case notUnderstood
    }

    /// Of a line, without its end.
    static let longestLine = 1000
    /// Of all of them together: pinentry says about twenty.
    static let mostLines = 256

    private var pending = SecretBuffer(capacity: 4096)
    private var lines = 0
    /// The answer. It is never longer than a byte more than the longest secret.
    private(set) var data = SecretBuffer()

    /// Reads once; false at the end.
    mutating func read(from process: borrowing PipedProcess) throws(PosixError) -> Bool {
        try process.read(into: &pending, atMost: 1024) > 0
    }

    mutating func add(_ bytes: [UInt8]) { pending.append(bytes) }

    /// The next line that has come whole; nil if there is none.
    mutating func next() throws(Fault) -> Reply? {
        var end = 0
        while end < pending.count, pending[end] != 0x0A {
            end += 1
            guard end <= Self.longestLine else { throw .tooLong }
        }
        guard end < pending.count else { return nil }
        lines += 1
        guard lines <= Self.mostLines else { throw .tooLong }
        defer { pending.dropFirst(end + 1) }
        return try reply(end)
    }

    private mutating func reply(_ end: Int) throws(Fault) -> Reply {
        if begins(with: "D ", end) {
            try addData(2..<end)
            return .data
        }
        if isWord("OK", end) { return .ok }
        if isWord("ERR", end) { return .error(try number(min(4, end)..<end)) }
        if isWord("S", end) || (end > 0 && pending[0] == UInt8(ascii: "#")) { return .remark }
        throw .notUnderstood
    }

    private func begins(with text: StaticString, _ end: Int) -> Bool {
        let text = "\(text)".utf8
        guard end >= text.count else { return false }
        return zip(0..., text).allSatisfy { pending[$0] == $1 }
    }

    private func isWord(_ word: StaticString, _ end: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        return begins(with: word, end) && (end == count || pending[count] == 0x20)
    }

    private func number(_ range: Range<Int>) throws(Fault) -> UInt16 {
        var value: UInt32 = 0
        var digits = 0
        for index in range {
            guard case let digit = pending[index] &- UInt8(ascii: "0"), digit < 10 else { break }
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            let (sum, isMore) = tens.addingReportingOverflow(UInt32(digit))
            guard !isTooMuch, !isMore else { throw .notUnderstood }
            value = sum
            digits += 1
        }
        guard digits > 0 else { throw .notUnderstood }
        return UInt16(truncatingIfNeeded: value)
    }

    /// An escape that is none must not become part of a secret, nor be left out of it.
    private mutating func addData(_ range: Range<Int>) throws(Fault) {
        var index = range.lowerBound
        while index < range.upperBound {
            var byte = pending[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 2 <= range.upperBound, let high = Self.digit(pending[index]),
                    let low = Self.digit(pending[index + 1])
                else { throw .notUnderstood }
                byte = high << 4 | low
                index += 2
            }
            if data.count <= Limits.secret { data.append(byte) }
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
