internal import CGcrypt
import Posix

/// One side of a Diffie-Hellman exchange in the second Oakley group of 1024 bits (RFC 2409), which
/// is what `dh-ietf1024-sha256-aes128-cbc-pkcs7` agrees on a key with. It protects what crosses the
/// bus against programs that only listen there.
@safe
public struct KeyExchange: ~Copyable {
    /// Bytes of a public key and of what both sides share.
    static let size = 128
    /// Of the exponent: twice the strength of the group, and far quicker than a full one.
    private static let exponentSize = 32

    // SAFETY: each number belongs to this value alone, which frees it at its end. The same holds in
    // all of this file.
    private let prime: OpaquePointer
    private let exponent: OpaquePointer
    /// With the zeros in front, if there are some.
    public let publicKey: [UInt8]

    public init() throws(CryptoError) {
        try self.init(exponent: nil)
    }

    /// With an exponent of the test's own, or a random one.
    init(exponent fixed: [UInt8]?) throws(CryptoError) {
        try Library.begin()
        let prime = unsafe Self.group.withUnsafeBytes { bytes in
            unsafe appvault_gcrypt_number(bytes.baseAddress, bytes.count)
        }
        let exponent =
            if let fixed {
                unsafe fixed.withUnsafeBytes { bytes in
                    unsafe appvault_gcrypt_secret_number(bytes.baseAddress, bytes.count)
                }
            } else {
                unsafe appvault_gcrypt_secret_number(nil, Self.exponentSize)
            }
        guard let prime = unsafe prime, let exponent = unsafe exponent else {
            unsafe gcry_mpi_release(prime)
            unsafe gcry_mpi_release(exponent)
            throw .library
        }
        let base = unsafe gcry_mpi_set_ui(nil, 2)
        let result = unsafe gcry_mpi_snew(UInt32(8 * Self.size))
        defer {
            unsafe gcry_mpi_release(base)
            unsafe gcry_mpi_release(result)
        }
        Library.alone { unsafe gcry_mpi_powm(result, base, exponent, prime) }
        var key = [UInt8](repeating: 0, count: Self.size)
        let isPrinted = unsafe key.withUnsafeMutableBytes { room in
            unsafe Self.printed(result, into: room)
        }
        guard isPrinted else {
            unsafe gcry_mpi_release(prime)
            unsafe gcry_mpi_release(exponent)
            throw .library
        }
        unsafe self.prime = prime
        unsafe self.exponent = exponent
        publicKey = key
    }

    deinit {
        unsafe gcry_mpi_release(exponent)
        unsafe gcry_mpi_release(prime)
    }

    /// The key that both sides have then. A peer whose public key is 0, 1 or the prime less one
    /// would choose it alone, and none is as large as the prime.
    public consuming func key(with peer: [UInt8]) throws(CryptoError) -> SessionKey {
        // Zeros in front may be left out, and count for nothing.
        let significant = peer.drop { $0 == 0 }
        guard significant.count <= Self.size else { throw .badPublicKey }
        let bytes = Array(significant)
        let number = unsafe bytes.withUnsafeBytes { bytes in
            unsafe appvault_gcrypt_number(bytes.baseAddress, bytes.count)
        }
        guard let number = unsafe number else { throw .library }
        let limit = unsafe gcry_mpi_copy(prime)
        let shared = unsafe gcry_mpi_snew(UInt32(8 * Self.size))
        defer {
            unsafe gcry_mpi_release(number)
            unsafe gcry_mpi_release(limit)
            unsafe gcry_mpi_release(shared)
        }
        unsafe gcry_mpi_sub_ui(limit, prime, 1)
        guard unsafe gcry_mpi_cmp_ui(number, 1) > 0, unsafe gcry_mpi_cmp(number, limit) < 0 else {
            throw .badPublicKey
        }
        Library.alone { unsafe gcry_mpi_powm(shared, number, exponent, prime) }
        let padded = WipedBuffer(capacity: Self.size)
        let isPrinted = unsafe padded.withRoom { room in unsafe Self.printed(shared, into: room) }
        guard isPrinted else { throw .library }
        padded.setCount(Self.size)
        return try SessionKey(derivedFrom: padded)
    }

    /// Big-endian, at the end of the room, behind zeros.
    private static func printed(
        _ number: OpaquePointer?, into room: UnsafeMutableRawBufferPointer
    ) -> Bool {
        unsafe room.initializeMemory(as: UInt8.self, repeating: 0)
        let count = Int((unsafe gcry_mpi_get_nbits(number) + 7) / 8)
        guard count <= size, room.count >= size else { return false }
        // SAFETY: the bytes from there to the end of the key are as many as the number has.
        let start = unsafe room.baseAddress! + (size - count)
        return unsafe appvault_gcrypt_print(start, count, number) == count
    }

    static let group: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2,
        0x34, 0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67,
        0xCC, 0x74, 0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E,
        0x34, 0x04, 0xDD, 0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D,
        0xF2, 0x5F, 0x14, 0x37, 0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5,
        0x76, 0x62, 0x5E, 0x7E, 0xC6, 0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF,
        0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED, 0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE,
        0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6, 0x49, 0x28, 0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    ]
}
