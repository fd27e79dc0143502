internal import CGcrypt
import Posix

/// The key of one session, with which secrets cross the bus: AES-128 in CBC mode, each secret with a
/// vector of its own, padded as PKCS #7 says.
public struct SessionKey: ~Copyable {
    static let size = 16
    static let block = 16

    private let bytes: WipedBuffer

    /// HKDF-SHA256 with an empty salt and no info (RFC 5869).
    init(derivedFrom shared: WipedBuffer) throws(CryptoError) {
        let salt = WipedBuffer(capacity: 32)
        salt.setCount(32)
        let drawn = try Self.hmac(key: salt, shared)
        // What follows the info, of which there is none: the number of the block.
        let whole = try Self.hmac(key: drawn, WipedBuffer(bytes: [1]))
        bytes = WipedBuffer(capacity: Self.size)
        whole.withBytes { bytes.append($0.extracting(first: Self.size)) }
    }

    private static func hmac(key: WipedBuffer, _ data: WipedBuffer) throws(CryptoError)
        -> WipedBuffer
    {
        let result = WipedBuffer(capacity: 32)
        // SAFETY: each span is as long as the count beside it, and the result has 32 bytes.
        let status = Library.alone {
            key.withBytes { key in
                unsafe key.withUnsafeBytes { key in
                    data.withBytes { data in
                        unsafe data.withUnsafeBytes { data in
                            unsafe result.withRoom { room in
                                unsafe appvault_gcrypt_hmac(
                                    key.baseAddress, key.count, data.baseAddress, data.count,
                                    room.baseAddress)
                            }
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw .library }
        result.setCount(32)
        return result
    }

    /// The vector and the encrypted secret.
    public borrowing func encrypt(
        _ secret: Span<UInt8>
    ) throws(CryptoError) -> (vector: [UInt8], bytes: WipedBuffer) {
        var vector = [UInt8](repeating: 0, count: Self.block)
        // SAFETY: as many bytes are written as the array has.
        unsafe vector.withUnsafeMutableBytes {
            unsafe appvault_gcrypt_nonce($0.baseAddress, $0.count)
        }
        return (vector, try encrypt(secret, vector: vector))
    }

    borrowing func encrypt(
        _ secret: Span<UInt8>, vector: [UInt8]
    ) throws(CryptoError) -> WipedBuffer {
        let padding = Self.block - secret.count % Self.block
        let result = WipedBuffer(capacity: secret.count + padding)
        result.append(secret)
        for _ in 0..<padding { result.append(UInt8(padding)) }
        try crypt(result, vector, decrypts: 0)
        return result
    }

    public borrowing func decrypt(
        _ encrypted: WipedBuffer, vector: [UInt8]
    ) throws(CryptoError) -> WipedBuffer {
        let count = encrypted.count
        guard vector.count == Self.block, count > 0, count % Self.block == 0 else {
            throw .badSecret
        }
        let result = encrypted.withBytes { WipedBuffer(copying: $0) }
        try crypt(result, vector, decrypts: 1)
        let padding = result.withBytes { bytes -> Int? in
            let last = bytes[count - 1]
            guard (1...UInt8(Self.block)).contains(last) else { return nil }
            let isWhole = (count - Int(last)..<count).allSatisfy { bytes[$0] == last }
            return isWhole ? Int(last) : nil
        }
        guard let padding else { throw .badSecret }
        result.setCount(count - padding)
        return result
    }

    private borrowing func crypt(
        _ data: WipedBuffer, _ vector: [UInt8], decrypts: Int32
    ) throws(CryptoError) {
        let count = data.count
        // SAFETY: the key and the vector have 16 bytes, and the room has at least the data's count.
        let status = Library.alone {
            bytes.withBytes { key in
                unsafe key.withUnsafeBytes { key in
                    unsafe vector.withUnsafeBytes { vector in
                        unsafe data.withRoom { room in
                            unsafe appvault_gcrypt_aes(
                                key.baseAddress, vector.baseAddress, room.baseAddress, count,
                                decrypts)
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw .library }
    }
}
