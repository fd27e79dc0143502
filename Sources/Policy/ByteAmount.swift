/// A number of bytes as a person reads it: in the largest unit that gives at least two digits or an
/// exact number. Rounded up, so that the amount never looks smaller than it is.
public enum ByteAmount {
    private static let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]

    public static func text(_ bytes: UInt64) -> String {
        var best = units[0]
        for unit in units.dropFirst() where isShown(bytes, in: unit.1) { best = unit }
        let (name, shift) = best
        let whole = bytes >> shift
        return "\(whole << shift == bytes ? whole : whole + 1) \(name)"
    }

    private static func isShown(_ bytes: UInt64, in shift: Int) -> Bool {
        let whole = bytes >> shift
        return whole >= 10 || (whole > 0 && whole << shift == bytes)
    }
}
