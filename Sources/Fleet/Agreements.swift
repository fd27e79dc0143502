/// What one person has answered to an organisation's consents, and that they have signed in there, and
/// when.
///
///     ACCOUNT
///     ORGANISATION
///     ID VERSION yes|no SECONDS
///     ...
///     # whole
public struct Agreements: Equatable, Sendable {
    public struct Said: Equatable, Sendable {
        public var version: UInt32
        public var agrees: Bool
        /// Seconds since 1970.
        public var at: UInt64

        public init(version: UInt32, agrees: Bool, at: UInt64) {
            (self.version, self.agrees, self.at) = (version, agrees, at)
        }
    }

    public let account: [UInt8]
    public let organisation: String
    public private(set) var said: [String: Said] = [:]

    private static let end = "# whole"
    public static let mostBytes = 16 << 10
    /// Items come and go, and what was said about one that went is kept.
    private static let mostSaid = 128

    public init(account: [UInt8], organisation: String) {
        (self.account, self.organisation) = (account, organisation)
    }

    /// What was kept; nil where it is not as it was written.
    public init?(_ text: [UInt8]) {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.last?.elementsEqual(Self.end.utf8) == true,
            let organisation = String(validating: lines[1], as: UTF8.self)
        else { return nil }
        self.init(account: Array(lines[0]), organisation: organisation)
        for line in lines[2..<(lines.count - 1)] {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count == 4, let version = UInt32(words[1]), let at = UInt64(words[3]),
                words[2] == "yes" || words[2] == "no", said[words[0]] == nil
            else { return nil }
            said[words[0]] = Said(version: version, agrees: words[2] == "yes", at: at)
        }
    }

    public func render() -> [UInt8] {
        let lines = said.sorted { $0.key < $1.key }.map { id, said in
            "\(id) \(said.version) \(said.agrees ? "yes" : "no") \(said.at)"
        }
        return account + [0x0A]
            + Array(([organisation] + lines + [Self.end]).joined(separator: "\n").utf8)
    }

    public mutating func say(_ agrees: Bool, to item: Consents.Item, at now: UInt64) {
        keep(Said(version: item.version, agrees: agrees, at: now), item.id)
    }

    public mutating func haveSignedIn(_ signIn: SignIn, at now: UInt64) {
        keep(Said(version: signIn.version, agrees: true, at: now), SignIn.id)
    }

    /// Nil where the person has not signed in by this version.
    public func signedIn(_ signIn: SignIn) -> Said? {
        said[SignIn.id].flatMap { $0.version >= signIn.version ? $0 : nil }
    }

    /// The oldest goes where there is no more room.
    private mutating func keep(_ answer: Said, _ id: String) {
        said[id] = answer
        if said.count > Self.mostSaid, let oldest = said.min(by: { $0.value.at < $1.value.at }) {
            said[oldest.key] = nil
        }
    }

    public func answer(to item: Consents.Item) -> Said? {
        said[item.id].flatMap { $0.version >= item.version ? $0 : nil }
    }

    /// What the person has not answered yet, in this version.
    public func open(_ consents: Consents) -> [Consents.Item] {
        consents.items.filter { answer(to: $0) == nil }
    }

    /// What they are asked when they come: what is open, and what they have denied and need.
    public func due(_ consents: Consents) -> [Consents.Item] {
        consents.items.filter { item in
            guard let answer = answer(to: item) else { return true }
            return item.kind != .optional && !answer.agrees
        }
    }

    /// What they have to agree to, and have not.
    public func denied(_ consents: Consents) -> Consents.Item? {
        consents.items.first { item in
            item.kind != .optional && answer(to: item)?.agrees == false
        }
    }
}
