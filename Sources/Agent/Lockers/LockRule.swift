import Bus

/// What a locker does when the screen becomes blank, by its own settings. "Active" on the bus means
/// blank, and not locked.
enum LockRule: Equatable, Sendable {
    case never
    /// After so many milliseconds in which the screen stays blank.
    case after(UInt64)

    /// The lockers' own factory setting. It also counts where a setting cannot be read: a store that
    /// is locked too early asks for a passcode, one that stays open behind a lock does not.
    static let usual = LockRule.after(0)

    /// The delay is what a person chooses, of any size.
    private init(locks: Bool, delay: UInt64, unit: UInt64) {
        let (milliseconds, isTooLong) = delay.multipliedReportingOverflow(by: unit)
        let week: UInt64 = 7 * 24 * 3_600_000
        self = locks ? .after(isTooLong ? week : min(milliseconds, week)) : .never
    }

    /// Lines of `gsettings list-recursively`: the schema, the key and the value, as in
    /// "org.mate.screensaver lock-delay 5" or "... lock-delay uint32 5".
    init(gsettings lines: [[UInt8]], schema: String, delayUnit: UInt64) {
        var locks = true
        var delay: UInt64 = 0
        for line in lines {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 3, words[0] == schema, let value = words.last else { continue }
            switch words[1] {
            case "lock-enabled": locks = value != "false"
            case "lock-delay": delay = UInt64(value) ?? 0
            default: continue
            }
        }
        self.init(locks: locks, delay: delay, unit: delayUnit)
    }

    /// xfce4-screensaver's channel, below /lock. What is at its factory value is not there.
    init(xfconf values: [String: BusValue]) {
        func isOn(_ key: String) -> Bool { values[key] != .bool(false) }
        var minutes: UInt64 = 0
        switch values["/lock/saver-activation/delay"] {
        case .int32(let value): minutes = UInt64(max(0, value))
        case .uint32(let value): minutes = UInt64(value)
        case .uint64(let value): minutes = value
        case .bool, .string, .path, .strings, .paths, .bytes, .secret, .texts, .dictionary,
            .variant, .structure, .entry, .array, nil:
            break
        }
        self.init(
            locks: isOn("/lock/enabled") && isOn("/lock/saver-activation/enabled"),
            delay: minutes, unit: 60_000)
    }
}
