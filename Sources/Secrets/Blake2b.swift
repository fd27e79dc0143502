internal import CSodium

/// BLAKE2b over several parts. The caller must bind each part's length, if that matters.
public struct Blake2b: ~Copyable {
    private let state: State
    private let count: Int

    public init(purpose: Purpose, count: Int = 32) throws(SecretsError) {
        let state = try State()
        // SAFETY: there is no key, and its count is 0.
        try unsafe state.start(nil, 0, purpose, count)
        self.state = state
        self.count = count
    }

    public init(
        key: borrowing SecretBytes, purpose: Purpose, count: Int = 32
    ) throws(SecretsError) {
        guard (16...64).contains(key.count) else { throw .wrongSize }
        let state = try State()
        // SAFETY: the key is passed with its own count.
        try unsafe state.start(key.memory, key.count, purpose, count)
        self.state = state
        self.count = count
    }

    // The state holds the key's block, so it is wiped. It lies on the heap because it needs an
    // alignment of 64 bytes.
    @safe private struct State: ~Copyable {
        private let memory: UnsafeMutableRawPointer

        init() throws(SecretsError) {
            try Sodium.start()
            let size = crypto_generichash_blake2b_statebytes()
            // SAFETY: ours until deinit; `start` writes all of it before anything reads.
            unsafe memory = .allocate(byteCount: size, alignment: 64)
        }

        deinit {
            // SAFETY: allocated with this size in init, freed once.
            unsafe sodium_memzero(memory, crypto_generichash_blake2b_statebytes())
            unsafe memory.deallocate()
        }

        var pointer: OpaquePointer { unsafe OpaquePointer(memory) }

        func start(
            _ key: UnsafePointer<UInt8>?, _ keyCount: Int, _ purpose: Purpose, _ count: Int
        ) throws(SecretsError) {
            guard (16...64).contains(count) else { throw .wrongSize }
            let failed = reading(purpose.bytes.span) { purpose in
                // SAFETY: the key is passed with its own count; a purpose has 16 bytes.
                unsafe crypto_generichash_blake2b_init_salt_personal(
                    pointer, key, keyCount, count, nil, purpose)
            }
            guard failed == 0 else { throw .wrongSize }
        }
    }

    public mutating func update(_ part: Span<UInt8>) {
        reading(part) { bytes in
            // SAFETY: the part's own bytes.
            _ = unsafe crypto_generichash_blake2b_update(
                state.pointer, bytes, UInt64(part.count))
        }
    }

    public mutating func update(_ part: [UInt8]) {
        update(part.span)
    }

    public mutating func update(_ part: borrowing SecretBytes) {
        part.withBytes { bytes in update(bytes) }
    }

    public consuming func finish(into output: inout MutableSpan<UInt8>) throws(SecretsError) {
        guard output.count == count else { throw .wrongSize }
        defer { wipeStack(.hashing) }
        let failed = writing(&output) { out in
            // SAFETY: the output has as many bytes as the hash.
            unsafe crypto_generichash_blake2b_final(state.pointer, out, count)
        }
        guard failed == 0 else { throw .wrongSize }
    }

    public consuming func finish() throws(SecretsError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: count)
        var span = output.mutableSpan
        try finish(into: &span)
        return output
    }

    public consuming func finishSecret() throws(SecretsError) -> SecretBytes {
        let output = try SecretBytes(count: count)
        defer { wipeStack(.hashing) }
        // SAFETY: the block has as many bytes as the hash.
        let failed = unsafe crypto_generichash_blake2b_final(
            state.pointer, output.memory, count)
        guard failed == 0 else { throw .wrongSize }
        return output
    }
}
