/// What an organisation signs: who it is, which version this is and how long it counts, who signs
/// the next one, and the hash of each other part. Nothing else in a bundle is signed.
public struct Manifest: Equatable, Sendable {
    /// Each kind of bundle has a row of versions of its own.
    public enum Bundle: Equatable, Sendable {
        /// It says who signs, and has orders as well where nobody else signs them.
        case policy(Charter)
        /// Alone in a bundle that is signed more often, by those whom the policy's bundle names.
        case orders

        public var kind: Kind {
            switch self {
            case .policy: .policy
            case .orders: .orders
            }
        }
    }

    public enum Kind: String, CaseIterable, Sendable { case policy, orders }

    public enum Part: String, CaseIterable, Sendable { case policy, orders, terms, signin }

    public var organisation: String
    public var bundle: Bundle
    public var version: UInt64
    /// Seconds since 1970, both.
    public var signed: UInt64
    public var expires: UInt64
    /// Whom a person asks.
    public var contact: String
    /// BLAKE2b of each part, with 32 bytes.
    public var parts: [Part: [UInt8]]

    public static let hashSize = 32
    /// The longest; a text of 64 keys has some 7,000 bytes.
    static let mostBytes = 32 * 1024
    static let mostText = 256

    public init(
        organisation: String, bundle: Bundle, version: UInt64, signed: UInt64, expires: UInt64,
        contact: String = "", parts: [Part: [UInt8]]
    ) {
        (self.organisation, self.bundle, self.version) = (organisation, bundle, version)
        (self.signed, self.expires, self.contact) = (signed, expires, contact)
        self.parts = parts
    }
}

/// Who signs, and what an administrator of a machine may change.
public struct Charter: Equatable, Sendable {
    public var signers: Signers
    /// Who signs bundles of orders alone; nil where orders come with the policy.
    public var ordersSigners: Signers?
    /// Wiping needs as many signatures of those who sign orders.
    public var wipeThreshold: Int
    /// The machine's own policy files change nothing of this policy.
    public var isFinal = false

    public init(
        signers: Signers, ordersSigners: Signers? = nil, wipeThreshold: Int? = nil,
        isFinal: Bool = false
    ) {
        self.signers = signers
        self.ordersSigners = ordersSigners
        self.wipeThreshold = wipeThreshold ?? (ordersSigners ?? signers).threshold
        self.isFinal = isFinal
    }
}

/// The keys of those who sign, and how many of them have to.
public struct Signers: Equatable, Sendable {
    public struct Named: Equatable, Sendable {
        /// For people.
        public var name: String
        public var key: PublicKey

        public init(name: String, key: PublicKey) {
            (self.name, self.key) = (name, key)
        }
    }

    public var threshold: Int
    public var keys: [Named]

    public static let mostKeys = 64

    public init(threshold: Int, keys: [Named]) {
        (self.threshold, self.keys) = (threshold, keys)
    }
}

extension Manifest {
    /// Reads what an organisation wrote.
    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        try self.init(text, completing: nil)
    }

    /// Reads a draft that a person wrote, and adds the time and the hashes that they did not.
    public init(
        draft: [UInt8], hashes: [Part: [UInt8]], signed: UInt64
    ) throws(PlainSections.Fault) {
        try self.init(draft, completing: (signed, hashes))
    }

    private init(
        _ text: [UInt8], completing added: (signed: UInt64, parts: [Part: [UInt8]])?
    ) throws(PlainSections.Fault) {
        guard text.count <= Self.mostBytes else {
            throw PlainSections.Fault(line: 1, wrong: "it is longer than 32 KiB")
        }
        var file = try PlainSections(text)
        var main = try file.section("Manifest")
        organisation = try main.require("Organisation", "a name", Value.text)
        let kind = try main.require("Bundle", "policy or orders") {
            Kind(rawValue: String(decoding: $0, as: UTF8.self))
        }
        version = try main.require("Version", "a number from 1 on", Value.version)
        signed =
            if let added { added.signed } else {
                try main.require("Signed", Value.time, UTCTime.seconds)
            }
        expires = try main.require("Expires", Value.time, UTCTime.seconds)
        contact = try main.read("Contact", "a line of text", Value.text) ?? ""
        switch kind {
        case .policy: bundle = .policy(try Charter(&main, &file))
        case .orders: bundle = .orders
        }
        try main.requireEnd()
        parts =
            if let added { added.parts } else {
                try Self.hashes(of: kind, try file.section("Parts"))
            }
        try file.requireEnd()
        guard expires > signed else {
            throw PlainSections.Fault(line: main.line, wrong: "it expires before it was signed")
        }
    }

    private static func hashes(
        of kind: Kind, _ section: PlainSections.Section
    ) throws(PlainSections.Fault) -> [Part: [UInt8]] {
        var section = section
        var hashes: [Part: [UInt8]] = [:]
        let known: [Part] = kind == .policy ? Part.allCases : [.orders]
        for part in known {
            hashes[part] = try section.read(part.rawValue, "a hash of 64 digits") { value in
                Hex.bytes(value).flatMap { $0.count == hashSize ? $0 : nil }
            }
        }
        try section.requireEnd()
        return hashes
    }

    /// As `fleet manifest` writes it.
    public func render() -> [UInt8] {
        var lines = [
            "[Manifest]", "Organisation=\(organisation)", "Bundle=\(bundle.kind.rawValue)",
            "Version=\(version)", "Signed=\(UTCTime.text(signed))",
            "Expires=\(UTCTime.text(expires))",
        ]
        if !contact.isEmpty { lines.append("Contact=\(contact)") }
        if case .policy(let charter) = bundle { lines += charter.lines }
        lines.append("[Parts]")
        for part in Part.allCases {
            if let hash = parts[part] { lines.append("\(part.rawValue)=\(Hex.text(hash))") }
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}

extension Charter {
    init(
        _ main: inout PlainSections.Section, _ file: inout PlainSections
    ) throws(PlainSections.Fault) {
        let threshold = try main.require("Threshold", Value.count, Value.count)
        signers = try Signers(threshold, try file.section("Keys"))
        if let threshold = try main.read("OrdersThreshold", Value.count, Value.count) {
            ordersSigners = try Signers(threshold, try file.section("OrdersKeys"))
        }
        let orderers = ordersSigners ?? signers
        wipeThreshold =
            try main.read("WipeThreshold", Value.count, Value.count) ?? orderers.threshold
        guard wipeThreshold <= orderers.keys.count else {
            throw PlainSections.Fault(
                line: main.line, wrong: "WipeThreshold is more than there are keys")
        }
        isFinal = try main.read("Final", "yes or no", Value.flag) ?? false
    }

    var lines: [String] {
        var lines = ["Threshold=\(signers.threshold)"]
        if let ordersSigners { lines.append("OrdersThreshold=\(ordersSigners.threshold)") }
        if wipeThreshold != (ordersSigners ?? signers).threshold {
            lines.append("WipeThreshold=\(wipeThreshold)")
        }
        if isFinal { lines.append("Final=yes") }
        lines += ["[Keys]"] + signers.lines
        if let ordersSigners { lines += ["[OrdersKeys]"] + ordersSigners.lines }
        return lines
    }
}

extension Signers {
    fileprivate init(
        _ threshold: Int, _ section: PlainSections.Section
    ) throws(PlainSections.Fault) {
        self.init(threshold: threshold, keys: [])
        for entry in section.entries {
            guard let key = PublicKey(entry.value) else {
                throw PlainSections.Fault(
                    line: entry.line,
                    wrong: "\(entry.key) is no key of minisign, signify or ssh-keygen (ed25519)")
            }
            // One person would count twice.
            guard !keys.contains(where: { $0.key.bytes == key.bytes }) else {
                throw PlainSections.Fault(
                    line: entry.line, wrong: "\(entry.key) is the key of another line")
            }
            keys.append(Named(name: entry.key, key: key))
        }
        guard (1...Self.mostKeys).contains(keys.count) else {
            throw PlainSections.Fault(
                line: section.line, wrong: "[\(section.title)] has 1 to \(Self.mostKeys) keys")
        }
        guard threshold <= keys.count else {
            throw PlainSections.Fault(
                line: section.line, wrong: "the threshold is more than there are keys")
        }
    }

    fileprivate var lines: [String] { keys.map { "\($0.name)=\($0.key.text)" } }
}

/// How the values of a manifest are read, and what is right where they cannot be.
enum Value {
    static let time = "a time such as 2026-11-26T03:00:00Z"
    static let url = "a URL that begins with https://"
    static let count = "a number from 1 to \(Signers.mostKeys)"

    static func text(_ value: [UInt8]) -> String? {
        guard (1...Manifest.mostText).contains(value.count) else { return nil }
        return String(validating: value, as: UTF8.self)
    }

    static func url(_ value: [UInt8]) -> String? {
        guard value.count <= 2048, value.starts(with: Array("https://".utf8)), value.count > 8,
            value.allSatisfy({ 0x21...0x7E ~= $0 })
        else { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    static func version(_ value: [UInt8]) -> UInt64? {
        number(value, 1...(.max))
    }

    static func count(_ value: [UInt8]) -> Int? {
        number(value, 1...UInt64(Signers.mostKeys)).map { Int($0) }
    }

    static func flag(_ value: [UInt8]) -> Bool? {
        switch String(decoding: value, as: UTF8.self) {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    static func whole(_ value: [UInt8]) -> UInt64? {
        value.isEmpty ? nil : number(value, 0...(.max))
    }

    private static func number(_ value: [UInt8], _ range: ClosedRange<UInt64>) -> UInt64? {
        guard value.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = UInt64(String(decoding: value, as: UTF8.self)), range.contains(number)
        else { return nil }
        return number
    }
}
