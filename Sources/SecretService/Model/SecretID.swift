import Wire

/// The 16 bytes that an item, a collection, a session or a prompt is known by.
struct SecretID: Hashable, Sendable, Comparable {
    let high: UInt64
    let low: UInt64

    /// As the collection `login` has it.
    static let zero = SecretID(high: 0, low: 0)

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Nobody can guess it.
    static func random() -> SecretID {
        var generator = SystemRandomNumberGenerator()
        return SecretID(high: generator.next(), low: generator.next())
    }

    /// Of a store that is to be a collection.
    static func marked() -> SecretID {
        let random = self.random().bytes.prefix(CollectionMark.randomBytes)
        return CollectionMark.id(random: Array(random)).flatMap(SecretID.init) ?? .random()
    }

    /// Nil if these are not 16 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var bytes: [UInt8] {
        [high, low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
        }
    }

    /// 32 digits, as a part of a path.
    var text: String {
        let digits = (0..<32).map { place in
            let half = place < 16 ? high : low
            let digit = UInt8(half >> (60 - 4 * UInt64(place % 16)) & 15)
            return digit < 10 ? 48 + digit : 87 + digit
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// As a store's id is written.
    var uuid: String {
        var uuid = ""
        for (place, digit) in text.enumerated() {
            if [8, 12, 16, 20].contains(place) { uuid += "-" }
            uuid.append(digit)
        }
        return uuid
    }

    init?(text: Substring) {
        guard text.utf8.count == 32 else { return nil }
        var halves: [UInt64] = [0, 0]
        for (place, digit) in text.utf8.enumerated() {
            let value: UInt8
            switch digit {
            case 48...57: value = digit - 48
            case 97...102: value = digit - 87
            default: return nil
            }
            halves[place / 16] = halves[place / 16] << 4 | UInt64(value)
        }
        self.init(high: halves[0], low: halves[1])
    }

    static func < (one: SecretID, other: SecretID) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }
}
