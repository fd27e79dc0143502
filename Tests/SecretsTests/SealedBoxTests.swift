import Testing

@testable import Secrets

@Suite struct SealedBoxTests {
    private let content: [UInt8] = Array(1...32)

    @Test("the public key is the one that another implementation makes")
    func publicKey() throws {
        // RFC 7748, 6.1: Alice's keys.
        let alice = try secret([
            0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2,
            0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5,
            0x1d, 0xb9, 0x2c, 0x2a,
        ])
        #expect(
            hex(try SealedBox.publicKey(of: alice))
                == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    }

    @Test("only the private key opens what was sealed, and each box is another one")
    func roundTrip() throws {
        let mine = try SecretBytes.random(32)
        let other = try SecretBytes.random(32)
        let key = try SealedBox.publicKey(of: mine)
        let box = try SealedBox.seal(try secret(content), to: key)
        #expect(box.count == 80)
        #expect(reveal(try SealedBox.open(box, with: mine)) == content)
        #expect(try SealedBox.seal(try secret(content), to: key) != box)
        #expect(throws: SecretsError.notAuthentic) {
            _ = try SealedBox.open(box, with: other).count
        }
    }

    @Test("a box with any bit changed, or cut, does not open")
    func changed() throws {
        let mine = try SecretBytes.random(32)
        let box = try SealedBox.seal(
            try secret(content), to: try SealedBox.publicKey(of: mine))
        for bit in stride(from: 0, to: box.count * 8, by: 5) {
            var wrong = box
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SecretsError.notAuthentic) {
                _ = try SealedBox.open(wrong, with: mine).count
            }
        }
        for count in [0, 47, 48, 79] {
            #expect(throws: SecretsError.notAuthentic) {
                _ = try SealedBox.open(Array(box[..<count]), with: mine).count
            }
        }
    }

    @Test("nothing is sealed to a key from which everybody could compute the secret")
    func lowOrder() throws {
        for key in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            #expect(throws: SecretsError.notAuthentic) {
                try SealedBox.seal(try secret(content), to: key)
            }
        }
    }
}
