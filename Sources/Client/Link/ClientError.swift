public import Posix
public import Wire

/// Why a request has no answer that can be used.
public enum ClientError: Error, Equatable {
    /// The daemon answered, and said no.
    case refused(Refused)
    /// There is nobody to ask.
    case unavailable(Unavailable)
    /// What came is no message of this protocol.
    case protocolBroken(Broken)

    public enum Unavailable: Equatable, Sendable {
        /// The socket is not there, or nobody listens at it.
        case notRunning
        case notReachable(PosixError)
        /// Somebody listens who is neither root, nor AppVault, nor ourselves.
        case stranger(uid: UInt32)
        /// Nothing came for five seconds, not even a sign of life.
        case silent
        /// The connection ended in the middle of an exchange.
        case closed
    }

    public enum Broken: Equatable, Sendable {
        case undecodable(WireError)
        /// An answer of this type does not belong here.
        case unexpected(type: UInt16)
        case wrongTag
        case otherVersion(UInt16)
    }
}
