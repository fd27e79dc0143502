/// The server that an invitation names: a name as DNS has it, and perhaps a port. Letters of other
/// scripts come as `xn--` alone, so that nothing looks like a name that it is not.
public struct JoinHost: Equatable, Sendable {
    /// As it stands in an address: `example.org` or `example.org:8443`.
    public let text: String

    public static let mostBytes = 253
    private static let mostLabel = 63

    /// Nil where it is none. An address by number is none either: it names nobody.
    public init?(_ text: [UInt8]) {
        let parts = text.split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, Self.isName(name),
            parts.count < 2 || Self.isPort(parts[1])
        else { return nil }
        self.text = String(decoding: text, as: UTF8.self)
    }

    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard (1...mostBytes).contains(name.count) else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy(isLabel)
            && labels.last?.contains { !(0x30...0x39 ~= $0) } == true
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...mostLabel).contains(label.count) && label.first != UInt8(ascii: "-")
            && label.last != UInt8(ascii: "-")
            && label.allSatisfy {
                0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-")
            }
    }

    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard (1...5).contains(text.count), text.first != UInt8(ascii: "0"),
            text.allSatisfy({ 0x30...0x39 ~= $0 })
        else { return false }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    /// Of an address that begins with https://, for people: without what could stand before it.
    public static func host(of url: String) -> String {
        let rest = url.dropFirst("https://".utf8.count).prefix {
            $0 != "/" && $0 != "?" && $0 != "#"
        }
        return String(rest.split(separator: "@", omittingEmptySubsequences: false).last ?? rest)
    }
}
