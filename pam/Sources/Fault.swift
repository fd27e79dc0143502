internal import CPam

/// Why there was no verdict. Each of them lets the next module of the stack do its work.
enum Fault: Error {
    /// No socket, or nobody who listens: AppVault is not there, and that is no news.
    case absent
    case noMemory
    case noDescriptor
    case badPath
    /// The socket belongs to somebody who may not hear secrets.
    case stranger(UInt32)
    /// A deadline passed.
    case late
    /// The peer hung up before the end.
    case closed
    /// The answer is none that this question can have.
    case nonsense
    /// The exchange is longer than any flow.
    case endless

    /// At most one line for an exchange, and none where AppVault is simply not there.
    func log(_ pam: Pam) {
        switch self {
        case .absent: break
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
