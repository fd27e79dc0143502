/// A time as it is written in a policy, such as 90s or 1h 30min, in seconds; nil if it is none.
public func timeSpan(_ text: [UInt8]) -> UInt64? { try? TimeSpan.read(text) }

/// A systemd time span in whole seconds.
enum TimeSpan {
    private static let units: [(names: [String], milliseconds: UInt64)] = [
        (["ms", "msec"], 1),
        (["s", "sec", "second", "seconds"], 1000),
        (["m", "min", "minute", "minutes"], 60_000),
        (["h", "hr", "hour", "hours"], 3_600_000),
        (["d", "day", "days"], 86_400_000),
        (["w", "week", "weeks"], 604_800_000),
    ]

    /// Reads a bare number of seconds, or numbers with units one after the other.
    static func read(_ value: [UInt8]) throws(BadValue) -> UInt64 {
        if let seconds = wholeNumber(value[...]) { return seconds }
        var rest = value[...]
        var total: UInt64 = 0
        repeat {
            let digits = rest.prefix { 0x30...0x39 ~= $0 }
            rest = rest.dropFirst(digits.count).drop { $0 == 0x20 }
            let unit = rest.prefix { 0x61...0x7A ~= $0 }
            rest = rest.dropFirst(unit.count).drop { $0 == 0x20 }
            guard let number = wholeNumber(digits), let factor = milliseconds(unit) else {
                throw BadValue(wrong: "\(quoted(value)) is not a time")
            }
            total = total.addingSaturating(number.timesSaturating(factor))
        } while !rest.isEmpty
        guard total % 1000 == 0 || total == .max else {
            throw BadValue(wrong: "\(quoted(value)) is not a whole number of seconds")
        }
        return total / 1000
    }

    /// In the largest unit that gives a whole number.
    static func text(_ seconds: UInt64) -> String {
        // A single day reads better as hours.
        if seconds % 86_400 == 0, seconds > 86_400 { return "\(seconds / 86_400)d" }
        if seconds % 3600 == 0, seconds > 0 { return "\(seconds / 3600)h" }
        if seconds % 60 == 0, seconds > 0 { return "\(seconds / 60)min" }
        return seconds == 0 ? "0" : "\(seconds)s"
    }

    private static func milliseconds(_ unit: ArraySlice<UInt8>) -> UInt64? {
        units.first { $0.names.contains { $0.utf8.elementsEqual(unit) } }?.milliseconds
    }
}

/// A size in bytes with a binary unit. With a bare number it would be unclear which unit is meant.
enum ByteSize {
    private static let units: [(name: String, bytes: UInt64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
    ]

    static func read(_ value: [UInt8]) throws(BadValue) -> UInt64 {
        let digits = value.prefix { 0x30...0x39 ~= $0 }
        let unit = value.dropFirst(digits.count).drop { $0 == 0x20 }
        guard let number = wholeNumber(digits) else {
            throw BadValue(wrong: "\(quoted(value)) is not a size")
        }
        guard let factor = units.first(where: { $0.name.utf8.elementsEqual(unit) })?.bytes else {
            throw BadValue(
                wrong: unit.isEmpty
                    ? "\(quoted(value)) has no unit"
                    : "\(quoted(Array(unit))) is not KiB, MiB, GiB or TiB")
        }
        return number.timesSaturating(factor)
    }

    static func text(_ bytes: UInt64) -> String {
        for unit in units where bytes % unit.bytes == 0 && bytes > 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return bytes == 0 ? "0" : "\(bytes / 1024)KiB"
    }
}
