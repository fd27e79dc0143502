/// The units of the system manager whose root processes log people in at this machine, as patterns
/// of their names; `*` stands for any letters.
public struct LoginUnits: Equatable, Sendable {
    public var patterns: [String]

    public init(patterns: [String]) {
        self.patterns = patterns
    }

    static let usual = LoginUnits(patterns: [
        "getty@*", "serial-getty@*", "console-getty*", "container-getty@*", "gdm*", "lightdm*",
        "sddm*", "greetd*", "ly*", "xdm*", "lxdm*", "slim*", "nodm*",
    ])

    /// What kind of login a listed unit runs.
    public enum Kind: Equatable, Sendable {
        /// Asks at one terminal: the name of the unit's instance; nil where it has none.
        case console(terminal: String?)
        case displayManager
        /// GNOME's display manager. It opens a channel to its worker for everybody who has a
        /// session, also over ssh.
        case gdm
    }

    public func kind(of unit: String) -> Kind? {
        let name = unit.hasSuffix(".service") ? String(unit.dropLast(8)) : unit
        guard patterns.contains(where: { Self.matches($0, name) || Self.matches($0, unit) }) else {
            return nil
        }
        for console in Self.consoles where name.hasPrefix(console) {
            let terminal = name.split(separator: "@", maxSplits: 1).dropFirst().first
            return .console(terminal: terminal.map(String.init))
        }
        return name.hasPrefix("gdm") ? .gdm : .displayManager
    }

    private static let consoles = ["getty@", "serial-getty@", "console-getty", "container-getty@"]

    /// Takes time in proportion to the pattern times the name: each `*` matches as little as it
    /// can.
    private static func matches(_ pattern: String, _ name: String) -> Bool {
        let parts = pattern.utf8.split(
            separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last else { return false }
        let bytes = Array(name.utf8)
        guard parts.count > 1 else { return bytes.elementsEqual(first) }
        guard bytes.starts(with: first), bytes.count >= first.count + last.count,
            bytes.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = bytes[first.count..<(bytes.count - last.count)]
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard
                let found = rest.indices.first(where: { rest[$0...].starts(with: part) })
            else { return false }
            rest = rest[(found + part.count)...]
        }
        return true
    }
}
