import CSodium
import Fleet
import Glibc
import Secrets

/// What somebody between an organisation and its machines may hand on. It is refused, or read as it
/// can be written again; and nothing is taken but what was signed word by word.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    if let orders = try? Orders(bytes) {
        must((try? Orders(orders.render())) == orders, "orders are not written as they were read")
    }
    if let join = try? Join(bytes) {
        must((try? Join(join.render())) == join, "a join is not written as it was read")
    }
    for item in (try? Consents(bytes))?.items ?? [] {
        let papers = [item.paper(for: [])] + item.languages.map { item.paper(for: [$0]) }
        must(papers.allSatisfy { !$0.title.isEmpty && !$0.pages.isEmpty }, "a paper without text")
        must(!papers.contains { $0.pages.contains(where: \.isEmpty) }, "an empty page")
    }
    if let signIn = try? SignIn(bytes), case .fields(let fields) = signIn.way {
        must(1...SignIn.mostFields ~= fields.count, "no screen has so many fields")
        must(Set(fields.map(\.id)).count == fields.count, "two fields of one name")
        must(!fields.contains(where: { $0.label(for: []).isEmpty }), "a field without a label")
    }
    guard let bundle = try? Bundle(bytes) else { return 0 }
    must(
        (try? Manifest(bundle.manifest.render())) == bundle.manifest,
        "a manifest is not written as it was read")
    must(
        (bundle.orders?.latestVersion ?? 0) <= bundle.manifest.version,
        "orders of a version to come")
    for trust in Desk.trusts {
        guard case .newer(let next)? = try? trust.judge(bundle, now: Desk.now) else { continue }
        must(Desk.signed.contains(bundle.manifestText), "taken, and nobody signed it")
        let (mark, kind) = (next.marks[bundle.manifest.bundle.kind], bundle.manifest.bundle.kind)
        must((mark?.version ?? 0) > (trust.marks[kind]?.version ?? 0), "an older one was taken")
        must(
            bundle.orders?.wipes != true || (try? bundle.isAsSigned()) == true,
            "a wipe that too few have signed")
    }
    return 0
}

/// An organisation, and what it has signed.
enum Desk {
    static let now: UInt64 = 1_795_700_000
    private static let signers = (0..<2).map { Hand(UInt8($0)) }
    private static let charter = Charter(
        signers: Signers(threshold: 1, keys: signers.map(\.named)), wipeThreshold: 2)
    private static let trust = Trust(organisation: "example.org", charter: charter)

    static let bundles: [[UInt8]] = [
        bundle(2, "", 1), bundle(3, "lock \(target)\n", 1), bundle(4, "wipe \(target) 4\n", 1),
        bundle(5, "wipe \(target) 4\nreset \(target) 5\noffline lock 3\noffline wipe 9\n", 2),
        bundle(6, "lock \(target)\n", 0),
    ]
    static let signed = bundles.dropLast().compactMap { (try? Bundle($0))?.manifestText }
    static let trusts: [Trust] = {
        var later = trust
        if let bundle = try? Bundle(bundles[1]) {
            try? later.resume(from: bundle, keptAs: .policy)
        }
        must(later.marks[.policy]?.version == 3, "the seeds are no bundles")
        return [trust, later]
    }()
    static let join = Join(
        organisation: "example.org", charter: charter, urls: [.policy: "https://example.org/f"],
        targetKey: [UInt8](repeating: 1, count: TargetKey.size)
    ).render()
    private static let target = String(repeating: "0", count: 32)
    static let orders = Array("# x\nlock \(target)\nwipe \(target) 4\noffline lock 3\n".utf8)

    static let terms = Array(
        """
        [Licence]
        Version=2
        Title=T

        # H
        a
        - b
        https://c
        ---
        d
        [Licence de]
        Title=U

        e
        [Consent n]
        Version=1
        Required=no
        LearnMore=https://f
        Title=V

        g

        """.utf8)

    static let signIn = Array(
        """
        [Sign-in]
        Version=1
        URL=https://a
        Title=T
        [Field u]
        Label=L
        Kind=name
        Prefill={account}@x
        Required=no
        [Sign-in de]
        Title=U
        [Field u de]
        Label=M

        """.utf8)

    private static func bundle(_ version: UInt64, _ orders: String, _ count: Int) -> [UInt8] {
        let parts: [Manifest.Part: [UInt8]] = [
            .policy: Array("[Passcode]\nMinLength=9\n".utf8), .orders: Array(orders.utf8),
        ]
        let manifest = Manifest(
            organisation: "example.org", bundle: .policy(charter), version: version,
            signed: now - 1000, expires: now + 1000, contact: "help",
            parts: parts.compactMapValues { try? Bundle.hash($0) }
        ).render()
        return Bundle.render(
            manifest: manifest, parts: parts,
            signatures: signers.prefix(count).map { $0.sign(manifest) })
    }
}

/// Somebody with a key of minisign's.
struct Hand {
    private let id: [UInt8]
    private let key: [UInt8]
    private let secret: [UInt8]

    init(_ number: UInt8) {
        id = [UInt8](repeating: number, count: 8)
        var (key, secret) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        let seed = [UInt8](repeating: number, count: 32)
        // SAFETY: each array has the size that the call reads or fills.
        _ = unsafe crypto_sign_ed25519_seed_keypair(&key, &secret, seed)
        (self.key, self.secret) = (key, secret)
    }

    var named: Signers.Named { .init(name: "k\(id[0])", key: .numbered(id: id, key: key)) }

    func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        // SAFETY: the message is passed with its own count, the others have the sizes of the call.
        _ = unsafe crypto_sign_ed25519_detached(
            &signature, nil, message, UInt64(message.count), secret)
        let blob = Array("Ed".utf8) + id + signature
        return Array("untrusted comment: x\n\(Base64.encode(blob))\n".utf8)
    }
}

/// What the run begins with.
@_cdecl("LLVMFuzzerInitialize")
public func seeds(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    _ = Desk.trusts
    guard let folder = unsafe getenv("FUZZ_SEEDS") else { return 0 }
    let path = unsafe String(cString: folder)
    for (number, seed) in (Desk.bundles + [Desk.join, Desk.orders, Desk.terms, Desk.signIn])
        .enumerated()
    {
        save(seed, "\(path)/\(number)")
    }
    return 0
}

private func save(_ bytes: [UInt8], _ path: String) {
    guard let file = unsafe fopen(path, "w") else { return }
    // SAFETY: as many bytes are written as the array has.
    _ = unsafe fwrite(bytes, 1, bytes.count, file)
    _ = unsafe fclose(file)
}
