import Posix
import Testing

@testable import Secrets

// The expected values come from Python's hashlib and PyNaCl, not from this code.
@Suite struct PrimitivesTests {
    let key: [UInt8] = Array(0..<32)
    let nonce: [UInt8] = Array(0..<24)

    @Test("BLAKE2b gives what another implementation gives")
    func blake2b() throws {
        let message = Array("message".utf8)
        let purpose = Purpose("test purpose")
        #expect(
            hex(try Hash.blake2b(message.span, purpose: purpose))
                == "7e0d88eb1943423a1c61b0a2a0873d5bf9fa7bea8c08d961f5fd0d32cbb4e6c0")
        let keyed = try Hash.blake2b(
            message.span, key: try secret(key), purpose: purpose, count: 16)
        #expect(hex(keyed) == "3c71379fea9f447894c2585a10278fe0")
        var parts = try Blake2b(key: try secret(key), purpose: purpose, count: 16)
        parts.update(Array("mes".utf8))
        parts.update(try secret(Array("sage".utf8)))
        #expect(hex(try parts.finish()) == "3c71379fea9f447894c2585a10278fe0")
        #expect(
            hex(
                reveal(
                    try Hash.subkey(
                        of: try secret(key), purpose: purpose, message: message.span, count: 16)))
                == "3c71379fea9f447894c2585a10278fe0")
    }

    @Test("a hash under a short key is refused", arguments: [0, 15])
    func shortKey(count: Int) throws {
        let key = try SecretBytes(count: count)
        #expect(throws: SecretsError.wrongSize) {
            try Hash.blake2b(Span(), key: key, purpose: Purpose("test"))
        }
    }

    @Test("Argon2id gives what another implementation gives")
    func argon2id() throws {
        let derived = try KeyDerivation.derive(
            try secret(Array("correct horse".utf8)), salt: Array(0..<16),
            cost: try KeyDerivation.Cost(memoryKiB: 1024, passes: 2))
        #expect(
            hex(reveal(derived))
                == "77237b8a217dfd77699617e3893817f9fa215bff881849f3c007154da0b4788d")
    }

    @Test(
        "a cost beyond the caps is refused",
        arguments: [(7, 3), (1_048_577, 3), (.max, 1), (65_536, 0), (65_536, 17), (65_536, .max)]
            as [(UInt32, UInt32)])
    func caps(memory: UInt32, passes: UInt32) {
        #expect(throws: SecretsError.costOutOfBounds) {
            try KeyDerivation.Cost(memoryKiB: memory, passes: passes)
        }
    }

    @Test("memory for a usual cost can be reserved, and for an absurd one it cannot")
    func reservation() throws {
        #expect(KeyDerivation.memoryIsAvailable(for: .standard))
        #expect(!MemoryReservation.succeeds(count: 1 << 52))
    }

    @Test("a seal gives what another implementation gives, and opens")
    func seal() throws {
        let text = Array("plain text".utf8)
        let aad = Array("bound".utf8)
        let key = try secret(self.key)
        var sealed = [UInt8](repeating: 0, count: text.count + 16)
        var span = sealed.mutableSpan
        try Sealing.sealCombined(
            text.span, aad: aad.span, nonce: nonce.span, key: key, into: &span)
        #expect(
            hex(sealed) == "eeae6e16fef2f9cb4b30c57308e9f7bd99cb6430c159f3765eef")

        var cipher = [UInt8](repeating: 0, count: text.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var cipherSpan = cipher.mutableSpan
        var tagSpan = tag.mutableSpan
        try Sealing.seal(
            text.span, aad: aad.span, nonce: nonce.span, key: key, into: &cipherSpan,
            tag: &tagSpan)
        #expect(cipher + tag == sealed)

        var opened = [UInt8](repeating: 0, count: text.count)
        var openedSpan = opened.mutableSpan
        try Sealing.openCombined(
            sealed.span, aad: aad.span, nonce: nonce.span, key: key, into: &openedSpan)
        #expect(opened == text)

        var place = text
        var placeTag = [UInt8](repeating: 0, count: 16)
        var placeSpan = place.mutableSpan
        var placeTagSpan = placeTag.mutableSpan
        try Sealing.sealInPlace(
            &placeSpan, aad: aad.span, nonce: nonce.span, key: key, tag: &placeTagSpan)
        #expect(place == cipher && placeTag == tag)
        var again = place.mutableSpan
        try Sealing.openInPlace(
            &again, tag: placeTag.span, aad: aad.span, nonce: nonce.span, key: key)
        #expect(place == text)
    }

    @Test("a seal of nothing opens to nothing")
    func empty() throws {
        let key = try secret(self.key)
        var sealed = [UInt8](repeating: 0, count: 16)
        var span = sealed.mutableSpan
        try Sealing.sealCombined(Span(), aad: Span(), nonce: nonce.span, key: key, into: &span)
        var nothing: [UInt8] = []
        var out = nothing.mutableSpan
        try Sealing.openCombined(
            sealed.span, aad: Span(), nonce: nonce.span, key: key, into: &out)
        sealed[3] ^= 1
        #expect(throws: SecretsError.notAuthentic) {
            var out = nothing.mutableSpan
            try Sealing.openCombined(
                sealed.span, aad: Span(), nonce: nonce.span, key: key, into: &out)
        }
    }

    @Test("a seal with any bit changed does not open, nor elsewhere, nor with another key")
    func tampered() throws {
        let key = try secret(self.key)
        let one: [UInt8] = [1]
        var sealed = [UInt8](repeating: 0, count: 5 + 16)
        var span = sealed.mutableSpan
        try Sealing.sealCombined(
            Array("value".utf8).span, aad: one.span, nonce: nonce.span, key: key, into: &span)
        func open(_ bytes: [UInt8], aad: [UInt8], key: borrowing SecretBytes) throws {
            var out = [UInt8](repeating: 0, count: 5)
            var span = out.mutableSpan
            try Sealing.openCombined(
                bytes.span, aad: aad.span, nonce: nonce.span, key: key, into: &span)
        }
        try open(sealed, aad: [1], key: key)
        for bit in 0..<(sealed.count * 8) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SecretsError.notAuthentic) { try open(changed, aad: [1], key: key) }
        }
        #expect(throws: SecretsError.notAuthentic) { try open(sealed, aad: [2], key: key) }
        let other = try SecretBytes.random(32)
        #expect(throws: SecretsError.notAuthentic) { try open(sealed, aad: [1], key: other) }
    }

    @Test("SipHash gives what another implementation gives, in two little-endian lanes")
    func sipHash() throws {
        let message: [UInt8] = Array(0..<15)
        let lanes = try SipHash.hash(message.span, key: try secret(Array(0..<16)))
        #expect(lanes.first == 0x11a8b03399e99354 && lanes.second == 0xd9c3cf970fec087e)
    }

    @Test("a stream round trips and is refused when cut, reordered or changed")
    func stream() throws {
        let key = try secret(self.key)
        var writer = try SecretStream.Writer(key: key)
        func push(_ text: String, _ tag: SecretStream.Tag) throws -> [UInt8] {
            let message = Array(text.utf8)
            var sealed = [UInt8](repeating: 0, count: message.count + SecretStream.overhead)
            var span = sealed.mutableSpan
            try writer.push(message.span, tag: tag, into: &span)
            return sealed
        }
        let first = try push("one", .message)
        let last = try push("", .final)
        let header = writer.header

        func pull(_ parts: [[UInt8]]) throws -> [SecretStream.Tag] {
            var reader = try SecretStream.Reader(key: key, header: header.span)
            return try parts.map { part in
                var out = [UInt8](repeating: 0, count: part.count - SecretStream.overhead)
                var span = out.mutableSpan
                return try reader.pull(part.span, into: &span)
            }
        }
        #expect(try pull([first, last]) == [.message, .final])
        #expect(throws: SecretsError.notAuthentic) { try pull([last]) }
        #expect(throws: SecretsError.notAuthentic) { try pull([first, first]) }
        var changed = first
        changed[4] ^= 1
        #expect(throws: SecretsError.notAuthentic) { try pull([changed]) }
    }
}
