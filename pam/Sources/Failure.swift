internal import CPam

/// That this transaction has failed at the daemon, in pam_data. Its later calls do not try again: a
/// login waits once for a daemon that hangs, and the log has one line of it.
enum Failure {
    /// Longer than programs let a login take: sshd gives a person 120 seconds, login 60. What comes
    /// later on the same handle, such as the end of the session, is tried again.
    private static let lasts: UInt64 = 120_000
    /// A connection that ends sooner than this costs a login nothing. A new one may reach a daemon
    /// that was started anew: a screen locker's first connection has often waited for hours.
    private static let longestForNothing: UInt64 = 500
    private static let size = 8
    private static let name: StaticString = "appvault.failure"

    static func isKept(by pam: Pam) -> Bool {
        guard let bytes = pam.kept(size, as: name) else { return false }
        let instant = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return appvault_pam_now() &- instant < lasts
    }

    /// `since`: when the module began to wait for the daemon.
    static func note(_ fault: Fault, since began: UInt64, in pam: Pam) {
        let now = appvault_pam_now()
        switch fault {
        case .late, .endless, .nonsense, .stranger: break
        case .closed: if now &- began < longestForNothing { return }
        case .absent, .noMemory, .noDescriptor, .badPath, .before: return
        }
        var bytes: [UInt8] = []
        var shift: UInt64 = 64
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: now >> shift))
        }
        pam.keep(bytes, as: name)
    }
}
