import Policy
import Secrets
import StoreKeeping
import Testing
import Words

private let composed = Array("\u{FC}ber\u{A0}1".utf8)
private let decomposed = Array("u\u{308}ber 1".utf8)
private let normal = Array("\u{FC}ber 1".utf8)

private func typed(_ bytes: [UInt8]) throws -> TypedPasscode {
    try TypedPasscode(try SecretBytes(copying: bytes.span))
}

private func reveal(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

extension TypedPasscode {
    fileprivate var normalBytes: [UInt8] { withNormal { reveal($0) } }
}

@Suite("what is typed where a passcode is asked for")
struct TypedPasscodeTests {
    @Test(
        "it is normalised, and stays as it was typed beside that",
        arguments: [composed, decomposed, normal])
    func forms(_ bytes: [UInt8]) throws {
        let passcode = try typed(bytes)
        #expect(reveal(passcode.bytes) == bytes)
        #expect(passcode.normalBytes == normal)
        #expect(passcode.refusal == nil)
        try passcode.requireFit()
    }

    @Test("it may be read again and again, and by several at once")
    func again() async throws {
        let passcode = try typed(decomposed)
        let read = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { (0..<100).map { _ in passcode.normalBytes } }
            }
            return await group.reduce(into: [[UInt8]]()) { $0 += $1 }
        }
        #expect(read == [[UInt8]](repeating: normal, count: 800))
        #expect(reveal(passcode.bytes) == decomposed)
    }

    @Test("two are the same passcode in whatever form they were typed")
    func same() throws {
        let one = try typed(composed)
        #expect(one.matches(try typed(decomposed)))
        #expect(one.matches(one))
        #expect(!one.matches(try typed(Array("uber 1".utf8))))
        let sameBytes = one.bytes.matches(decomposed.span)
        #expect(!sameBytes)
    }

    private static let unfit: [([UInt8], PasscodeRefusal, Refusal)] = [
        ([], .empty, .cancelled),
        ([0x61, 0xFF], .notUTF8, .invalidArgument(.notText)),
        ([0x61, 0x0A], .controlCharacter, .invalidArgument(.control)),
        (
            [UInt8](repeating: 0x61, count: PasscodeText.maximum + 1), .tooLong,
            .tooLarge(limit: PasscodeText.maximum)
        ),
        // Three bytes each, and six when it is normalised.
        (
            Array(String(repeating: "\u{FB1F}", count: 341).utf8), .tooLong,
            .tooLarge(limit: PasscodeText.maximum)
        ),
    ]

    @Test("what cannot be a passcode says why, and may be tried as it came", arguments: unfit)
    func refused(_ bytes: [UInt8], _ reason: PasscodeRefusal, _ refusal: Refusal) throws {
        let passcode = try typed(bytes)
        #expect(passcode.refusal == reason)
        #expect(throws: refusal) { try passcode.requireFit() }
        #expect(passcode.normalBytes == bytes)
        #expect(reveal(passcode.bytes) == bytes)
        #expect(passcode.isEmpty == bytes.isEmpty)
    }

    @Test("it takes the answer out of its box")
    func box() throws {
        let box = SecretBox(try SecretBytes(copying: normal.span))
        #expect(try TypedPasscode(box).normalBytes == normal)
        #expect(box.isEmpty)
        #expect(throws: Refusal.unknown) { try TypedPasscode(box) }
    }

    @Test("neither it nor what it opens prints anything")
    func redacted() throws {
        let passcode = try typed(composed)
        let key = StoreKey(try SecretBytes(copying: Array("a store's key".utf8).span))
        let opening = Opening(key: key, ground: .device, typed: passcode, departures: 0)
        for text in [
            "\(passcode)", String(reflecting: passcode), "\(key)", String(reflecting: key),
        ] {
            #expect(text == "[REDACTED]")
        }
        var dumped = ""
        dump(passcode, to: &dumped)
        dump(opening, to: &dumped)
        dumped += "\(opening)"
        for word in ["ber", "a store's key", "\(composed.count)", "98, 101, 114"] {
            #expect(!dumped.contains(word), "\(word) in \(dumped)")
        }
    }

    @Test("a key is derived from one passcode, however often it is typed or used")
    func derived() async throws {
        let cost = KeyDerivation.Cost.lowest
        let salt = [UInt8](repeating: 7, count: KeyDerivation.saltSize)
        let one = try typed(decomposed)
        let keys = try [one, one, try typed(composed)].map { passcode in
            try passcode.withNormal { (secret) throws(SecretsError) in
                reveal(try KeyDerivation.derive(secret, salt: salt, cost: cost))
            }
        }
        #expect(Set(keys).count == 1)
    }
}
