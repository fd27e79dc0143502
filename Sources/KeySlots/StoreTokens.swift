import Policy
import Secrets

/// A token, as a hash under a key that lives until the machine starts again: enough to know the token
/// again, useless without the key.
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

    /// Compared in constant time, because one side is chosen by whoever types.
    public static func == (left: TokenHash, right: TokenHash) -> Bool {
        constantTimeEqual(left.bytes.span, right.bytes.span)
    }

    public var description: String { "[REDACTED]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is known of the tokens that did not open one store, from one start of the machine to the next.
public struct StoreTokens: Equatable, Sendable {
    /// One distinct token a store and boot brings a wrong own try back.
    public enum Refund: Equatable, Sendable {
        case unspent
        case given(TokenHash)
        /// For a token that was forgotten since, or that cannot be read any more.
        case spent
    }

    public enum Claim: Equatable, Sendable {
        case granted
        case spent
    }

    /// Of each list: a guesser's tokens push each other out.
    public static let limit = 16
    static let noSalt = [UInt8](repeating: 0, count: KeyDerivation.saltSize)

    public var refund: Refund
    /// Of the passcode slot that they did not open: whoever is killed between a new one and forgetting them has a file
    /// that says nothing of the new one.
    public private(set) var salt = noSalt
    /// The person's.
    public private(set) var failed: [TokenHash] = []
    /// A list of their own, so that however many come they push none of the person's out, and are not told by a quick
    /// answer what the person has typed.
    public private(set) var strangers: [TokenHash] = []
    /// Those that came with a login that was confirmed.
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

    /// Whether whoever makes this try may hear that it is wrong without a derivation. The person keeps it, whoever
    /// tried it first.
    public mutating func recall(_ hash: TokenHash, _ kind: TryKind) -> Bool {
        if isConfirmed(hash) { return true }
        switch kind {
        case .stranger: return strangers.contains(hash)
        case .own, .apart, .recovery:
            if strangers.contains(hash) { Self.add(hash, to: &failed) }
            return failed.contains(hash)
        }
    }

    /// Of the newest passcode slot that there is now.
    package mutating func bind(to slot: PasscodeSlot?) {
        salt = hasHashes ? slot?.details.salt ?? Self.noSalt : Self.noSalt
    }

    /// Whether they were tried at this slot.
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

    /// Granted again to the same token: two logins with it may have waited at once.
    public mutating func claimRefund(for hash: TokenHash) -> Claim {
        switch refund {
        case .unspent:
            refund = .given(hash)
            return .granted
        case .given(let earlier): return earlier == hash ? .granted : .spent
        case .spent: return .spent
        }
    }

    /// What was wrong may be right now. The refund does not come back by it.
    public mutating func forgetHashes() {
        switch refund {
        case .unspent: break
        case .given, .spent: refund = .spent
        }
        failed = []
        strangers = []
        confirmed = []
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
        writer.put([UInt8](repeating: 0, count: 6))
        writer.put(boot.bytes)
        writer.put(store.bytes)
        writer.put(salt)
        for hash in given + failed + confirmed + strangers { writer.put(hash.bytes) }
        return writer.bytes
    }

    enum Parsed: Equatable {
        case tokens(StoreTokens)
        /// Its hashes are of a key that is gone, and so is its word about the refund.
        case ofAnotherBoot
        case unreadable
    }

    static func parse(_ file: [UInt8], of store: StoreID, _ boot: BootID) -> Parsed {
        var reader = FieldReader(file)
        guard reader.bytes(magic.count) == magic, reader.number(UInt16.self) == version,
            let kind = reader.number(UInt8.self), let failed = reader.number(UInt8.self),
            let confirmed = reader.number(UInt8.self), let strangers = reader.number(UInt8.self),
            reader.bytes(6) == [0, 0, 0, 0, 0, 0],
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
        tokens.salt = salt
        return .tokens(tokens)
    }
}

extension FieldReader {
    fileprivate mutating func hashes(_ count: UInt8) -> [TokenHash] {
        (0..<count).compactMap { _ in bytes(TokenHash.size).map(TokenHash.init(bytes:)) }
    }
}
