internal import CGcrypt

/// libgcrypt has to be set up once.
enum Library {
    private static let isReady = appvault_gcrypt_begin() == 0

    static func begin() throws(CryptoError) {
        guard isReady else { throw .library }
    }
}

/// Why there is no session, or why a secret cannot be read in one.
public enum CryptoError: Error, Equatable, Sendable {
    /// It is no public key, or one that gives the shared key away.
    case badPublicKey
    /// The bytes were not encrypted for this session.
    case badSecret
    /// libgcrypt could not do it: it has no memory left.
    case library
}
