import Secrets

/// An invitation to join an organisation, short enough for a QR code:
///
///     appvault:join?v=1&h=fleet.example.org&k=SHA256:(64 hex digits)&t=TOKEN
///
/// It names a join file and says which one it is: whoever has the server, or is in between, can hand
/// out that file or none.
public struct JoinLink: Equatable, Sendable {
    public var host: JoinHost
    /// The SHA-256 of the join file, as `sha256sum` prints it.
    public var fingerprint: [UInt8]
    /// The last part of the file's address; whoever does not know it does not find the file.
    public var token: String

    public static let mostBytes = 1024
    public static let tokenLengths = 16...128
    public static let fingerprintSize = 32
    private static let start = Array("appvault:join?".utf8)
    private static let fingerprintStart = Array("SHA256:".utf8)

    /// What is not as it should be.
    public enum Fault: Error, Equatable, Sendable, CaseIterable {
        /// It begins otherwise, is too long, or has bytes that no link has.
        case noLink
        /// It was made for another release.
        case version
        /// A part is missing, is there twice, or is none of a link's.
        case parts
        case host
        case fingerprint
        case token
    }

    public init(host: JoinHost, fingerprint: [UInt8], token: String) {
        (self.host, self.fingerprint, self.token) = (host, fingerprint, token)
    }

    /// One that nobody has had yet.
    public init(to file: [UInt8], at host: JoinHost) throws(SecretsError) {
        self.init(
            host: host, fingerprint: try Hash.sha256(file.span),
            token: Hex.text(try Random.bytes(16)))
    }

    public init(_ text: [UInt8]) throws(Fault) {
        guard text.count <= Self.mostBytes, text.starts(with: Self.start) else { throw .noLink }
        var parts: [(name: [UInt8], value: [UInt8])] = []
        for part in text.dropFirst(Self.start.count).split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { throw .parts }
            let name = Array(part[..<equals])
            guard !parts.contains(where: { $0.name == name }) else { throw .parts }
            guard let value = Self.decoded(part[(equals + 1)...]) else { throw .noLink }
            parts.append((name, value))
        }
        func take(_ name: Character) throws(Fault) -> [UInt8] {
            guard
                let place = parts.firstIndex(where: { $0.name == Array(String(name).utf8) })
            else { throw .parts }
            return parts.remove(at: place).value
        }
        // First of all: another version may have other parts.
        guard try take("v") == Array("1".utf8) else { throw .version }
        guard let host = JoinHost(try take("h")) else { throw .host }
        guard let fingerprint = Self.fingerprint(try take("k")) else { throw .fingerprint }
        let token = try take("t")
        guard Self.isToken(token) else { throw .token }
        guard parts.isEmpty else { throw .parts }
        self.init(
            host: host, fingerprint: fingerprint, token: String(decoding: token, as: UTF8.self))
    }

    /// `%41` is `A`; a % that begins no byte is a fault. Nothing else is changed.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x37
        case 0x61...0x66: character - 0x57
        default: nil
        }
    }

    private static func fingerprint(_ text: [UInt8]) -> [UInt8]? {
        guard text.starts(with: fingerprintStart),
            let bytes = Hex.bytes(Array(text.dropFirst(fingerprintStart.count))),
            bytes.count == fingerprintSize
        else { return nil }
        return bytes
    }

    private static func isToken(_ text: [UInt8]) -> Bool {
        tokenLengths.contains(text.count)
            && text.allSatisfy {
                0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    public var text: String {
        "appvault:join?v=1&h=\(host.text)&k=SHA256:\(Hex.text(fingerprint))&t=\(token)"
    }

    /// Where the join file is.
    public var url: String { "https://\(host.text)/.well-known/appvault-join/\(token)" }

    /// Whether this is the file that is meant.
    public func names(_ file: [UInt8]) throws(SecretsError) -> Bool {
        try Hash.sha256(file.span) == fingerprint
    }

    /// As `sha256sum` prints it.
    public var hexFingerprint: String { Hex.text(fingerprint) }

    /// For people who compare it: two lines of eight groups.
    public var groups: [String] {
        let digits = Array(Hex.text(fingerprint))
        return stride(from: 0, to: digits.count, by: 32).map { line in
            stride(from: line, to: line + 32, by: 4).map { String(digits[$0..<$0 + 4]) }
                .joined(separator: " ")
        }
    }
}
