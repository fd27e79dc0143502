import Fleet
import Wire

extension Refusal {
    /// Why a bundle of an organisation's is not taken.
    package enum BundleReason: Equatable, Sendable {
        // What it is, whoever signed it.
        case nothing
        case tooLong
        case notWhole(line: Int)
        case manifest(line: Int, wrong: String)
        case join(line: Int, wrong: String)
        /// What a server hands out is not what the invitation means.
        case joinOther(host: String)
        case part(String)
        case changed(String)
        case orders(line: Int, wrong: String)
        case ordersAhead(named: UInt64, version: UInt64)
        case ordersApart
        case terms(line: Int, wrong: String)
        case signIn(line: Int, wrong: String)
        /// What this machine keeps itself; nothing is believed then.
        case kept(String)
        // Whose it is.
        case otherOrganisation(String)
        case noOrdersApart
        case signatures(found: Int, needed: Int)
        case signaturesOfNew(found: Int, needed: Int)
        case signaturesToWipe(found: Int, needed: Int)
        // Which one it is.
        case older(offered: UInt64, present: UInt64)
        case ordersOlder(offered: UInt64, present: UInt64)
        case sameVersion(UInt64)
        case stepTooWide(offered: UInt64, present: UInt64)
        case expired

        package var code: Code {
            switch self {
            case .nothing, .tooLong, .notWhole, .manifest, .join, .part, .changed, .kept,
                .orders, .ordersAhead, .ordersApart, .terms, .signIn:
                .bundleBroken
            case .joinOther, .otherOrganisation, .noOrdersApart, .signatures, .signaturesOfNew,
                .signaturesToWipe:
                .bundleUntrusted
            case .older, .ordersOlder, .sameVersion, .stepTooWide: .bundleOlder
            case .expired: .bundleExpired
            }
        }
    }

    package init(_ fault: Bundle.Fault) {
        self =
            switch fault {
            case .noBundle, .tooManySignatures: .bundle(.nothing)
            case .tooLong: .bundle(.tooLong)
            case .notWhole(let line): .bundle(.notWhole(line: line))
            case .manifest(let fault): .bundle(.manifest(line: fault.line, wrong: fault.wrong))
            case .unexpected(let part): .bundle(.part(Text.clean(Array(part.utf8))))
            case .missing(let part): .bundle(.part(part.rawValue))
            case .changed(let part): .bundle(.changed(part.rawValue))
            case .orders(let fault): .bundle(.orders(line: fault.line, wrong: fault.wrong))
            case .ordersAhead(let named, let version):
                .bundle(.ordersAhead(named: named, version: version))
            case .ordersApart: .bundle(.ordersApart)
            case .terms(let fault): .bundle(.terms(line: fault.line, wrong: fault.wrong))
            case .signIn(let fault): .bundle(.signIn(line: fault.line, wrong: fault.wrong))
            case .secrets: .outOfMemory
            }
    }

    package init(_ refusal: Trust.Refusal) {
        self =
            switch refusal {
            case .otherOrganisation(let name): .bundle(.otherOrganisation(name))
            case .noOrdersApart: .bundle(.noOrdersApart)
            case .older(let offered, let present):
                .bundle(.older(offered: offered, present: present))
            case .ordersOlder(let offered, let present):
                .bundle(.ordersOlder(offered: offered, present: present))
            case .sameVersion(let version): .bundle(.sameVersion(version))
            case .stepTooWide(let offered, let present):
                .bundle(.stepTooWide(offered: offered, present: present))
            case .expired: .bundle(.expired)
            case .signatures(let found, let needed):
                .bundle(.signatures(found: found, needed: needed))
            case .signaturesOfNew(let found, let needed):
                .bundle(.signaturesOfNew(found: found, needed: needed))
            case .signaturesToWipe(let found, let needed):
                .bundle(.signaturesToWipe(found: found, needed: needed))
            case .secrets: .outOfMemory
            }
    }
}

extension Refusal.BundleReason {
    var phrase: Phrase {
        switch self {
        case .nothing: Phrase(.bundleNothing)
        case .tooLong: Phrase(.bundleTooLong)
        case .notWhole(let line): Phrase(.bundleNotWhole, .count(line))
        case .manifest(let line, let wrong): Phrase(.bundleManifest, .count(line), .text(wrong))
        case .join(let line, let wrong): Phrase(.bundleJoin, .count(line), .text(wrong))
        case .joinOther(let host): Phrase(.bundleJoinOther, .text(host))
        case .part(let part): Phrase(.bundlePart, .text(part))
        case .changed(let part): Phrase(.bundleChanged, .text(part))
        case .orders(let line, let wrong): Phrase(.bundleOrders, .count(line), .text(wrong))
        case .ordersAhead(let named, let version):
            Phrase(.bundleOrdersAhead, .text(String(named)), .text(String(version)))
        case .ordersApart: Phrase(.bundleOrdersApart)
        case .terms(let line, let wrong): Phrase(.bundleTerms, .count(line), .text(wrong))
        case .signIn(let line, let wrong): Phrase(.bundleSignIn, .count(line), .text(wrong))
        case .kept(let file): Phrase(.bundleKept, .text(file))
        case .otherOrganisation(let name): Phrase(.bundleOther, .text(name))
        case .noOrdersApart: Phrase(.bundleNoOrdersApart)
        case .signatures(let found, let needed):
            Phrase(.bundleSignatures, .count(found), .count(needed))
        case .signaturesOfNew(let found, let needed):
            Phrase(.bundleSignaturesOfNew, .count(found), .count(needed))
        case .signaturesToWipe(let found, let needed):
            Phrase(.bundleSignaturesToWipe, .count(found), .count(needed))
        case .older(let offered, let present):
            Phrase(.bundleOlder, .text(String(offered)), .text(String(present)))
        case .ordersOlder(let offered, let present):
            Phrase(.bundleOrdersOlder, .text(String(offered)), .text(String(present)))
        case .sameVersion(let version): Phrase(.bundleSameVersion, .text(String(version)))
        case .stepTooWide(let offered, let present):
            Phrase(.bundleStepTooWide, .text(String(offered)), .text(String(present)))
        case .expired: Phrase(.bundleExpired)
        }
    }

    var hint: Phrase {
        switch self {
        case .nothing, .tooLong, .notWhole, .manifest, .join, .part, .changed:
            Phrase(.hintBundleBroken)
        case .orders, .ordersAhead, .ordersApart, .terms, .signIn: Phrase(.hintBundleOrders)
        case .kept: Phrase(.hintBundleKept)
        case .joinOther: Phrase(.hintBundleJoinOther)
        case .otherOrganisation, .noOrdersApart, .signatures, .signaturesOfNew, .signaturesToWipe:
            Phrase(.hintBundleUntrusted)
        case .older, .ordersOlder, .sameVersion, .stepTooWide: Phrase(.hintBundleOlder)
        case .expired: Phrase(.hintBundleExpired)
        }
    }
}
