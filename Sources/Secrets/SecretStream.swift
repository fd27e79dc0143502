internal import CSodium

/// XChaCha20-Poly1305 as a stream of messages. Cut, dropped or reordered messages are detected.
public enum SecretStream {
    public static let headerSize = 24
    public static let keySize = 32
    /// By how much a sealed message is longer than the message.
    public static let overhead = 17

    public enum Tag: UInt8, Sendable {
        case message = 0
        /// The last message: a stream without it was cut short.
        case final = 3
    }

    public struct Writer: ~Copyable, Sendable {
        private let state: State
        public let header: [UInt8]

        public init(key: borrowing SecretBytes) throws(SecretsError) {
            guard key.count == keySize else { throw .wrongSize }
            let state = try State()
            var header = [UInt8](repeating: 0, count: headerSize)
            var span = header.mutableSpan
            writing(&span) { header in
                // SAFETY: all three sizes are the ones that libsodium wants.
                _ = unsafe crypto_secretstream_xchacha20poly1305_init_push(
                    state.pointer, header, key.memory)
            }
            self.state = state
            self.header = header
        }

        @_lifetime(sealed: copy sealed)
        public mutating func push(
            _ message: Span<UInt8>, aad: Span<UInt8> = Span(), tag: Tag,
            into sealed: inout MutableSpan<UInt8>
        ) throws(SecretsError) {
            guard sealed.count == message.count + overhead else { throw .wrongSize }
            writing(&sealed) { out in
                reading(message, aad) { bytes, aadBytes in
                    // SAFETY: the output's size is checked; each pointer is passed with its own
                    // count.
                    _ = unsafe crypto_secretstream_xchacha20poly1305_push(
                        state.pointer, out, nil, bytes, UInt64(message.count), aadBytes,
                        UInt64(aad.count), tag.rawValue)
                }
            }
        }
    }

    public struct Reader: ~Copyable, Sendable {
        private let state: State

        public init(key: borrowing SecretBytes, header: Span<UInt8>) throws(SecretsError) {
            guard key.count == keySize, header.count == headerSize else { throw .wrongSize }
            let state = try State()
            let failed = reading(header) { header in
                // SAFETY: all three sizes are the ones that libsodium wants.
                unsafe crypto_secretstream_xchacha20poly1305_init_pull(
                    state.pointer, header, key.memory)
            }
            guard failed == 0 else { throw .notAuthentic }
            self.state = state
        }

        @_lifetime(message: copy message)
        public mutating func pull(
            _ sealed: Span<UInt8>, aad: Span<UInt8> = Span(),
            into message: inout MutableSpan<UInt8>
        ) throws(SecretsError) -> Tag {
            guard sealed.count >= overhead, message.count == sealed.count - overhead
            else { throw .wrongSize }
            var number: UInt8 = 0
            let failed = writing(&message) { out in
                reading(sealed, aad) { bytes, aadBytes in
                    // SAFETY: the output's size is checked; each pointer is passed with its own
                    // count.
                    unsafe crypto_secretstream_xchacha20poly1305_pull(
                        state.pointer, out, nil, &number, bytes, UInt64(sealed.count), aadBytes,
                        UInt64(aad.count))
                }
            }
            guard failed == 0, let tag = Tag(rawValue: number) else { throw .notAuthentic }
            return tag
        }
    }

    // The state contains the stream's key, so it lies in guarded memory.
    private struct State: ~Copyable, Sendable {
        private let memory: SecretBytes

        init() throws(SecretsError) {
            memory = try SecretBytes(
                count: MemoryLayout<crypto_secretstream_xchacha20poly1305_state>.size)
        }

        // libsodium changes the state through this pointer. Its owner is always held exclusively.
        var pointer: UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state> {
            // SAFETY: the memory is as large as the state, which has only bytes and needs no
            // alignment.
            unsafe UnsafeMutableRawPointer(memory.memory).assumingMemoryBound(
                to: crypto_secretstream_xchacha20poly1305_state.self)
        }
    }
}
