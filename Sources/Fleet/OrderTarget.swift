import Secrets

/// Whom an order is for, without a name: only who has the organisation's target key can work it out,
/// so whoever keeps the bundle on a server learns nobody's name.
public struct OrderTarget: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    public static let size = 16

    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// From 32 hexadecimal digits in lower case. There may be thousands, so nothing is put into
    /// memory on the way.
    init?(digits: ArraySlice<UInt8>) {
        guard digits.count == 2 * Self.size else { return nil }
        guard let high = Self.word(digits.prefix(Self.size)),
            let low = Self.word(digits.suffix(Self.size))
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// Of each byte, as a digit. What a digit is cannot be foreseen, so a table is faster than to ask.
    private static let values: [UInt8] = (0...UInt8.max).map { byte in
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x57
        default: noDigit
        }
    }
    private static let noDigit = UInt8.max

    private static func word(_ digits: ArraySlice<UInt8>) -> UInt64? {
        let values = values
        var word: UInt64 = 0
        for digit in digits {
            let value = values[Int(digit)]
            guard value != noDigit else { return nil }
            word = word << 4 | UInt64(value)
        }
        return word
    }

    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    /// As it stands in orders: 32 hexadecimal digits.
    public var text: String { Hex.text(bytes) }
}

/// What a machine or a person is called in orders.
public struct TargetKey: ~Copyable, Sendable {
    public static let size = 32
    private let key: SecretBytes

    public init(_ key: consuming SecretBytes) {
        self.key = key
    }

    /// Everybody on this machine. `id` is that of /etc/machine-id.
    public borrowing func machine(_ id: [UInt8]) throws(SecretsError) -> OrderTarget {
        try target([Array("machine".utf8), id])
    }

    /// A person, on whatever machine.
    public borrowing func person(_ name: [UInt8]) throws(SecretsError) -> OrderTarget {
        try target([Array("person".utf8), name])
    }

    /// A person on one machine.
    public borrowing func person(
        _ name: [UInt8], atMachine id: [UInt8]
    ) throws(SecretsError) -> OrderTarget {
        try target([Array("person".utf8), name, id])
    }

    private borrowing func target(_ words: [[UInt8]]) throws(SecretsError) -> OrderTarget {
        // None of the words has a zero, so no two lists make the same bytes.
        let message = Array(words.joined(separator: [0]))
        let hash = try Hash.blake2b(
            message.span, key: key, purpose: Purpose("AV fleet target"), count: OrderTarget.size)
        guard let target = OrderTarget(hash) else { throw .wrongSize }
        return target
    }
}

/// Whom an order is for, by name.
public enum TargetName: Equatable, Sendable {
    /// On whatever machine.
    case person([UInt8])
    /// Everybody on it.
    case machine([UInt8])
    case personAt([UInt8], machine: [UInt8])
}

extension Join {
    /// What orders call each of these.
    public func targets(of names: [TargetName]) throws(SecretsError) -> [OrderTarget] {
        let key = TargetKey(try SecretBytes(copying: targetKey.span))
        var targets: [OrderTarget] = []
        for name in names {
            let target =
                switch name {
                case .person(let name): try key.person(name)
                case .machine(let id): try key.machine(id)
                case .personAt(let name, let machine): try key.person(name, atMachine: machine)
                }
            targets.append(target)
        }
        return targets
    }
}
