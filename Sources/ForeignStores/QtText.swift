internal import Posix

/// Qt's texts are UTF-16, with the larger byte first.
enum QtText {
    /// Half a pair of surrogates is shown as the mark for what is no character.
    static func each(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ body: (Unicode.Scalar) -> Void
    ) throws(ForeignProblem) {
        guard range.count.isMultiple(of: 2) else { throw .damaged }
        func unit(_ index: Int) -> UInt32 { UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1]) }
        var index = range.lowerBound
        while index < range.upperBound {
            var value = unit(index)
            index += 2
            if (0xD800..<0xDC00).contains(value), index < range.upperBound,
                (0xDC00..<0xE000).contains(unit(index))
            {
                value = 0x10000 + (value - 0xD800) << 10 + (unit(index) - 0xDC00)
                index += 2
            }
            body(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
    }

    static func append(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ secrets: inout SecretBuffer
    ) throws(ForeignProblem) {
        try each(bytes, range) { append($0, &secrets) }
    }

    static func append(_ scalar: Unicode.Scalar, _ secrets: inout SecretBuffer) {
        for byte in UTF8.encode(scalar)! { secrets.append(byte) }
    }

    /// What is no secret.
    static func text(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(ForeignProblem) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        try each(bytes, range) { text += UTF8.encode($0)! }
        return text
    }
}
