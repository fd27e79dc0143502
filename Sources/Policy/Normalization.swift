/// Look-ups in the tables.
enum Normalization {
    /// Where the full canonical decomposition lies in `NormalizationTable.parts`.
    static func decomposition(of scalar: UInt32) -> Range<Int>? {
        guard scalar >= 0xC0 else { return nil }
        let index = firstIndex(in: NormalizationTable.decomposing, notBelow: scalar)
        guard index < NormalizationTable.decomposing.count,
            NormalizationTable.decomposing[index] == scalar
        else { return nil }
        return Int(NormalizationTable.starts[index])..<Int(NormalizationTable.starts[index + 1])
    }

    static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if let syllable = Hangul.composite(first, second) { return syllable }
        let pair = UInt64(first) << 32 | UInt64(second)
        let index = firstIndex(in: NormalizationTable.pairs, notBelow: pair)
        guard index < NormalizationTable.pairs.count, NormalizationTable.pairs[index] == pair else {
            return nil
        }
        return NormalizationTable.composites[index]
    }

    static func combiningClass(of scalar: UInt32) -> UInt32 {
        guard scalar >= 0x300 else { return 0 }
        let index = firstIndex(in: NormalizationTable.classLast, notBelow: scalar)
        guard index < NormalizationTable.classes.count,
            NormalizationTable.classFirst[index] <= scalar
        else { return 0 }
        return UInt32(NormalizationTable.classes[index])
    }

    private static func firstIndex<N: Comparable>(in sorted: [N], notBelow value: N) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Hangul syllables are computed (Unicode 3.12).
enum Hangul {
    private static let syllables: UInt32 = 0xAC00
    private static let leads: UInt32 = 0x1100
    private static let vowels: UInt32 = 0x1161
    // One before the first tail: tail 0 means that the syllable has none.
    private static let tails: UInt32 = 0x11A7
    private static let leadCount: UInt32 = 19
    private static let vowelCount: UInt32 = 21
    private static let tailCount: UInt32 = 28

    static func parts(of scalar: UInt32) -> (lead: UInt32, vowel: UInt32, tail: UInt32?)? {
        guard let index = offset(scalar, from: syllables, below: leadCount * vowelCount * tailCount)
        else { return nil }
        let tail = index % tailCount
        return (
            leads + index / (vowelCount * tailCount), vowels + index / tailCount % vowelCount,
            tail == 0 ? nil : tails + tail
        )
    }

    static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if let lead = offset(first, from: leads, below: leadCount),
            let vowel = offset(second, from: vowels, below: vowelCount)
        {
            return syllables + (lead * vowelCount + vowel) * tailCount
        }
        if let syllable = offset(first, from: syllables, below: leadCount * vowelCount * tailCount),
            syllable % tailCount == 0,
            let tail = offset(second, from: tails + 1, below: tailCount - 1)
        {
            return first + tail + 1
        }
        return nil
    }

    private static func offset(_ scalar: UInt32, from start: UInt32, below count: UInt32) -> UInt32?
    {
        guard scalar >= start, scalar - start < count else { return nil }
        return scalar - start
    }
}
