/// What the rules need to know about a passcode, from one walk over its scalars. Nothing of the
/// passcode is copied: scalars are compared where they are.
struct PasscodeTraits {
    /// As a person counts them.
    private(set) var characters = 0
    private(set) var scalars = 0
    /// Decimal digits of any script.
    private(set) var digits = 0
    private(set) var hasLower = false
    private(set) var hasUpper = false
    private(set) var hasSpecial = false
    /// Different scalars, counted up to the number that was asked for.
    private(set) var unique = 0

    private var lastDigit = 0
    private var step = 0
    private var isEven = true

    var groups: Int {
        (digits > 0 ? 1 : 0) + (hasLower ? 1 : 0) + (hasUpper ? 1 : 0) + (hasSpecial ? 1 : 0)
    }

    /// Three or more digits and nothing else, with the same difference from each digit to the next.
    var isSequence: Bool { scalars >= 3 && digits == scalars && isEven }

    init(of text: Span<UInt8>, uniqueUpTo limit: Int) {
        var recognizer = Unicode._CharacterRecognizer()
        var decoder = ScalarDecoder()
        var seen = SeenScalars()
        while true {
            let start = decoder.position
            let scalar: Unicode.Scalar
            switch decoder.next(text) {
            case .end: return
            // A passcode is normalised and has no invalid bytes. If it had, each would count as a
            // special character.
            case .invalid: scalar = "\u{FFFD}"
            case .scalar(let value): scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
            }
            if recognizer.hasBreak(before: scalar) { characters += 1 }
            classify(scalar)
            scalars += 1
            if unique < limit, seen.isNew(scalar, at: start, in: text) { unique += 1 }
        }
    }

    private mutating func classify(_ scalar: Unicode.Scalar) {
        // Most passcodes are ASCII, and the tables of Unicode are slow.
        switch scalar.value {
        case 0x30...0x39: return add(digit: Int(scalar.value) - 0x30)
        case 0x41...0x5A: hasUpper = true
        case 0x61...0x7A: hasLower = true
        case ..<0x80: hasSpecial = true
        default: classifyByTable(scalar)
        }
    }

    private mutating func classifyByTable(_ scalar: Unicode.Scalar) {
        switch scalar.properties.generalCategory {
        case .decimalNumber: add(digit: Int(scalar.properties.numericValue ?? 0))
        case .lowercaseLetter: hasLower = true
        case .uppercaseLetter, .titlecaseLetter: hasUpper = true
        case .modifierLetter, .otherLetter: break
        case .nonspacingMark, .spacingMark, .enclosingMark: break
        case .letterNumber, .otherNumber: break
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol,
            .currencySymbol, .modifierSymbol, .otherSymbol, .spaceSeparator, .lineSeparator,
            .paragraphSeparator, .control, .format, .surrogate, .privateUse, .unassigned:
            hasSpecial = true
        // This enum is the runtime's, not ours. A category that a later Unicode adds is not L, M or
        // N.
        @unknown default: hasSpecial = true
        }
    }

    private mutating func add(digit: Int) {
        let difference = (digit - lastDigit + 10) % 10
        if digits == 1 { step = difference }
        if digits > 1, difference != step { isEven = false }
        lastDigit = digit
        digits += 1
    }
}

/// Which scalars were seen already. Each ASCII character has a bit of its own. The other scalars
/// share 128 bits, and where such a bit is taken, the text itself is searched: a set of them would
/// be a copy of the passcode.
private struct SeenScalars {
    private var ascii = Bits()
    private var others = Bits()

    mutating func isNew(_ scalar: Unicode.Scalar, at start: Int, in text: Span<UInt8>) -> Bool {
        if scalar.value < 128 { return ascii.take(scalar.value) }
        return others.take(scalar.value & 127) || !comesBefore(scalar.value, start, text)
    }

    private struct Bits {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// Takes the bit. False where it was taken already.
        mutating func take(_ place: UInt32) -> Bool {
            place < 64 ? Self.take(&low, place) : Self.take(&high, place - 64)
        }

        private static func take(_ bits: inout UInt64, _ place: UInt32) -> Bool {
            let bit: UInt64 = 1 << UInt64(place)
            defer { bits |= bit }
            return bits & bit == 0
        }
    }

    private func comesBefore(_ value: UInt32, _ end: Int, _ text: Span<UInt8>) -> Bool {
        var decoder = ScalarDecoder()
        while decoder.position < end {
            switch decoder.next(text) {
            case .end: return false
            case .invalid: if value == 0xFFFD { return true }
            case .scalar(let other): if other == value { return true }
            }
        }
        return false
    }
}
