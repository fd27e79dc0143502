/// One boot of the machine: /proc/sys/kernel/random/boot_id.
public struct BootID: Equatable, Sendable {
    public static let size = 16

    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// No boot has this id. An unused counter holds it.
    public static let none = BootID()

    private init() {}

    /// Of exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        for byte in bytes[..<8] { high = high << 8 | UInt64(byte) }
        for byte in bytes[8...] { low = low << 8 | UInt64(byte) }
    }

    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }
}

/// A point in time that does not change when the clock is set: milliseconds of CLOCK_BOOTTIME
/// within one boot.
public struct Moment: Equatable, Sendable {
    public var bootID: BootID
    public var milliseconds: UInt64

    public init(bootID: BootID, milliseconds: UInt64) {
        self.bootID = bootID
        self.milliseconds = milliseconds
    }

    public static let never = Moment(bootID: .none, milliseconds: 0)

    /// How long ago another moment was, as far as this boot can tell. A moment before this boot
    /// counts as the beginning of the boot: so a wait that began before a restart ends no sooner
    /// than one that began with it. A moment that lies ahead counts as the beginning, too: only a
    /// clock that was set back can show one, and the wait must still end.
    func milliseconds(since other: Moment) -> UInt64 {
        guard other.bootID == bootID, other.milliseconds <= milliseconds else {
            return milliseconds
        }
        return milliseconds - other.milliseconds
    }
}
