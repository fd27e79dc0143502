internal import CPam

/// Why there was no verdict. After each of these the next module of the stack does its work.
enum Fault: Error {
    /// There is no socket, or nothing listens at it: AppVault is not installed or not running. That
    /// is not worth a line in the log.
    case absent
    case noMemory
    case noDescriptor
    case badPath
    /// The socket belongs to a user who must not get secrets.
    case stranger(UInt32)
    /// A deadline passed.
    case late
    /// The peer closed the connection before the end.
    case closed
    /// The answer is not one that this question can have.
    case nonsense
    /// The exchange is longer than any flow.
    case endless
    /// The transaction has failed already, and the log says how.
    case before

    /// Logs at most one line for an exchange, and none where AppVault is absent.
    func log(_ pam: Pam) {
        switch self {
        case .absent, .before: break
        case .noMemory: pam.log(LOG_ERR, "out of memory")
        case .noDescriptor: pam.log(LOG_ERR, "no file descriptor left")
        case .badPath: pam.log(LOG_ERR, "the socket's path is too long or empty")
        case .stranger(let uid):
            pam.log(
                LOG_ALERT, "the socket belongs to somebody else; nothing was sent; uid", Int(uid))
        case .late: pam.log(LOG_WARNING, "appvaultd did not answer in time")
        case .closed: pam.log(LOG_WARNING, "appvaultd hung up")
        case .nonsense: pam.log(LOG_ERR, "appvaultd's answer makes no sense")
        case .endless: pam.log(LOG_ERR, "appvaultd does not come to an end")
        }
    }
}
