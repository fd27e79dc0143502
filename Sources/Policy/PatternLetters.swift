/// The characters that a passcode may have at some place. The ASCII ones are exact; beyond ASCII
/// the set may hold more than the pattern means.
struct PatternLetters: Hashable {
    /// The characters beyond ASCII: decimal digits, and all others.
    struct Beyond: OptionSet, Hashable {
        let rawValue: UInt8
        static let digits = Beyond(rawValue: 1)
        static let others = Beyond(rawValue: 2)
        static let all: Beyond = [.digits, .others]
    }

    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var beyond: Beyond = []
    /// Every character beyond ASCII is in the set.
    private var isWhole = false

    static let none = PatternLetters()
    // A passcode has no control characters.
    static let any = PatternLetters(0x20...0x7E, beyond: .all, isWhole: true)
    static let digits = PatternLetters(0x30...0x39, beyond: .digits)

    init() {}

    init(_ bytes: ClosedRange<UInt8>, beyond: Beyond = [], isWhole: Bool = false) {
        for byte in bytes { insert(byte) }
        self.beyond = beyond
        self.isWhole = isWhole
    }

    init(_ scalar: Unicode.Scalar) {
        if scalar.isASCII { insert(UInt8(scalar.value)) } else { beyond = .all }
    }

    private mutating func insert(_ byte: UInt8) {
        guard 0x20...0x7E ~= byte else { return }
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    var isEmpty: Bool { low == 0 && high == 0 && beyond.isEmpty }

    /// How many there are; nil where characters beyond ASCII, which are not counted, are among
    /// them.
    var count: Int? {
        beyond.isEmpty ? low.nonzeroBitCount + high.nonzeroBitCount : nil
    }

    func union(_ other: PatternLetters) -> PatternLetters {
        var both = self
        both.low |= other.low
        both.high |= other.high
        both.beyond.formUnion(other.beyond)
        both.isWhole = isWhole || other.isWhole
        return both
    }

    func intersection(_ other: PatternLetters) -> PatternLetters {
        var both = self
        both.low &= other.low
        both.high &= other.high
        both.beyond.formIntersection(other.beyond)
        both.isWhole = isWhole && other.isWhole
        return both
    }

    var complement: PatternLetters {
        var rest = Self.any
        rest.low &= ~low
        rest.high &= ~high
        rest.beyond = isWhole ? [] : .all
        rest.isWhole = beyond.isEmpty
        return rest
    }

    func meets(_ other: PatternLetters) -> Bool { !intersection(other).isEmpty }

    // MARK: what the rules ask for

    private static let ofOthers = PatternLetters(0...0, beyond: .others)
    static let lower = PatternLetters(0x61...0x7A).union(ofOthers)
    static let upper = PatternLetters(0x41...0x5A).union(ofOthers)
    static let special = PatternLetters(0x20...0x20).union(signs).union(ofOthers)
    private static let signs = PatternLetters(0x21...0x2F).union(PatternLetters(0x3A...0x40))
        .union(PatternLetters(0x5B...0x60)).union(PatternLetters(0x7B...0x7E))

    /// A class of a bracket expression; nil where no class has that name. Beyond ASCII, [:digit:]
    /// has no characters, and digits are only in [:alpha:] and the classes that contain it.
    static func named(_ name: String) -> PatternLetters? {
        let small = PatternLetters(0x61...0x7A)
        let large = PatternLetters(0x41...0x5A)
        let number = PatternLetters(0x30...0x39)
        let hex = PatternLetters(0x61...0x66).union(PatternLetters(0x41...0x46))
        let beyond = PatternLetters(0...0, beyond: .all)
        return switch name {
        case "lower": small.union(ofOthers)
        case "upper": large.union(ofOthers)
        case "digit": number
        case "xdigit": number.union(hex)
        case "alpha": small.union(large).union(beyond)
        case "alnum": small.union(large).union(number).union(beyond)
        case "punct": signs.union(ofOthers)
        case "graph": small.union(large).union(number).union(signs).union(beyond)
        case "print": any
        case "space", "blank": PatternLetters(0x20...0x20).union(ofOthers)
        case "cntrl": ofOthers
        default: nil
        }
    }
}
