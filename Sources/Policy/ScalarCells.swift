/// Scalars with their combining classes, stored in bytes of the caller's, four for each: secret
/// memory is made of bytes.
struct ScalarCells {
    static let size = 4

    let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    func scalar(at index: Int, _ bytes: borrowing MutableSpan<UInt8>) -> UInt32 {
        cell(index, bytes) & 0x1F_FFFF
    }

    /// Returns false if there is no room left.
    mutating func appendDecomposed(_ scalar: UInt32, _ bytes: inout MutableSpan<UInt8>) -> Bool {
        if let syllable = Hangul.parts(of: scalar) {
            guard append(syllable.lead, &bytes), append(syllable.vowel, &bytes) else {
                return false
            }
            guard let tail = syllable.tail else { return true }
            return append(tail, &bytes)
        }
        guard let range = Normalization.decomposition(of: scalar) else {
            return append(scalar, &bytes)
        }
        for index in range {
            guard append(NormalizationTable.parts[index], &bytes) else { return false }
        }
        return true
    }

    /// Canonical ordering: a stable insertion sort of each run of marks.
    func order(_ bytes: inout MutableSpan<UInt8>) {
        for index in 0..<count {
            let moving = cell(index, bytes)
            let mark = combiningClass(moving)
            guard mark > 0 else { continue }
            var place = index
            while place > 0 {
                let before = cell(place - 1, bytes)
                guard combiningClass(before) > mark else { break }
                put(before, at: place, &bytes)
                place -= 1
            }
            put(moving, at: place, &bytes)
        }
    }

    /// Canonical composition, in place.
    mutating func compose(_ bytes: inout MutableSpan<UInt8>) {
        var kept = 0
        var starter: Int?
        // The class of the last scalar that was kept after the starter. It is not used for a scalar
        // directly after the starter.
        var lastClass: UInt32 = 0
        for index in 0..<count {
            let next = cell(index, bytes)
            let mark = combiningClass(next)
            if let starter, kept == starter + 1 || lastClass < mark,
                let composite = Normalization.composite(
                    scalar(at: starter, bytes), next & 0x1F_FFFF)
            {
                put(
                    composite | Normalization.combiningClass(of: composite) << 24, at: starter,
                    &bytes)
                continue
            }
            put(next, at: kept, &bytes)
            if mark == 0 { starter = kept }
            lastClass = mark
            kept += 1
        }
        count = kept
    }

    private mutating func append(_ scalar: UInt32, _ bytes: inout MutableSpan<UInt8>) -> Bool {
        guard count < capacity else { return false }
        put(scalar | Normalization.combiningClass(of: scalar) << 24, at: count, &bytes)
        count += 1
        return true
    }

    private func combiningClass(_ cell: UInt32) -> UInt32 { cell >> 24 }

    private func cell(_ index: Int, _ bytes: borrowing MutableSpan<UInt8>) -> UInt32 {
        let start = index * Self.size
        return UInt32(bytes[start]) | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]) << 16
            | UInt32(bytes[start + 3]) << 24
    }

    private func put(_ cell: UInt32, at index: Int, _ bytes: inout MutableSpan<UInt8>) {
        for place in 0..<Self.size {
            bytes[index * Self.size + place] = UInt8(truncatingIfNeeded: cell >> UInt32(8 * place))
        }
    }
}
