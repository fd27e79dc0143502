import Secrets

/// The key of somebody who signs for an organisation, as the tools write it that people sign with.
public enum PublicKey: Equatable, Sendable {
    /// Of minisign and signify, which mark each key with a number.
    case numbered(id: [UInt8], key: [UInt8])
    /// Of `ssh-keygen`.
    case ssh(key: [UInt8])
    /// Of a security key with `ssh-keygen`; it signs for this application.
    case securityKey(key: [UInt8], application: [UInt8])

    /// Reads one line: `RW...`, `ssh-ed25519 AAAA...` or `sk-ssh-ed25519@openssh.com AAAA...`,
    /// with a comment behind it or without.
    public init?(_ line: [UInt8]) {
        let words = line.split(separator: 0x20, maxSplits: 2).map(Array.init)
        if words.count == 1, let blob = Base64.decode(words[0]), blob.count == 42,
            blob.starts(with: Scheme.plain)
        {
            self = .numbered(id: Array(blob[2..<10]), key: Array(blob[10...]))
        } else if words.count > 1, let blob = Base64.decode(words[1]),
            let key = PublicKey(ssh: blob), key.sshName == words[0]
        {
            self = key
        } else {
            return nil
        }
    }

    /// As SSH puts it into a signature.
    init?(ssh blob: [UInt8]) {
        var reader = SSHReader(blob)
        guard let name = reader.string(), let key = reader.string(),
            key.count == PublicSignature.keySize
        else { return nil }
        switch name {
        case Self.sshName:
            self = .ssh(key: key)
        case Self.securityKeyName:
            guard let application = reader.string() else { return nil }
            self = .securityKey(key: key, application: application)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    static let sshName = Array("ssh-ed25519".utf8)
    static let securityKeyName = Array("sk-ssh-ed25519@openssh.com".utf8)

    private var sshName: [UInt8]? {
        switch self {
        case .numbered: nil
        case .ssh: Self.sshName
        case .securityKey: Self.securityKeyName
        }
    }

    /// As the tools write it.
    public var text: String {
        switch self {
        case .numbered(let id, let key): Base64.encode(Scheme.plain + id + key)
        case .ssh(let key): Self.text(Self.sshName, [key])
        case .securityKey(let key, let application):
            Self.text(Self.securityKeyName, [key, application])
        }
    }

    private static func text(_ name: [UInt8], _ fields: [[UInt8]]) -> String {
        var blob = SSHWriter()
        for field in [name] + fields { blob.string(field) }
        return "\(String(decoding: name, as: UTF8.self)) \(Base64.encode(blob.bytes))"
    }

    /// The bytes that sign; two texts of one key have the same.
    public var bytes: [UInt8] {
        switch self {
        case .numbered(_, let key), .ssh(let key), .securityKey(let key, _): key
        }
    }
}

/// What the first two bytes of minisign's and signify's say.
enum Scheme {
    static let plain = Array("Ed".utf8)
    /// Of the message's BLAKE2b.
    static let hashed = Array("ED".utf8)
}

/// Reads SSH's fields: a length of four bytes, then as many.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func number() -> UInt32? {
        bytes(4)?.reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func string() -> [UInt8]? {
        number().flatMap { bytes(Int($0)) }
    }
}

struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ bytes: [UInt8]) {
        self.bytes += bytes
    }

    mutating func string(_ string: [UInt8]) {
        let count = UInt32(string.count)
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + string
    }
}
