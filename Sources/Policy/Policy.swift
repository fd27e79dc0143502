/// What becomes of a store whose retry limit is reached.
public enum OnRetryLimit: String, CaseIterable, Sendable {
    case erase
    case lock
}

/// The rules of one machine, read whole: every value lies within the bounds of `PolicyKey.all`.
public struct Policy: Equatable, Sendable {
    public var enabled = true
    public var useDefaultPolicy = true
    /// In characters as a person counts them.
    public var minLength: UInt32 = 8
    /// The wrong own try that is the last; 0 is no limit.
    public var retryLimit: UInt32 = 0
    public var onRetryLimit = OnRetryLimit.erase
    /// The wrong tries in a row after which the next has to wait; 0 is never.
    public var throttleAfter: UInt32 = 3
    /// Seconds.
    public var throttleMax: UInt32 = 15 * 60
    public var localServices = ServiceList(names: ServiceList.local)
    public var passcodeServices = ServiceList(names: ServiceList.lockers, withLocal: true)
    public var unlockServices = ServiceList(
        names: ["login", "sshd", "gdm-password", "lightdm", "sddm", "greetd"] + ServiceList.lockers)
    public var conversingServices = ServiceList(
        names: ["login", "su", "su-l", "sudo", "sudo-i", "gdm-password", "lightdm"])
    public var allowNoPasscode = true
    public var allowRecoveryKey = true
    /// Bytes.
    public var derivationMemory: UInt64 = 64 << 20
    public var derivationPasses: UInt32 = 3

    /// The default policy's values, which hold where its file is missing.
    public static let builtIn = Policy()

    private init() {}
}
