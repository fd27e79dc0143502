import Secrets

/// A signature as one of the tools wrote it: minisign in both its modes, signify, or
/// `ssh-keygen -Y sign`.
public enum Signature: Equatable, Sendable {
    /// Of minisign and signify; minisign's usual mode signs the message's BLAKE2b.
    case numbered(id: [UInt8], isHashed: Bool, signature: [UInt8])
    case ssh(SSHSignature)

    /// The longest file of a signature; those that the tools write have some 300 bytes.
    public static let mostBytes = 4096

    /// What a signature by SSH has to be made for, so that nobody signs a bundle who means to sign
    /// something else.
    public static let namespace = "appvault-fleet"

    public init?(_ text: [UInt8]) {
        guard text.count <= Self.mostBytes else { return nil }
        let lines = text.split(separator: 0x0A).map { line in
            Array(line.last == 0x0D ? line.dropLast() : line)
        }
        if lines.first == SSHSignature.head {
            guard let signature = SSHSignature(lines) else { return nil }
            self = .ssh(signature)
            return
        }
        // A comment that nobody has signed, then the signature. What minisign writes below, a
        // comment that it signs, can be left out by whoever hands the file on. So it means nothing.
        guard lines.count > 1, lines[0].starts(with: Array("untrusted comment:".utf8)),
            let blob = Base64.decode(lines[1]), blob.count == 10 + PublicSignature.size
        else { return nil }
        let isHashed = blob.starts(with: Scheme.hashed)
        guard isHashed || blob.starts(with: Scheme.plain) else { return nil }
        self = .numbered(id: Array(blob[2..<10]), isHashed: isHashed, signature: Array(blob[10...]))
    }

    /// Whether it is of this key and this message.
    public func verifies(
        _ message: [UInt8], by key: PublicKey
    ) throws(SecretsError) -> Bool {
        switch (self, key) {
        case (.numbered(let id, let isHashed, let signature), .numbered(let of, let key)):
            guard id == of else { return false }
            if isHashed {
                let digest = try PublicSignature.digest(message.span, .blake2b512)
                return try PublicSignature.verify(signature, of: digest.span, by: key)
            }
            return try PublicSignature.verify(signature, of: message.span, by: key)
        case (.ssh(let signature), _):
            return try signature.verifies(message, by: key)
        case (.numbered, .ssh), (.numbered, .securityKey): return false
        }
    }
}

public struct SSHSignature: Equatable, Sendable {
    private let key: PublicKey
    private let namespace: [UInt8]
    private let reserved: [UInt8]
    private let digest: [UInt8]
    private let signature: [UInt8]
    /// Of a security key: whether somebody touched it, and how often it has signed.
    private let counter: [UInt8]

    static let head = Array("-----BEGIN SSH SIGNATURE-----".utf8)
    private static let end = Array("-----END SSH SIGNATURE-----".utf8)
    private static let magic = Array("SSHSIG".utf8)
    private static let isTouched: UInt8 = 1

    init?(_ lines: [[UInt8]]) {
        guard lines.count > 2, lines.first == Self.head, lines.last == Self.end,
            let blob = Base64.decode(lines.dropFirst().dropLast().flatMap { $0 })
        else { return nil }
        var reader = SSHReader(blob)
        guard reader.bytes(Self.magic.count) == Self.magic, reader.number() == 1,
            let key = reader.string().flatMap(PublicKey.init(ssh:)),
            let namespace = reader.string(), let reserved = reader.string(),
            let digest = reader.string(), let inner = reader.string(), reader.isAtEnd
        else { return nil }
        var signed = SSHReader(inner)
        guard let name = signed.string(), let signature = signed.string(),
            signature.count == PublicSignature.size
        else { return nil }
        switch key {
        case .ssh where name == PublicKey.sshName: counter = []
        case .securityKey where name == PublicKey.securityKeyName:
            guard let bytes = signed.bytes(5) else { return nil }
            counter = bytes
        case .numbered, .ssh, .securityKey: return nil
        }
        guard signed.isAtEnd else { return nil }
        (self.key, self.namespace, self.reserved) = (key, namespace, reserved)
        (self.digest, self.signature) = (digest, signature)
    }

    func verifies(_ message: [UInt8], by key: PublicKey) throws(SecretsError) -> Bool {
        guard key == self.key, namespace == Array(Signature.namespace.utf8) else { return false }
        let kind: PublicSignature.Digest
        switch digest {
        case Array("sha512".utf8): kind = .sha512
        case Array("sha256".utf8): kind = .sha256
        default: return false
        }
        var signed = SSHWriter()
        signed.raw(Self.magic)
        signed.string(namespace)
        signed.string(reserved)
        signed.string(digest)
        signed.string(try PublicSignature.digest(message.span, kind))
        guard case .securityKey(_, let application) = key else {
            return try PublicSignature.verify(signature, of: signed.bytes.span, by: key.bytes)
        }
        // Without a touch a program could have it sign while nobody looks.
        guard counter[0] & Self.isTouched != 0 else { return false }
        let whole =
            try PublicSignature.digest(application.span, .sha256) + counter
            + (try PublicSignature.digest(signed.bytes.span, .sha256))
        return try PublicSignature.verify(signature, of: whole.span, by: key.bytes)
    }
}
