internal import CSodium
internal import Posix

/// Argon2id, version 1.3, parallelism 1. It is the only slow step, and the only cost of a guess.
public enum KeyDerivation {
    public static let saltSize = 16
    public static let keySize = 32

    public struct Cost: Equatable, Hashable, Sendable {
        public let memoryKiB: UInt32
        public let passes: UInt32

        /// A cost that is read from a file may have been chosen by an attacker, so it is capped.
        /// The caps, 1 GiB and 16 passes, take about 8 s.
        public static let memoryRange: ClosedRange<UInt32> = 8...1_048_576
        public static let passesRange: ClosedRange<UInt32> = 1...16

        /// The cost of a new slot if no policy sets another.
        public static let standard = Cost(checkedMemoryKiB: 65_536, passes: 3)

        /// The lowest cost that a policy may set.
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

    /// Gives 32 bytes. `.outOfMemory` means that nothing was derived and that the try does not
    /// count.
    public static func derive(
        _ secret: borrowing SecretBytes, salt: [UInt8], cost: Cost
    ) throws(SecretsError) -> SecretBytes {
        guard salt.count == saltSize else { throw .wrongSize }
        let derived = try SecretBytes(count: keySize)
        defer { wipeStack(.derivation) }
        let failed = reading(salt.span) { salt in
            // SAFETY: the sizes are checked above; the secret is passed with its own count.
            unsafe crypto_pwhash_argon2id(
                derived.memory, UInt64(keySize),
                UnsafeRawPointer(secret.memory).assumingMemoryBound(to: CChar.self),
                UInt64(secret.count), salt, UInt64(cost.passes), Int(cost.memoryKiB) * 1024,
                crypto_pwhash_argon2id_ALG_ARGON2ID13)
        }
        // Sizes and cost are in bounds, so it can only have failed for lack of memory.
        guard failed == 0 else { throw .outOfMemory }
        return derived
    }

    /// Whether the memory is available now. The daemon asks this before it counts a try.
    public static func memoryIsAvailable(for cost: Cost) -> Bool {
        // A little more than Argon2's blocks, because it also allocates other memory.
        MemoryReservation.succeeds(count: Int(cost.memoryKiB) * 1024 + 65_536)
    }
}
