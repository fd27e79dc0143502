import Secrets

/// 128 random bits, and the text that a person writes down: seven groups of five characters, the
/// last of each group being its check.
public struct RecoveryKey: ~Copyable, Sendable {
    public static let size = 16
    /// The length of the text with its hyphens.
    public static let textSize = groups * (groupSize + 1) - 1

    let bytes: SecretBytes

    public static func random() throws(SecretsError) -> RecoveryKey {
        RecoveryKey(checked: try SecretBytes.random(size))
    }

    init(_ bytes: consuming SecretBytes) throws(SecretsError) {
        guard bytes.count == Self.size else { throw .wrongSize }
        self.init(checked: bytes)
    }

    private init(checked bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// What is wrong with a text. So a typing error can be distinguished from the key of another
    /// store.
    public enum TextError: Error, Equatable, Sendable {
        /// Too few or too many characters.
        case length
        /// This group (from 1) has a character that no key has.
        case character(group: Int)
        /// This group (from 1) is mistyped, or is not in its place.
        case group(Int)
        /// Each group is right by itself, but together they are not a key.
        case whole
        case secrets(SecretsError)
    }

    /// Ignores case, spaces and hyphens, and reads O as 0, I and L as 1, and U as V.
    public init(text: borrowing SecretBytes) throws(TextError) {
        var symbols = try Self.memory(Self.groups * Self.groupSize)
        try text.withBytes { (text) throws(TextError) in
            try symbols.withMutableBytes { (symbols) throws(TextError) in
                try Self.read(text, into: &symbols)
            }
        }
        for group in 0..<Self.groups {
            let isRight = symbols.withBytes { symbols in
                Self.check(symbols, group) == symbols[group * Self.groupSize + Self.dataSize]
            }
            guard isRight else { throw .group(group + 1) }
        }
        self.init(checked: try Self.key(symbols))
    }

    private static func key(_ symbols: borrowing SecretBytes) throws(TextError) -> SecretBytes {
        var bytes = try memory(size + 2)
        symbols.withBytes { symbols in
            bytes.withMutableBytes { bytes in pack(symbols, into: &bytes) }
        }
        let end = bytes.withBytes { bytes in [bytes[size], bytes[size + 1]] }
        bytes.shorten(to: size)
        let expected: [UInt8]
        do { expected = try ending(bytes) } catch { throw .secrets(error) }
        guard end == expected else { throw .whole }
        return bytes
    }

    private static func memory(_ count: Int) throws(TextError) -> SecretBytes {
        do { return try SecretBytes(count: count) } catch { throw .secrets(error) }
    }

    /// `XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX`
    public borrowing func text() throws(SecretsError) -> SecretBytes {
        let end = try Self.ending(bytes)
        var symbols = try SecretBytes(count: Self.groups * Self.groupSize)
        bytes.withBytes { bytes in
            symbols.withMutableBytes { symbols in Self.unpack(bytes, end, into: &symbols) }
        }
        var text = try SecretBytes(count: Self.textSize)
        symbols.withBytes { symbols in
            text.withMutableBytes { text in
                var place = 0
                for index in symbols.indices {
                    if index > 0, index % Self.groupSize == 0 {
                        text[place] = UInt8(ascii: "-")
                        place += 1
                    }
                    text[place] = Self.alphabet[Int(symbols[index])]
                    place += 1
                }
            }
        }
        return text
    }

    // 7 groups of 4 symbols hold 140 bits: the key, and 12 bits of its hash. The fifth symbol of a
    // group is its check.
    private static let groups = 7
    private static let groupSize = 5
    private static let dataSize = 4
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private static func ending(_ bytes: borrowing SecretBytes) throws(SecretsError) -> [UInt8] {
        let hash = try bytes.withBytes { (bytes) throws(SecretsError) in
            try Hash.blake2b(bytes, purpose: .recoveryText, count: 16)
        }
        return [hash[0], hash[1] & 0xf0]
    }

    @_lifetime(symbols: copy symbols)
    private static func read(
        _ text: Span<UInt8>, into symbols: inout MutableSpan<UInt8>
    ) throws(TextError) {
        var found = 0
        var index = 0
        while index < text.count {
            let skipped = separator(text, index)
            if skipped > 0 {
                index += skipped
                continue
            }
            guard found < symbols.count else { throw .length }
            guard let value = value(of: text[index])
            else { throw .character(group: found / groupSize + 1) }
            symbols[found] = value
            found += 1
            index += 1
        }
        guard found == symbols.count else { throw .length }
    }

    /// How many bytes the space or dash at this place takes. Word processors make long dashes and
    /// non-breaking spaces.
    private static func separator(_ text: Span<UInt8>, _ index: Int) -> Int {
        switch text[index] {
        case UInt8(ascii: " "), UInt8(ascii: "-"), 9, 10, 13: return 1
        case 0xc2 where index + 1 < text.count && text[index + 1] == 0xa0: return 2
        case 0xe2
        where index + 2 < text.count && text[index + 1] == 0x80
            && (0x90...0x95).contains(text[index + 2]):
            return 3
        default: return 0
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        let upper = (97...122).contains(character) ? character - 32 : character
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "U"): return value(of: UInt8(ascii: "V"))
        default: return alphabet.firstIndex(of: upper).map(UInt8.init)
        }
    }

    /// Over GF(32). Each place has its own weight, so the check finds every single wrong character
    /// and every swap of neighbours. The number of the group is part of it, so it also finds groups
    /// that changed places.
    private static func check(_ symbols: Span<UInt8>, _ group: Int) -> UInt8 {
        var sum: UInt8 = 0
        for index in 0..<dataSize {
            sum = double(sum ^ symbols[group * groupSize + index])
        }
        return sum ^ UInt8(group + 1)
    }

    /// Times x, modulo x^5 + x^2 + 1.
    private static func double(_ value: UInt8) -> UInt8 {
        let doubled = value << 1
        return (doubled ^ (value >> 4 == 1 ? 0b00101 : 0)) & 31
    }

    @_lifetime(bytes: copy bytes)
    private static func pack(_ symbols: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) {
        for bit in 0..<(groups * dataSize * 5) {
            let symbol = bit / 5
            let place = symbol / dataSize * groupSize + symbol % dataSize
            let value = symbols[place] >> UInt8(4 - bit % 5) & 1
            bytes[bit / 8] |= value << UInt8(7 - bit % 8)
        }
    }

    @_lifetime(symbols: copy symbols)
    private static func unpack(
        _ bytes: Span<UInt8>, _ end: [UInt8], into symbols: inout MutableSpan<UInt8>
    ) {
        for bit in 0..<(groups * dataSize * 5) {
            let byte = bit / 8 < size ? bytes[bit / 8] : end[bit / 8 - size]
            let symbol = bit / 5
            let place = symbol / dataSize * groupSize + symbol % dataSize
            symbols[place] |= (byte >> UInt8(7 - bit % 8) & 1) << UInt8(4 - bit % 5)
        }
        for group in 0..<groups {
            symbols[group * groupSize + dataSize] = check(symbols.span, group)
        }
    }
}
