import CSodium
import Fleet
import Posix
import Secrets
import WorkerLinks

@testable import VaultService

/// Answers in the place of an organisation's server.
@LoopActor
final class PlayedServer: ServerLink {
    /// One after the other; then there is no way to it.
    var answers: [Fetched] = []
    /// What happens while it is asked.
    var meanwhile: @LoopActor () async -> Void = {}
    /// What was handed in.
    private(set) var heard: [String] = []

    nonisolated init() {}

    /// What lies at these addresses, and at every other one.
    var files: [String: Fetched] = [:]
    var found = Fetched.failed(.noName)
    private(set) var urls: [String] = []

    func find(_ url: [UInt8]) async -> Fetched {
        let url = String(decoding: url, as: UTF8.self)
        urls.append(url)
        await meanwhile()
        return files[url] ?? found
    }

    func signIn(_ typed: WipedBuffer, at url: [UInt8]) async -> Fetched {
        heard.append(
            typed.withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            })
        await meanwhile()
        return answers.isEmpty ? .failed(.noWay) : answers.removeFirst()
    }

    func end() {}

    static func says(_ status: Int, _ line: String = "") -> Fetched {
        .answered(status: status, tag: [], content: Array(line.utf8))
    }
}

/// An organisation with one key, that signs as signify does.
struct PlayedOrganisation {
    let name: String
    private let key: [UInt8]
    private let secret: [UInt8]
    private let id = Array("12345678".utf8)

    init(_ name: String = "example.org") {
        self.name = name
        var (key, secret) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        // SAFETY: each array has the size that the call fills.
        _ = unsafe crypto_sign_ed25519_keypair(&key, &secret)
        (self.key, self.secret) = (key, secret)
    }

    private var charter: Charter {
        let key = Signers.Named(name: "anna", key: .numbered(id: id, key: key))
        return Charter(signers: Signers(threshold: 1, keys: [key]))
    }

    var join: [UInt8] {
        let targets = [UInt8](repeating: 1, count: TargetKey.size)
        return Join(organisation: name, charter: charter, targetKey: targets).render()
    }

    func bundle(_ version: UInt64, _ parts: [Manifest.Part: String]) throws -> WipedBuffer {
        let parts = parts.mapValues { Array($0.utf8) }
        let manifest = Manifest(
            organisation: name, bundle: .policy(charter), version: version,
            signed: 1_795_600_000 + version, expires: 4_070_908_800,
            parts: try parts.mapValues { try Bundle.hash($0) }
        ).render()
        var signature = [UInt8](repeating: 0, count: 64)
        // SAFETY: the manifest is passed with its own count, the others have the sizes of the call.
        _ = unsafe crypto_sign_ed25519_detached(
            &signature, nil, manifest, UInt64(manifest.count), secret)
        let blob = Base64.encode(Array("Ed".utf8) + id + signature)
        return WipedBuffer(
            bytes: Bundle.render(
                manifest: manifest, parts: parts,
                signatures: [Array("untrusted comment: x\n\(blob)\n".utf8)]))
    }
}

extension Stage {
    private var root: Caller { login([:]).caller }

    func join(_ organisation: PlayedOrganisation) async throws {
        _ = try await house.fleet.join(WipedBuffer(bytes: organisation.join), root)
    }

    func take(_ bundle: WipedBuffer) async throws {
        _ = try await house.fleet.take(bundle, root)
    }

    func leaveOrganisation() async throws {
        _ = try await house.fleet.leave(root)
    }
}
