import Policy
import Secrets

/// What an organisation hands out, in one file: `fleet.bundle`. Two files could not be replaced at
/// once everywhere.
public struct Bundle: Equatable, Sendable {
    /// Word by word, because that is what was signed.
    public let manifestText: [UInt8]
    public let manifest: Manifest
    /// What the manifest has the hash of; compared when it was read.
    public let parts: [Manifest.Part: [UInt8]]
    /// Nil where it has none.
    public let orders: Orders?
    public let signatures: [Signature]

    private static let head = "appvault bundle 1"
    private static let manifestKind = "manifest"
    private static let signatureKind = "signature"
    public static let mostBytes = 1 << 20
    /// Each costs the time of a check.
    private static let mostSignatures = 64

    /// Why a file is no bundle, whoever signed it.
    public enum Fault: Error, Equatable, Sendable {
        /// It is something else, such as a page on which somebody is to agree to something.
        case noBundle
        case tooLong
        /// From this line on it is not as it was written.
        case notWhole(line: Int)
        case manifest(PlainSections.Fault)
        case tooManySignatures
        /// It has two of these, or one that the manifest does not know.
        case unexpected(part: String)
        case missing(Manifest.Part)
        /// It is not the one that was signed.
        case changed(Manifest.Part)
        case orders(PlainSections.Fault)
        /// What is done to stores before a version that does not exist yet would be done to each new
        /// one, again and again.
        case ordersAhead(named: UInt64, version: UInt64)
        /// It says itself that others sign them, in a bundle of their own.
        case ordersApart
        case terms(PlainSections.Fault)
        case signIn(PlainSections.Fault)
        case secrets(SecretsError)
    }

    public init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.mostBytes else { throw .tooLong }
        var rest = try Self.read(bytes)
        guard rest.first?.kind == Self.manifestKind else { throw .noBundle }
        manifestText = rest.removeFirst().text
        do throws(PlainSections.Fault) {
            manifest = try Manifest(manifestText)
        } catch {
            throw .manifest(error)
        }
        var parts: [Manifest.Part: [UInt8]] = [:]
        var signatures: [Signature] = []
        for part in rest {
            if part.kind == Self.signatureKind {
                guard signatures.count < Self.mostSignatures else { throw .tooManySignatures }
                // One of a tool that nobody knows here is none; the others may do.
                if let signature = Signature(part.text) { signatures.append(signature) }
                continue
            }
            guard let kind = Manifest.Part(rawValue: part.kind), parts[kind] == nil,
                let hash = manifest.parts[kind]
            else { throw .unexpected(part: part.kind) }
            guard try Self.hash(part.text) == hash else { throw .changed(kind) }
            parts[kind] = part.text
        }
        for kind in Manifest.Part.allCases where manifest.parts[kind] != nil {
            guard parts[kind] != nil else { throw .missing(kind) }
        }
        orders = try Self.orders(of: manifest, parts)
        (self.parts, self.signatures) = (parts, signatures)
    }

    /// The orders that a bundle with this manifest may have.
    public static func orders(
        of manifest: Manifest, _ parts: [Manifest.Part: [UInt8]]
    ) throws(Fault) -> Orders? {
        guard let text = parts[.orders] else { return nil }
        if case .policy(let charter) = manifest.bundle, charter.ordersSigners != nil {
            throw .ordersApart
        }
        let orders: Orders
        do throws(PlainSections.Fault) {
            orders = try Orders(text)
        } catch {
            throw .orders(error)
        }
        guard orders.latestVersion <= manifest.version else {
            throw .ordersAhead(named: orders.latestVersion, version: manifest.version)
        }
        return orders
    }

    /// What people are asked to agree to. It is long, and seldom needed, so it is read only where it is.
    public func consents() throws(Fault) -> Consents { try Self.consents(parts) }

    public static func consents(_ parts: [Manifest.Part: [UInt8]]) throws(Fault) -> Consents {
        guard let text = parts[.terms] else { return .none }
        do throws(PlainSections.Fault) {
            return try Consents(text)
        } catch {
            throw .terms(error)
        }
    }

    /// How people say who they are; nil where nobody wants to know.
    public func signIn() throws(Fault) -> SignIn? { try Self.signIn(parts) }

    public static func signIn(_ parts: [Manifest.Part: [UInt8]]) throws(Fault) -> SignIn? {
        guard let text = parts[.signin] else { return nil }
        do throws(PlainSections.Fault) {
            return try SignIn(text)
        } catch {
            throw .signIn(error)
        }
    }

    private static func read(_ bytes: [UInt8]) throws(Fault) -> [PartedFile.Part] {
        do throws(PartedFile.Fault) {
            return try PartedFile.read(bytes, head: head)
        } catch {
            throw switch error {
            case .head: .noBundle
            case .notWhole(let line): .notWhole(line: line)
            }
        }
    }

    /// As the manifest has it.
    public static func hash(_ part: [UInt8]) throws(Fault) -> [UInt8] {
        do throws(SecretsError) {
            return try Hash.blake2b(
                part.span, purpose: Purpose("AV bundle part"), count: Manifest.hashSize)
        } catch {
            throw .secrets(error)
        }
    }

    /// The file, from its pieces: `manifest` as it was signed, and each signature as a tool wrote
    /// it.
    public static func render(
        manifest: [UInt8], parts: [Manifest.Part: [UInt8]], signatures: [[UInt8]]
    ) -> [UInt8] {
        let pieces =
            [(manifestKind, manifest)]
            + Manifest.Part.allCases.compactMap { kind in parts[kind].map { (kind.rawValue, $0) } }
            + signatures.map { (signatureKind, $0) }
        return PartedFile.render(
            head: head, pieces.map { .init(kind: $0, name: [], text: $1) })
    }

    /// One that was taken is signed by those whom it names itself, so this tells whether it is still as
    /// it came. Whoever signs orders alone is named elsewhere.
    public func isAsSigned() throws(SecretsError) -> Bool {
        switch manifest.bundle {
        case .policy(let charter):
            try signatures(of: charter.signers) >= charter.signers.threshold
        case .orders: true
        }
    }

    /// How many of these have signed it.
    func signatures(of signers: Signers) throws(SecretsError) -> Int {
        var count = 0
        for signer in signers.keys {
            for signature in signatures
            where try signature.verifies(manifestText, by: signer.key) {
                count += 1
                break
            }
        }
        return count
    }
}
