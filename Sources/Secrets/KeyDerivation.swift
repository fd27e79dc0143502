internal import CSodium
internal import Posix

/// Argon2id, version 1.3, parallelism 1: the one slow step, and the only one a guesser has to pay for.
public enum KeyDerivation {
    public static let saltSize = 16
    public static let keySize = 32

    public struct Cost: Equatable, Hashable, Sendable {
        public let memoryKiB: UInt32
        public let passes: UInt32

        /// A cost read from a file is a stranger's wish: 1 GiB and 16 passes are some 8 s, and the end.
        public static let memoryRange: ClosedRange<UInt32> = 8...1_048_576
        public static let passesRange: ClosedRange<UInt32> = 1...16

        /// What a new slot gets where no policy says otherwise.
        public static let standard = Cost(checkedMemoryKiB: 65_536, passes: 3)

        /// The least that a policy may ask for.
        public static let lowest = Cost(checkedMemoryKiB: 19 * 1024, passes: 2)

        public init(memoryKiB: UInt32, passes: UInt32) throws(SecretsError) {
            guard Self.memoryRange.contains(memoryKiB), Self.passesRange.contains(passes)
            else { throw .costOutOfBounds }
            self.init(checkedMemoryKiB: memoryKiB, passes: passes)
        }

        private init(checkedMemoryKiB: UInt32, passes: UInt32) {
            memoryKiB = checkedMemoryKiB
            self.passes = passes
        }
    }

    /// 32 bytes; `.outOfMemory` means that nothing was derived and the try does not count.
    public static func derive(
        _ secret: borrowing SecretBytes, salt: [UInt8], cost: Cost
    ) throws(SecretsError) -> SecretBytes {
        guard salt.count == saltSize else { throw .wrongSize }
        let derived = try SecretBytes(count: keySize)
        defer { wipeStack(.derivation) }
        let failed = reading(salt.span) { salt in
            // SAFETY: the sizes are checked above; the secret's pointer goes with its count.
            unsafe crypto_pwhash_argon2id(
                derived.memory, UInt64(keySize),
                UnsafeRawPointer(secret.memory).assumingMemoryBound(to: CChar.self),
                UInt64(secret.count), salt, UInt64(cost.passes), Int(cost.memoryKiB) * 1024,
                crypto_pwhash_argon2id_ALG_ARGON2ID13)
        }
        // With sizes and cost in bounds, memory is all that it can lack.
        guard failed == 0 else { throw .outOfMemory }
        return derived
    }

    /// Whether the memory can be had now: asked before a try is counted.
    public static func memoryIsAvailable(for cost: Cost) -> Bool {
        // A little more than Argon2's own, for what it allocates beside its blocks.
        MemoryReservation.succeeds(count: Int(cost.memoryKiB) * 1024 + 65_536)
    }
}
