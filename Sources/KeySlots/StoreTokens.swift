import Policy
import Secrets

/// A token, as a hash under a key that exists until the machine restarts. It is enough to recognize
/// the token, and useless without the key.
public struct TokenHash: Equatable, Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public static let size = 32

    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(
        _ token: borrowing SecretBytes, of store: StoreID, key: borrowing SecretBytes
    ) throws(SecretsError) {
        var hash = try Blake2b(key: key, purpose: .token, count: Self.size)
        hash.update(store.bytes)
        hash.update(token)
        bytes = try hash.finish()
    }

    /// Compared in constant time, because the person at the prompt chooses one side.
    public static func == (left: TokenHash, right: TokenHash) -> Bool {
        constantTimeEqual(left.bytes.span, right.bytes.span)
    }

    public var description: String { "[REDACTED]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is known of the tokens that did not open one store, from one start of the machine to the
/// next.
public struct StoreTokens: Equatable, Sendable {
    /// A wrong own try is given back for one distinct token per store and boot.
    public enum Refund: Equatable, Sendable {
        case unspent
        case given(TokenHash)
        /// It was given for a token that was forgotten since, or that can no longer be read.
        case spent
    }

    public enum Claim: Equatable, Sendable {
        case granted
        case spent
    }

    /// The limit of each list. When a list is full, its oldest token is removed, so a guesser's
    /// tokens push each other out.
    public static let limit = 16
    static let noSalt = [UInt8](repeating: 0, count: KeyDerivation.saltSize)

    public var refund: Refund
    /// The last login password that the login itself had proven did not open the store.
    public var hasDrifted = false
    /// The salt of the passcode slot that the tokens did not open. If the daemon is killed after it
    /// wrote a new slot and before it forgot the tokens, this salt shows that they say nothing
    /// about the new slot.
    public private(set) var salt = noSalt
    /// The tokens of the person's own and apart tries.
    public private(set) var failed: [TokenHash] = []
    /// Strangers' tokens have a list of their own: so they cannot push out the person's, however
    /// many come, and a stranger cannot find out from a quick answer what the person has typed.
    public private(set) var strangers: [TokenHash] = []
    /// Tokens that came with a confirmed login.
    public private(set) var confirmed: [TokenHash] = []

    public init(refund: Refund = .unspent) {
        self.refund = refund
    }

    public var hasHashes: Bool {
        if case .given = refund { return true }
        return !failed.isEmpty || !strangers.isEmpty || !confirmed.isEmpty
    }

    public func isConfirmed(_ hash: TokenHash) -> Bool {
        refund == .given(hash) || confirmed.contains(hash)
    }

    /// Whether this try may be answered as wrong without a derivation. If a stranger tried the
    /// token first, a try of the person's also adds it to the person's list.
    public mutating func recall(_ hash: TokenHash, _ kind: TryKind) -> Bool {
        if isConfirmed(hash) { return true }
        switch kind {
        case .stranger: return strangers.contains(hash)
        case .own, .apart, .recovery:
            if strangers.contains(hash) { Self.add(hash, to: &failed) }
            return failed.contains(hash)
        }
    }

    /// Notes the salt of the newest passcode slot, nil where there is none.
    package mutating func bind(to slot: PasscodeSlot?) {
        salt = hasHashes ? slot?.details.salt ?? Self.noSalt : Self.noSalt
    }

    /// Whether the tokens were tried at this slot.
    package func isBound(to slot: PasscodeSlot?) -> Bool {
        !hasHashes || salt == slot?.details.salt ?? Self.noSalt
    }

    public mutating func remember(_ hash: TokenHash, _ kind: TryKind) {
        switch kind {
        case .own, .apart, .recovery: Self.add(hash, to: &failed)
        case .stranger: Self.add(hash, to: &strangers)
        }
    }

    public mutating func confirm(_ hash: TokenHash) {
        Self.add(hash, to: &confirmed)
    }

    /// Grants the refund again to the same token: two logins with it may have waited at the same
    /// time.
    public mutating func claimRefund(for hash: TokenHash) -> Claim {
        switch refund {
        case .unspent:
            refund = .given(hash)
            return .granted
        case .given(let earlier): return earlier == hash ? .granted : .spent
        case .spent: return .spent
        }
    }

    /// Forgets all hashes: after a change of the passcode a wrong token may be right. A refund that
    /// was given stays spent.
    public mutating func forgetHashes() {
        switch refund {
        case .unspent: break
        case .given, .spent: refund = .spent
        }
        failed = []
        strangers = []
        confirmed = []
        hasDrifted = false
        salt = Self.noSalt
    }

    private static func add(_ hash: TokenHash, to list: inout [TokenHash]) {
        guard !list.contains(hash) else { return }
        if list.count == limit { list.removeFirst() }
        list.append(hash)
    }
}

// MARK: the file

extension StoreTokens {
    static let magic = Array("AVTK".utf8)
    static let version: UInt16 = 1
    static let headerSize = 64
    static let fileLimit = headerSize + (1 + 3 * limit) * TokenHash.size

    func file(of store: StoreID, _ boot: BootID) -> [UInt8] {
        let (kind, given): (UInt8, [TokenHash]) =
            switch refund {
            case .unspent: (0, [])
            case .given(let hash): (1, [hash])
            case .spent: (2, [])
            }
        var writer = FieldWriter()
        writer.put(Self.magic)
        writer.put(Self.version)
        writer.put(kind)
        writer.put(UInt8(failed.count))
        writer.put(UInt8(confirmed.count))
        writer.put(UInt8(strangers.count))
        writer.put(UInt8(hasDrifted ? 1 : 0))
        writer.put([UInt8](repeating: 0, count: 5))
        writer.put(boot.bytes)
        writer.put(store.bytes)
        writer.put(salt)
        for hash in given + failed + confirmed + strangers { writer.put(hash.bytes) }
        return writer.bytes
    }

    enum Parsed: Equatable {
        case tokens(StoreTokens)
        /// The file is of another boot, whose key is gone, so its hashes and its refund mean
        /// nothing.
        case ofAnotherBoot
        case unreadable
    }

    static func parse(_ file: [UInt8], of store: StoreID, _ boot: BootID) -> Parsed {
        var reader = FieldReader(file)
        guard reader.bytes(magic.count) == magic, reader.number(UInt16.self) == version,
            let kind = reader.number(UInt8.self), let failed = reader.number(UInt8.self),
            let confirmed = reader.number(UInt8.self), let strangers = reader.number(UInt8.self),
            let hasDrifted = reader.flag(), reader.bytes(5) == [0, 0, 0, 0, 0],
            let made = reader.bytes(BootID.size).flatMap(BootID.init)
        else { return .unreadable }
        guard made == boot else { return .ofAnotherBoot }
        let given: UInt8 = kind == 1 ? 1 : 0
        let hashes = Int(given) + Int(failed) + Int(confirmed) + Int(strangers)
        guard reader.bytes(StoreID.size) == store.bytes,
            let salt = reader.bytes(KeyDerivation.saltSize), kind <= 2, failed <= limit,
            confirmed <= limit, strangers <= limit,
            file.count == headerSize + hashes * TokenHash.size
        else { return .unreadable }
        var tokens = StoreTokens(refund: kind == 0 ? .unspent : .spent)
        for hash in reader.hashes(given) { tokens.refund = .given(hash) }
        tokens.failed = reader.hashes(failed)
        tokens.confirmed = reader.hashes(confirmed)
        tokens.strangers = reader.hashes(strangers)
        tokens.hasDrifted = hasDrifted
        tokens.salt = salt
        return .tokens(tokens)
    }
}

extension FieldReader {
    fileprivate mutating func hashes(_ count: UInt8) -> [TokenHash] {
        (0..<count).compactMap { _ in bytes(TokenHash.size).map(TokenHash.init(bytes:)) }
    }
}
