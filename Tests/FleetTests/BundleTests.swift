import Fleet
import Secrets
import Testing

let anna = Signer("anna")
let bert = Signer("bert", .ssh)
let cora = Signer("cora", .signify)
let dora = Signer("dora", .securityKey)

private let signedAt: UInt64 = 1_795_600_000
private let day: UInt64 = 86_400
private let now = signedAt + day

private let someone = String(repeating: "0", count: 31) + "1"
private let lock = "lock \(someone)\n"
private let wipe = "wipe \(someone) 4\n"
private let reset = "reset \(someone) 4\n"

/// A bundle, and who signs it.
struct Draft {
    var organisation = "example.org"
    var version: UInt64 = 1
    var charter: Charter? = Charter(signers: Signers(threshold: 1, keys: [anna.named]))
    var expires = signedAt + 30 * day
    var parts: [Manifest.Part: [UInt8]] = [.policy: bytes("[Passcode]\nMinLength=9\n")]
    var by = [anna]

    var manifest: [UInt8] {
        get throws {
            Manifest(
                organisation: organisation, bundle: charter.map { .policy($0) } ?? .orders,
                version: version, signed: signedAt, expires: expires,
                contact: "help@example.org",
                parts: try parts.mapValues { try Bundle.hash($0) }
            ).render()
        }
    }

    var file: [UInt8] {
        get throws {
            let manifest = try manifest
            return Bundle.render(
                manifest: manifest, parts: parts, signatures: try by.map { try $0.sign(manifest) })
        }
    }

    var bundle: Bundle { get throws { try Bundle(try file) } }
}

private func fault(_ file: [UInt8]) -> Bundle.Fault? {
    do {
        _ = try Bundle(file)
        return nil
    } catch {
        return error
    }
}

private func replaced(_ file: [UInt8], _ old: String, _ new: String) -> [UInt8] {
    let text = String(decoding: file, as: UTF8.self)
    guard let range = text.firstRange(of: old) else { return file }
    return bytes(text.replacing(old, with: new, maxReplacements: 1)) + (range.isEmpty ? [0] : [])
}

@Suite struct BundleTests {
    @Test("a bundle is read as it was written")
    func roundTrip() throws {
        var draft = Draft()
        draft.charter = Charter(
            signers: Signers(threshold: 2, keys: [anna, bert, cora, dora].map(\.named)),
            ordersSigners: Signers(threshold: 1, keys: [cora.named, dora.named]),
            wipeThreshold: 2, isFinal: true)
        draft.parts[.terms] = bytes("# whole\n")
        draft.by = [anna, dora]
        let bundle = try draft.bundle
        #expect(bundle.parts == draft.parts)
        #expect(bundle.signatures.count == 2)
        #expect(bundle.manifest.bundle == .policy(try #require(draft.charter)))
        #expect(bundle.manifest.contact == "help@example.org")
        #expect(try Manifest(bundle.manifest.render()) == bundle.manifest)
    }

    @Test("cut anywhere, or with any bit changed, it is none, or one that nobody signed")
    func damaged() throws {
        let file = try Draft().file
        for count in 0..<file.count { #expect(fault(Array(file.prefix(count))) != nil) }
        let trust = Trust(organisation: "example.org", charter: try #require(Draft().charter))
        let whole = try Draft().bundle
        for place in file.indices {
            for bit in 0..<8 {
                var changed = file
                changed[place] ^= 1 << bit
                guard let bundle = try? Bundle(changed) else { continue }
                // Comments of a signature that nobody signed may change.
                let isSame =
                    bundle.manifestText == whole.manifestText && bundle.parts == whole.parts
                #expect(isSame || (try? trust.judge(bundle, now: now)) == nil, "\(place).\(bit)")
            }
        }
    }

    @Test("one that was taken is signed by those whom it names, so a changed word shows")
    func asSigned() throws {
        #expect(try Draft().bundle.isAsSigned())
        let reworded = replaced(try Draft().file, "help@example.org", "held@example.org")
        #expect(try !Bundle(reworded).isAsSigned())
        #expect(try !Draft(by: [bert]).bundle.isAsSigned())
    }

    @Test("what is wrong with a file is said")
    func faults() throws {
        let file = try Draft().file
        #expect(fault(bytes("<html>Please log in</html>\n")) == .noBundle)
        #expect(fault(replaced(file, "MinLength=9", "MinLength=1")) == .changed(.policy))
        #expect(fault(replaced(file, "policy 0 ", "terms 0 ")) == .unexpected(part: "terms"))
        #expect(fault([UInt8](repeating: 0, count: Bundle.mostBytes + 1)) == .tooLong)
        var draft = Draft()
        draft.parts = [:]
        let manifest = try Draft().manifest
        #expect(
            fault(Bundle.render(manifest: manifest, parts: [:], signatures: []))
                == .missing(.policy))
        let many = [[UInt8]](repeating: try anna.sign(manifest), count: 65)
        #expect(
            fault(Bundle.render(manifest: manifest, parts: Draft().parts, signatures: many))
                == .tooManySignatures)
    }

    @Test("what is wrong with its orders is said, whoever signed it")
    func orders() throws {
        var draft = Draft(version: 3)
        draft.parts[.orders] = bytes("lock\n")
        guard case .orders(let told) = fault(try draft.file) else {
            Issue.record("read")
            return
        }
        #expect(told.line == 1)
        for order in [wipe, reset] {
            draft.parts[.orders] = bytes(order)
            #expect(fault(try draft.file) == .ordersAhead(named: 4, version: 3))
        }
        draft.version = 4
        #expect(try draft.bundle.orders == Orders(bytes(reset)))
        draft.charter?.ordersSigners = Signers(threshold: 1, keys: [cora.named])
        #expect(fault(try draft.file) == .ordersApart)
        draft.parts[.orders] = nil
        #expect(try draft.bundle.orders == nil)
    }

    @Test(
        "a manifest that is not understood in each line is none",
        arguments: [
            ("Version=1", "Version=0", "Version is a number from 1 on"),
            ("Version=1", "Version=1\nVersion=2", "Version is there a second time"),
            ("Version=1", "Version=18446744073709551616", "Version is a number from 1 on"),
            ("Version=1", "Verson=1", "[Manifest] has no Version"),
            ("Version=1", "Version=1\nColour=red", "Colour is no key of [Manifest]"),
            ("Signed=2", "Signed=x2", "Signed is a time such as 2026-11-26T03:00:00Z"),
            ("Threshold=1", "Threshold=2", "the threshold is more than there are keys"),
            (
                "Threshold=1", "Threshold=1\nWipeThreshold=2",
                "WipeThreshold is more than there are keys"
            ),
            ("[Parts]", "[Parts]\ncolour=00", "colour is no key of [Parts]"),
            ("[Parts]", "[Colours]\n[Parts]", "[Colours] is no section of this file"),
            ("anna=", "anna=x", "anna is no key of minisign, signify or ssh-keygen (ed25519)"),
            ("Bundle=policy", "Bundle=orders", "Threshold is no key of [Manifest]"),
        ])
    func manifests(old: String, new: String, wrong: String) throws {
        do {
            _ = try Manifest(replaced(try Draft().manifest, old, new))
            Issue.record("read")
        } catch let fault as PlainSections.Fault {
            #expect(fault.wrong == wrong)
        }
    }
}

@Suite struct TrustTests {
    private static let trust = Trust(
        organisation: "example.org",
        charter: Charter(signers: Signers(threshold: 1, keys: [anna.named])))

    private func refusal(_ trust: Trust, _ draft: Draft, now: UInt64 = now) throws -> Trust.Refusal?
    {
        do {
            _ = try trust.judge(try draft.bundle, now: now)
            return nil
        } catch let error as Trust.Refusal {
            return error
        }
    }

    private func taken(_ trust: Trust, _ draft: Draft) throws -> Trust {
        guard case .newer(let next) = try trust.judge(try draft.bundle, now: now)
        else { throw Trust.Refusal.sameVersion(0) }
        return next
    }

    @Test("a later version is taken, the same once more is the one that is there")
    func versions() throws {
        let first = try taken(Self.trust, Draft())
        #expect(try first.judge(try Draft().bundle, now: now) == .present)
        var draft = Draft(version: 7)
        let second = try taken(first, draft)
        #expect(try refusal(second, Draft()) == .older(offered: 1, present: 7))
        draft.parts[.policy] = bytes("[Passcode]\nMinLength=4\n")
        #expect(try refusal(second, draft) == .sameVersion(7))
        draft.version = 7 + (1 << 20) + 1
        #expect(
            try refusal(second, draft) == .stepTooWide(offered: draft.version, present: 7))
        draft.version -= 1
        #expect(try taken(second, draft).marks[.policy]?.version == draft.version)
    }

    @Test("one that has expired is not taken any more")
    func expired() throws {
        let draft = Draft()
        #expect(try refusal(Self.trust, draft, now: draft.expires) == .expired(at: draft.expires))
        #expect(try refusal(Self.trust, draft, now: draft.expires - 1) == nil)
    }

    @Test("somebody else's is not taken, whatever it says")
    func others() throws {
        #expect(try refusal(Self.trust, Draft(by: [])) == .signatures(found: 0, needed: 1))
        #expect(try refusal(Self.trust, Draft(by: [bert])) == .signatures(found: 0, needed: 1))
        #expect(
            try refusal(Self.trust, Draft(organisation: "other.org"))
                == .otherOrganisation("other.org"))
    }

    @Test("one person who signs twice counts once")
    func twice() throws {
        var trust = Self.trust
        trust.charter.signers = Signers(threshold: 2, keys: [anna.named, bert.named])
        var draft = Draft(charter: trust.charter, by: [anna, anna])
        #expect(try refusal(trust, draft) == .signatures(found: 1, needed: 2))
        draft.by = [anna, bert]
        #expect(try refusal(trust, draft) == nil)
    }

    @Test("a key is replaced by those who signed so far, and the new ones show that they can sign")
    func rotation() throws {
        let next = Charter(signers: Signers(threshold: 2, keys: [bert.named, dora.named]))
        var draft = Draft(version: 2, charter: next, by: [anna, bert])
        #expect(try refusal(Self.trust, draft) == .signaturesOfNew(found: 1, needed: 2))
        draft.by = [bert, dora]
        #expect(try refusal(Self.trust, draft) == .signatures(found: 0, needed: 1))
        draft.by = [anna, bert, dora]
        let trust = try taken(Self.trust, draft)
        #expect(trust.charter == next)
        // The former key signs nothing any more.
        #expect(
            try refusal(trust, Draft(version: 3, by: [anna]))
                == .signatures(found: 0, needed: 2))
    }

    @Test("wiping needs its own number of signatures, and so does a change of that number")
    func wiping() throws {
        var trust = Self.trust
        trust.charter = Charter(
            signers: Signers(threshold: 1, keys: [anna.named, bert.named]), wipeThreshold: 2)
        var draft = Draft(version: 4, charter: trust.charter)
        for orders in [wipe, reset, "offline lock 3\noffline wipe 9\n"] {
            draft.parts[.orders] = bytes(orders)
            draft.by = [anna]
            #expect(try refusal(trust, draft) == .signaturesToWipe(found: 1, needed: 2))
            draft.by = [anna, bert]
            #expect(try refusal(trust, draft) == nil)
        }
        draft.by = [anna]
        for orders in ["", lock, "offline lock 3\n"] {
            draft.parts[.orders] = bytes(orders)
            #expect(try refusal(trust, draft) == nil)
        }
        // A stolen key alone cannot make itself enough.
        draft.charter?.wipeThreshold = 1
        #expect(try refusal(trust, draft) == .signatures(found: 1, needed: 2))
        draft.charter = Charter(signers: Signers(threshold: 1, keys: [anna.named]))
        #expect(try refusal(trust, draft) == .signatures(found: 1, needed: 2))
        draft.by = [anna, bert]
        #expect(try refusal(trust, draft) == nil)
    }

    @Test("orders alone are signed by those whom the policy's bundle names, and by nobody else")
    func ordersApart() throws {
        var draft = Draft(version: 4, charter: nil, parts: [.orders: bytes(lock)], by: [cora])
        #expect(try refusal(Self.trust, draft) == .noOrdersApart)
        var trust = Self.trust
        trust.charter = Self.apart
        trust.marks[.policy] = try taken(Self.trust, Draft(version: 9)).marks[.policy]
        let next = try taken(trust, draft)
        #expect((next.marks[.orders]?.version, next.marks[.policy]?.version) == (4, 9))
        draft.parts = [.orders: bytes(wipe)]
        #expect(try refusal(trust, draft) == .signaturesToWipe(found: 1, needed: 2))
        draft.by = [cora, dora]
        #expect(try refusal(trust, draft) == nil)
        draft.by = [anna]
        #expect(try refusal(trust, draft) == .signatures(found: 0, needed: 1))
        // And they sign no policy.
        #expect(
            try refusal(trust, Draft(version: 10, charter: trust.charter, by: [cora]))
                == .signatures(found: 0, needed: 1))
    }

    private static let apart = Charter(
        signers: Signers(threshold: 1, keys: [anna.named]),
        ordersSigners: Signers(threshold: 1, keys: [cora.named, dora.named]), wipeThreshold: 2)

    @Test(
        "where orders come from another kind of bundle from now on, their version does not go back")
    func kinds() throws {
        let together = try taken(Self.trust, Draft(version: 50))
        let policy = Draft(version: 51, charter: Self.apart)
        var apart = try taken(together, policy)
        #expect(apart.marks[.orders] == together.marks[.policy])
        var orders = Draft(version: 50, charter: nil, parts: [.orders: bytes(lock)], by: [cora])
        #expect(try refusal(apart, orders) == .sameVersion(50))
        orders.version = 49
        #expect(try refusal(apart, orders) == .older(offered: 49, present: 50))
        // After a start it is the same: what had the orders is kept as the bundle of orders.
        var resumed = Self.trust
        try resumed.resume(from: try policy.bundle, keptAs: .policy)
        try resumed.resume(from: try Draft(version: 50).bundle, keptAs: .orders)
        #expect(resumed == apart)

        orders.version = 70
        apart = try taken(apart, orders)
        var back = Draft(version: 70)
        #expect(try refusal(apart, back) == .ordersOlder(offered: 70, present: 70))
        back.version = 71
        let again = try taken(apart, back)
        #expect(again.marks[.orders] == nil)
        // What is left of former orders says nothing then.
        resumed = Self.trust
        try resumed.resume(from: try back.bundle, keptAs: .policy)
        try resumed.resume(from: try orders.bundle, keptAs: .orders)
        #expect(resumed == again)
        // Whoever may wipe so far decides whether the bundle may that changes it.
        back.parts[.orders] = bytes(wipe)
        #expect(try refusal(apart, back) == .signaturesToWipe(found: 0, needed: 2))
        back.by = [anna, cora, dora]
        #expect(try refusal(apart, back) == nil)
    }
}

@Suite struct JoinTests {
    private let join = Join(
        organisation: "example.org",
        charter: Charter(
            signers: Signers(threshold: 2, keys: [anna.named, bert.named, dora.named]),
            ordersSigners: Signers(threshold: 1, keys: [cora.named]), isFinal: true),
        urls: [.policy: "https://fleet.example.org/fleet.bundle"],
        targetKey: [UInt8](repeating: 9, count: 32))

    @Test("what a machine joins with is read as it was written")
    func roundTrip() throws {
        #expect(try Join(join.render()) == join)
    }

    @Test(
        "a line that is wrong makes it none",
        arguments: [
            ("https:", "http:", "URL is a URL that begins with https://"),
            ("TargetKey=", "TargetKey=A", "TargetKey is 32 bytes in base64"),
            ("[Join]", "[Joined]", "[Join] is missing"),
            ("Threshold=2", "Threshold=4", "the threshold is more than there are keys"),
        ])
    func faults(old: String, new: String, wrong: String) {
        let text = String(decoding: join.render(), as: UTF8.self)
        do {
            _ = try Join(bytes(text.replacing(old, with: new, maxReplacements: 1)))
            Issue.record("read")
        } catch {
            #expect(error.wrong == wrong)
        }
    }

    @Test("after a start the trust is what it was")
    func resumed() throws {
        var trust = Trust(
            organisation: "example.org",
            charter: Charter(signers: Signers(threshold: 1, keys: [anna.named])))
        let draft = Draft(
            version: 5, charter: Charter(signers: Signers(threshold: 1, keys: [bert.named])),
            by: [anna, bert])
        guard case .newer(let next) = try trust.judge(try draft.bundle, now: 1_795_700_000)
        else { throw Trust.Refusal.sameVersion(0) }
        try trust.resume(from: try draft.bundle, keptAs: .policy)
        #expect(trust == next)
    }
}
