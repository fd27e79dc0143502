internal import Posix

/// SHA-1 as KWallet has it: the words of a block are taken, and those of the digest given, in the
/// order of the machine and not with the larger byte first. On most machines that is another
/// function, which no library knows.
struct NativeSHA1: ~Copyable {
    static let size = 20

    /// The end of the message, with what fills the last block up.
    private var tail = SecretBuffer(capacity: 128)

    /// Appends the digest.
    mutating func hash(_ bytes: Span<UInt8>, into result: inout SecretBuffer) {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let whole = bytes.count - bytes.count % 64
        for start in stride(from: 0, to: whole, by: 64) {
            Self.take(bytes.extracting(start..<(start + 64)), &state)
        }
        tail.removeAll()
        tail.append(bytes.extracting(whole..<bytes.count))
        tail.append(0x80)
        while tail.count % 64 != 56 { tail.append(0) }
        let bits = UInt64(bytes.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        for start in stride(from: 0, to: tail.count, by: 64) {
            tail.withSpan(from: start, count: 64) { Self.take($0, &state) }
        }
        for word in state {
            // In memory a number lies in the order of the machine.
            let little = word.littleEndian
            for shift in stride(from: 0, to: 32, by: 8) {
                result.append(UInt8(truncatingIfNeeded: little >> UInt32(shift)))
            }
        }
    }

    private static func take(_ block: Span<UInt8>, _ state: inout [UInt32]) {
        var words = [UInt32](repeating: 0, count: 80)
        for index in 0..<16 {
            let little = (0..<4).reduce(UInt32(0)) {
                $0 | UInt32(block[4 * index + $1]) << UInt32(8 * $1)
            }
            words[index] = UInt32(littleEndian: little)
        }
        for index in 16..<80 {
            words[index] = turned(
                words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let mixed: (UInt32, UInt32) =
                switch index {
                case 0..<20: ((b & c) | (~b & d), 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = turned(a, 5) &+ mixed.0 &+ e &+ mixed.1 &+ words[index]
            (a, b, c, d, e) = (next, a, turned(b, 30), c, d)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        for index in words.indices { words[index] = 0 }
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
