internal import CSodium

/// Random bytes that are not secret: nonces, salts, identifiers.
public enum Random {
    public static func bytes(_ count: Int) throws(SecretsError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        try fill(&span)
        return bytes
    }

    public static func fill(_ bytes: inout MutableSpan<UInt8>) throws(SecretsError) {
        try Sodium.start()
        let count = bytes.count
        writing(&bytes) { start in
            // SAFETY: the span's own bytes.
            unsafe randombytes_buf(start, count)
        }
    }
}
