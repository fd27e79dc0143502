/// Why a text cannot be a passcode.
public enum PasscodeRefusal: CaseIterable, Sendable {
    case empty
    case tooLong
    case notUTF8
    case controlCharacter
}

/// The result of normalising a passcode.
public enum NormalisedPasscode: Equatable, Sendable {
    /// The number of bytes of the output that hold the passcode.
    case count(Int)
    case refused(PasscodeRefusal)
}

/// RFC 8265 OpaqueString, done on scalars: a passcode never becomes a String, whose copies cannot
/// be wiped.
public enum PasscodeText {
    /// The most bytes of a passcode, before and after. The output needs room for as many.
    public static let maximum = 1024
    /// Bytes of working memory: 4 bytes for each scalar, and a byte never becomes more than 1.5
    /// scalars.
    public static let scratchSize = maximum * 3 / 2 * 4

    /// Other spaces become U+0020, then the text becomes NFC. Output and scratch must be secret
    /// memory of the caller's, because both hold the passcode afterwards. If one of them is too
    /// small for the text, the text is refused as too long.
    @_lifetime(output: copy output)
    @_lifetime(scratch: copy scratch)
    public static func normalise(
        _ text: Span<UInt8>, into output: inout MutableSpan<UInt8>,
        scratch: inout MutableSpan<UInt8>
    ) -> NormalisedPasscode {
        guard text.count > 0 else { return .refused(.empty) }
        guard text.count <= maximum else { return .refused(.tooLong) }
        var cells = ScalarCells(capacity: scratch.count / ScalarCells.size)
        var decoder = ScalarDecoder()
        while true {
            switch decoder.next(text) {
            case .end:
                cells.order(&scratch)
                cells.compose(&scratch)
                return write(cells, scratch, into: &output)
            case .invalid:
                return .refused(.notUTF8)
            case .scalar(let scalar):
                if isControl(scalar) { return .refused(.controlCharacter) }
                let kept = isSpace(scalar) ? 0x20 : scalar
                guard cells.appendDecomposed(kept, &scratch) else { return .refused(.tooLong) }
            }
        }
    }

    /// Characters as a person counts them (grapheme clusters); each stray byte counts as one.
    public static func characters(_ text: Span<UInt8>) -> Int {
        var recognizer = Unicode._CharacterRecognizer()
        var decoder = ScalarDecoder()
        var count = 0
        while true {
            switch decoder.next(text) {
            case .end:
                return count
            case .invalid:
                if recognizer.hasBreak(before: "\u{FFFD}") { count += 1 }
            case .scalar(let value):
                guard let scalar = Unicode.Scalar(value) else { continue }
                if recognizer.hasBreak(before: scalar) { count += 1 }
            }
        }
    }

    private static func isControl(_ scalar: UInt32) -> Bool {
        scalar < 0x20 || 0x7F...0x9F ~= scalar
    }

    // The general category Zs, which has not changed since Unicode 6.3.
    private static func isSpace(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    @_lifetime(output: copy output)
    private static func write(
        _ cells: ScalarCells, _ scratch: borrowing MutableSpan<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) -> NormalisedPasscode {
        var count = 0
        let limit = min(maximum, output.count)
        for index in 0..<cells.count {
            let scalar = cells.scalar(at: index, scratch)
            let length = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
            guard count + length <= limit else { return .refused(.tooLong) }
            if length == 1 {
                output[count] = UInt8(truncatingIfNeeded: scalar)
            } else {
                let mark = UInt8(truncatingIfNeeded: 0xF00 >> length)
                let shift = UInt32(6 * (length - 1))
                output[count] = mark | UInt8(truncatingIfNeeded: scalar >> shift)
                for place in 1..<length {
                    let bits = scalar >> (shift - UInt32(6 * place)) & 0x3F
                    output[count + place] = 0x80 | UInt8(truncatingIfNeeded: bits)
                }
            }
            count += length
        }
        return .count(count)
    }
}
