import Secrets

/// Whom this machine believes, and how far it has come: what it keeps of the last bundle that it
/// took.
public struct Trust: Equatable, Sendable {
    /// Of one kind of bundle.
    public struct Mark: Equatable, Sendable {
        public var version: UInt64
        /// BLAKE2b of the manifest.
        public var manifest: [UInt8]
        public var signed: UInt64

        public init(version: UInt64, manifest: [UInt8], signed: UInt64) {
            (self.version, self.manifest, self.signed) = (version, manifest, signed)
        }
    }

    public var organisation: String
    public var charter: Charter
    /// Of each kind that was taken.
    public var marks: [Manifest.Kind: Mark]

    public init(
        organisation: String, charter: Charter, marks: [Manifest.Kind: Mark] = [:]
    ) {
        (self.organisation, self.charter, self.marks) = (organisation, charter, marks)
    }

    /// After a start: what the bundle says that was taken last, first the one of the policy. As that of
    /// orders, a policy's bundle may be kept that had them, until the first one comes that has them
    /// alone.
    public mutating func resume(
        from bundle: Bundle, keptAs kind: Manifest.Kind
    ) throws(SecretsError) {
        switch kind {
        case .policy:
            if case .policy(let charter) = bundle.manifest.bundle { self.charter = charter }
        case .orders:
            guard charter.ordersSigners != nil else { return }
        }
        marks[kind] = Mark(
            version: bundle.manifest.version, manifest: try Self.hash(bundle.manifestText),
            signed: bundle.manifest.signed)
    }

    /// In which bundle the orders come that hold.
    public var ordersKind: Manifest.Kind { charter.ordersSigners == nil ? .policy : .orders }

    private static func hash(_ text: [UInt8]) throws(SecretsError) -> [UInt8] {
        try Hash.blake2b(text.span, purpose: Purpose("AV manifest"))
    }

    /// A step further than this is a mistake, or meant to leave no number for the next one.
    static let widestStep: UInt64 = 1 << 20

    /// Why a bundle that is whole is not taken.
    public enum Refusal: Error, Equatable, Sendable {
        case otherOrganisation(String)
        /// Orders come with the policy here.
        case noOrdersApart
        case older(offered: UInt64, present: UInt64)
        /// The orders came in a bundle of their own so far, under versions that are higher: stores were
        /// made under these.
        case ordersOlder(offered: UInt64, present: UInt64)
        /// Two bundles with one number.
        case sameVersion(UInt64)
        case stepTooWide(offered: UInt64, present: UInt64)
        case expired(at: UInt64)
        case signatures(found: Int, needed: Int)
        /// It names others who sign, and these have to sign it, too: otherwise nobody could sign
        /// the next one.
        case signaturesOfNew(found: Int, needed: Int)
        /// Its orders take something away that nobody can bring back.
        case signaturesToWipe(found: Int, needed: Int)
        case secrets(SecretsError)
    }

    public enum Finding: Equatable, Sendable {
        /// It is the one that was taken last.
        case present
        case newer(Trust)
    }

    /// Whether a bundle is to be taken, at this time (seconds since 1970).
    public func judge(_ bundle: Bundle, now: UInt64) throws(Refusal) -> Finding {
        do throws(Failure) {
            return try found(bundle, now)
        } catch {
            throw switch error {
            case .refused(let refusal): refusal
            case .secrets(let error): .secrets(error)
            }
        }
    }

    private enum Failure: Error {
        case refused(Refusal)
        case secrets(SecretsError)
    }

    private func found(_ bundle: Bundle, _ now: UInt64) throws(Failure) -> Finding {
        let manifest = bundle.manifest
        guard manifest.organisation == organisation else {
            throw .refused(.otherOrganisation(manifest.organisation))
        }
        let signers: Signers
        var next = self
        switch manifest.bundle {
        case .policy(let charter):
            signers = self.charter.signers
            next.charter = charter
        case .orders:
            guard let apart = charter.ordersSigners else { throw .refused(.noOrdersApart) }
            signers = apart
        }
        let count = try count(of: signers, bundle)
        // Before anything else is said: what nobody signed is not looked into.
        guard count >= signers.threshold else {
            throw .refused(.signatures(found: count, needed: signers.threshold))
        }
        if next.charter != charter { try requireChange(to: next.charter, bundle, count) }

        let mark = Mark(
            version: manifest.version, manifest: try hash(bundle.manifestText),
            signed: manifest.signed)
        if let present = marks[manifest.bundle.kind] {
            guard mark != present else { return .present }
            guard mark.version >= present.version else {
                throw .refused(.older(offered: mark.version, present: present.version))
            }
            guard mark.version > present.version else {
                throw .refused(.sameVersion(mark.version))
            }
            guard mark.version - present.version <= Self.widestStep else {
                throw .refused(.stepTooWide(offered: mark.version, present: present.version))
            }
        }
        guard now < manifest.expires else { throw .refused(.expired(at: manifest.expires)) }
        try requireThatItMayWipe(bundle)
        switch (ordersKind, next.ordersKind) {
        case (.policy, .policy), (.orders, .orders): break
        // The last ones hold until the first bundle of orders alone comes, with a higher version.
        case (.policy, .orders): next.marks[.orders] = marks[.policy]
        case (.orders, .policy):
            let present = marks[.orders]?.version ?? 0
            guard mark.version > present else {
                throw .refused(.ordersOlder(offered: mark.version, present: present))
            }
            next.marks[.orders] = nil
        }
        next.marks[manifest.bundle.kind] = mark
        return .newer(next)
    }

    /// Who signs next is decided by as many as may do the most; a single stolen key could name its
    /// holder's friends otherwise.
    private func requireChange(
        to next: Charter, _ bundle: Bundle, _ count: Int
    ) throws(Failure) {
        let needed =
            charter.ordersSigners == nil
            ? max(charter.signers.threshold, charter.wipeThreshold)
            : charter.signers.threshold
        guard count >= needed else {
            throw .refused(.signatures(found: count, needed: needed))
        }
        guard next.signers != charter.signers else { return }
        let ofNew = try self.count(of: next.signers, bundle)
        guard ofNew >= next.signers.threshold else {
            throw .refused(.signaturesOfNew(found: ofNew, needed: next.signers.threshold))
        }
    }

    private func requireThatItMayWipe(_ bundle: Bundle) throws(Failure) {
        guard bundle.orders?.wipes == true else { return }
        let count = try count(of: charter.ordersSigners ?? charter.signers, bundle)
        guard count >= charter.wipeThreshold else {
            throw .refused(.signaturesToWipe(found: count, needed: charter.wipeThreshold))
        }
    }

    private func count(of signers: Signers, _ bundle: Bundle) throws(Failure) -> Int {
        do throws(SecretsError) {
            return try bundle.signatures(of: signers)
        } catch {
            throw .secrets(error)
        }
    }

    private func hash(_ text: [UInt8]) throws(Failure) -> [UInt8] {
        do throws(SecretsError) {
            return try Self.hash(text)
        } catch {
            throw .secrets(error)
        }
    }
}
