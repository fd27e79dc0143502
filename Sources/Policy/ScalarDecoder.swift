/// Reads UTF-8 strictly: no overlong form, no surrogate, nothing beyond U+10FFFF.
struct ScalarDecoder {
    enum Step {
        case scalar(UInt32)
        /// One byte that belongs to no scalar. The next step goes on after it.
        case invalid
        case end
    }

    private var index = 0

    /// Where the next step begins.
    var position: Int { index }

    mutating func next(_ text: Span<UInt8>) -> Step {
        guard index < text.count else { return .end }
        let first = UInt32(text[index])
        index += 1
        // The bounds of the second byte exclude overlong forms, surrogates and values that are too
        // large.
        let (more, least, most): (Int, UInt8, UInt8)
        switch first {
        case 0...0x7F: return .scalar(first)
        case 0xC2...0xDF: (more, least, most) = (1, 0x80, 0xBF)
        case 0xE0: (more, least, most) = (2, 0xA0, 0xBF)
        case 0xED: (more, least, most) = (2, 0x80, 0x9F)
        case 0xE1...0xEF: (more, least, most) = (2, 0x80, 0xBF)
        case 0xF0: (more, least, most) = (3, 0x90, 0xBF)
        case 0xF1...0xF3: (more, least, most) = (3, 0x80, 0xBF)
        case 0xF4: (more, least, most) = (3, 0x80, 0x8F)
        default: return .invalid
        }
        guard text.count - index >= more, least <= text[index], text[index] <= most else {
            return .invalid
        }
        var scalar = first & (0x3F >> UInt32(more))
        for place in 0..<more {
            let byte = text[index + place]
            guard byte & 0xC0 == 0x80 else { return .invalid }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        index += more
        return .scalar(scalar)
    }
}
