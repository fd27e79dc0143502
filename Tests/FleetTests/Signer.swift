import CSodium
import Fleet
import Secrets

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Somebody with a key, who signs as the tools do.
struct Signer: Sendable {
    enum Tool: CaseIterable, Sendable { case minisign, signify, ssh, securityKey }

    let name: String
    let tool: Tool
    private let key: [UInt8]
    private let secret: [UInt8]
    private let id = bytes("12345678")
    private static let application = bytes("ssh:")

    init(_ name: String, _ tool: Tool = .minisign) {
        (self.name, self.tool) = (name, tool)
        var seed = Array(name.utf8.prefix(32))
        seed += [UInt8](repeating: 7, count: 32 - seed.count)
        var (key, secret) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        _ = unsafe crypto_sign_ed25519_seed_keypair(&key, &secret, seed)
        (self.key, self.secret) = (key, secret)
    }

    var publicKey: PublicKey {
        switch tool {
        case .minisign, .signify: .numbered(id: id, key: key)
        case .ssh: .ssh(key: key)
        case .securityKey: .securityKey(key: key, application: Self.application)
        }
    }

    var named: Signers.Named { .init(name: name, key: publicKey) }

    func sign(
        _ message: [UInt8], namespace: String = "appvault-fleet", flags: UInt8 = 1
    ) throws -> [UInt8] {
        switch tool {
        case .minisign:
            let digest = try PublicSignature.digest(message.span, .blake2b512)
            return lines(bytes("ED") + id + raw(digest)) + bytes("trusted comment: any\nAAAA\n")
        case .signify:
            return lines(bytes("Ed") + id + raw(message))
        case .ssh, .securityKey:
            return try ssh(message, namespace, flags)
        }
    }

    private func lines(_ blob: [UInt8]) -> [UInt8] {
        bytes("untrusted comment: of \(name)\n\(Base64.encode(blob))\n")
    }

    private func ssh(_ message: [UInt8], _ namespace: String, _ flags: UInt8) throws -> [UInt8] {
        let kind = tool == .ssh ? bytes("ssh-ed25519") : bytes("sk-ssh-ed25519@openssh.com")
        let about = field(bytes(namespace)) + field([]) + field(bytes("sha512"))
        let signed =
            bytes("SSHSIG") + about
            + field(try PublicSignature.digest(message.span, .sha512))
        var inner = field(kind)
        var shown = field(kind) + field(key)
        if tool == .ssh {
            inner += field(raw(signed))
        } else {
            shown += field(Self.application)
            let counter: [UInt8] = [flags, 0, 0, 0, 9]
            let whole =
                try PublicSignature.digest(Self.application.span, .sha256) + counter
                + PublicSignature.digest(signed.span, .sha256)
            inner += field(raw(whole)) + counter
        }
        let blob = bytes("SSHSIG") + [0, 0, 0, 1] + field(shown) + about + field(inner)
        return bytes(
            "-----BEGIN SSH SIGNATURE-----\n\(Base64.encode(blob))\n-----END SSH SIGNATURE-----\n")
    }

    private func field(_ bytes: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    private func raw(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        _ = unsafe crypto_sign_ed25519_detached(
            &signature, nil, message, UInt64(message.count), secret)
        return signature
    }
}
