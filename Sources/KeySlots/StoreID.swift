import Secrets

/// The id of a store, which is also the name of its folder: a random UUID (version 4).
public struct StoreID: Hashable, Sendable, CustomStringConvertible {
    public static let size = 16

    private let high: UInt64
    private let low: UInt64

    /// Takes exactly 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    public static func random() throws(SecretsError) -> StoreID {
        var bytes = try Random.bytes(size)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        guard let id = StoreID(bytes: bytes) else { throw .wrongSize }
        return id
    }

    /// Takes 36 characters in lower case, so that a store has only one folder name.
    public init?(text: String) {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var bytes: [UInt8] = []
        var half: UInt8?
        for (index, character) in characters.enumerated() {
            if Self.hyphens.contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.digits.firstIndex(of: character) else { return nil }
            if let first = half {
                bytes.append(first << 4 | UInt8(digit))
                half = nil
            } else {
                half = UInt8(digit)
            }
        }
        self.init(bytes: bytes)
    }

    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    public var description: String {
        var text: [UInt8] = []
        for byte in bytes {
            if Self.hyphens.contains(text.count) { text.append(UInt8(ascii: "-")) }
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let hyphens = [8, 13, 18, 23]
    private static let digits = Array("0123456789abcdef".utf8)
}
