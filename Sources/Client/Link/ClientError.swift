public import Posix
public import Wire

/// Why a request got no usable answer.
public enum ClientError: Error, Equatable {
    /// The daemon refused the request.
    case refused(Refused)
    /// The daemon cannot be asked.
    case unavailable(Unavailable)
    /// What arrived is no message of this protocol.
    case protocolBroken(Broken)

    public enum Unavailable: Equatable, Sendable {
        /// The socket does not exist, or no process listens at it.
        case notRunning
        case notReachable(PosixError)
        /// The listening process belongs neither to root, nor to AppVault's user, nor to the
        /// caller.
        case stranger(uid: UInt32)
        /// Nothing arrived for five seconds, not even a sign of life.
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
