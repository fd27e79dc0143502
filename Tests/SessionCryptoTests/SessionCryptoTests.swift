import Posix
import Testing

@testable import SessionCrypto

private func hex(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

private func plain(_ buffer: WipedBuffer) -> [UInt8] {
    buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

// Computed with Python's own integers and its library `cryptography`.
private let exponent = hex(
    "ae0bec9e9d33c56354bd612c8a6010840324fc5b9786ce0a18b696b304b09397")
private let publicKey = hex(
    "357ce5dc126a89f276ae440fe9c75605376b38e2d6be0013140d403e127519eb94c6178523eba373a5cc"
        + "b9c1d61c8a5aa7033755f9feae823bfe6f0c625bf329779e438964b9235c07623d66ec953fddb0976083"
        + "d441c1ac2650acd73927d0155e7e7c056804e7f995cf03f7de9704112bd4f14992750442a5dcfe03f376"
        + "19f7")
private let peer = hex(
    "156797dbd60fec0c370a8d02ae026c21df22016560f6514f4e97a3cbb7a2ea5dc506a0cc50f880f51d05"
        + "4e75e7c93aa6ec435936afa7958209df06a015c7d3d508ed1a660c68ba93a4df1222a6b0163a83ea2572"
        + "8b4976a5ddafa916778e2da583dbc575d3c746954e87f3a34bdeb18a31b81c179ad5f256d52be0620a2f"
        + "42aa")
private let vector = [UInt8](0..<16)
private let secret = hex("4772c3bcc39f65")
/// With the key that both sides have.
private let encrypted = hex("7d51c4a7c52893fc61d496b4ff45c14e")
/// What is shared with it begins with a zero.
private let peerWithZero = hex(
    "69d51f0d0b6988cd00a6d949fc07bfae740079f957f1904b3abcde3d206cb921a1849d30d1d1144384d0"
        + "48a6d18b9471ee529260762fa2759794cba92e80d0954f3b15a9fe399a215337e0f7516ab35baf88dbaf"
        + "48a2f1ea131a40736d1fc882bfe2648e4d5a246c46b13717a350262ce41f59797bae9dab1c3e82da2370"
        + "359a")
private let encryptedWithZero = hex("eb17e4c5c61d4b73703c9dc80be3672d")
/// Its public key begins with a zero.
private let exponentOfZero = hex(
    "633414abfed37cda5263f7c02864f0048b64c021e89e9ecee1296ba9ca06b576")
private let publicKeyWithZero = hex(
    "00b1fa4b3550b0702fcaccbdbf957b258ef71fd9d3a3c65a22b60411235a63687da57e427a344c04ade4"
        + "737aff45f5886bd643934ed6c241a84b3317681d8da27dddf3394792c9f09bc57b6c7d04b38e3da5832d"
        + "8c0d4a05f81ebf409b1347bcceed21d1dd3f79da47fd5e4cacb9f662e8a7848aa7e3766371cc4b4362b8"
        + "02ef")

@Test("a public key, the key agreed on and a secret are those that others compute")
func knownValues() throws {
    let ours = try KeyExchange(exponent: exponent)
    #expect(ours.publicKey == publicKey)
    let key = try ours.key(with: peer)
    #expect(plain(try key.encrypt(secret.span, vector: vector)) == encrypted)
    #expect(plain(try key.decrypt(WipedBuffer(bytes: encrypted), vector: vector)) == secret)
}

@Test("zeros in front count: in what is shared, and in our own public key")
func zerosCount() throws {
    let key = try KeyExchange(exponent: exponent).key(with: peerWithZero)
    #expect(plain(try key.encrypt(secret.span, vector: vector)) == encryptedWithZero)
    let ours = try KeyExchange(exponent: exponentOfZero)
    #expect(ours.publicKey == publicKeyWithZero)
}

@Test("a peer may leave the zeros of its public key out, or send some more")
func zerosOfPeer() throws {
    let one = try KeyExchange(exponent: exponent).key(with: publicKeyWithZero)
    let expected = plain(try one.encrypt(secret.span, vector: vector))
    for other in [Array(publicKeyWithZero.dropFirst()), [0, 0] + publicKeyWithZero] {
        let key = try KeyExchange(exponent: exponent).key(with: other)
        #expect(plain(try key.encrypt(secret.span, vector: vector)) == expected)
    }
}

private let primeLessOne = Array(KeyExchange.group.dropLast()) + [0xFE]

@Test(
    "0, 1, the prime less one, the prime and what is above it are no public keys",
    arguments: [
        [], [0], [UInt8](repeating: 0, count: 128), [1], [0, 0, 1], primeLessOne,
        KeyExchange.group, [1] + [UInt8](repeating: 0, count: 128),
        [UInt8](repeating: 0xFF, count: 128),
        [1] + [UInt8](repeating: 0xFF, count: 128),
    ])
func badPublicKeys(_ bad: [UInt8]) throws {
    var thrown: CryptoError?
    do throws(CryptoError) {
        _ = try KeyExchange().key(with: bad)
    } catch {
        thrown = error
    }
    #expect(thrown == .badPublicKey)
}

@Test("two sides with random exponents agree, and never on the same key twice")
func bothSides() throws {
    var seen: Set<[UInt8]> = []
    for _ in 0..<8 {
        let one = try KeyExchange()
        let other = try KeyExchange()
        let (first, second) = (one.publicKey, other.publicKey)
        let key = try one.key(with: second)
        let same = try other.key(with: first)
        let sent = try key.encrypt(secret.span)
        #expect(plain(try same.decrypt(sent.bytes, vector: sent.vector)) == secret)
        #expect(seen.insert(plain(try key.encrypt(secret.span, vector: vector))).inserted)
    }
}

@Test("a secret of any length comes back, and each encryption has a vector of its own")
func lengths() throws {
    let key = try KeyExchange(exponent: exponent).key(with: peer)
    for count in [0, 1, 15, 16, 17, 4096, 100_001] {
        let secret = [UInt8](repeating: 0x61, count: count)
        let one = try key.encrypt(secret.span)
        let other = try key.encrypt(secret.span)
        #expect(one.bytes.count == (count / 16 + 1) * 16)
        #expect(one.vector != other.vector)
        #expect(plain(try key.decrypt(one.bytes, vector: one.vector)) == secret)
    }
}

@Test(
    "what is no whole number of blocks, has no vector or a padding that is none, is refused",
    arguments: [
        (0, 16), (15, 16), (17, 16), (16, 0), (16, 15), (16, 17), (16, 16), (32, 16),
    ])
func badSecrets(_ count: Int, _ vectorCount: Int) throws {
    let key = try KeyExchange(exponent: exponent).key(with: peer)
    var thrown: CryptoError?
    do throws(CryptoError) {
        // Zeros do not decrypt to a padding under this key and these vectors.
        _ = try key.decrypt(
            WipedBuffer(bytes: [UInt8](repeating: 0, count: count)),
            vector: [UInt8](repeating: 7, count: vectorCount))
    } catch {
        thrown = error
    }
    #expect(thrown == .badSecret)
}

@Test("as many decrypt at once as want to: each has the locked memory to itself")
func manyAtOnce() async throws {
    let key = [UInt8](0..<56)
    await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
            group.addTask {
                for _ in 0..<200 {
                    var bytes = SecretBuffer()
                    bytes.append([UInt8](repeating: 7, count: 4096))
                    do throws(CryptoError) {
                        try Ciphers.decrypt(.blowfishECB, key: key.span, &bytes)
                    } catch {
                        return false
                    }
                }
                return true
            }
        }
        for await isDone in group { #expect(isDone) }
    }
}
