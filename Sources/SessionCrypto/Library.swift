internal import CGcrypt
import Synchronization

/// libgcrypt has to be set up once.
enum Library {
    private static let isReady = appvault_gcrypt_begin() == 0
    /// Its locked memory has 64 KiB, of which one cipher takes up to nine: whoever comes meanwhile
    /// waits. With more it would take memory that is not locked, or none. Numbers of exchanges that
    /// are under way have less than one each, and keep it.
    private static let lockedMemory = Mutex(())

    static func begin() throws(CryptoError) {
        guard isReady else { throw .library }
    }

    /// For what takes much of its locked memory, until it is given back.
    static func alone<Result: Sendable>(_ body: () -> Result) -> Result {
        lockedMemory.withLock { _ in body() }
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
