internal import CSodium

/// libsodium, started once.
enum Sodium {
    // Swift initialises a static constant once, whichever thread comes first; sodium_init may be
    // called again.
    private static let isReady = sodium_init() >= 0

    static func start() throws(SecretsError) {
        guard isReady else { throw .libraryUnavailable }
    }
}

/// How many bytes of stack libsodium uses at most below its caller.
enum StackDepth: Int {
    case hashing = 2_048
    case sealing = 4_096
    case derivation = 16_384
}

/// libsodium leaves parts of its input and output in its stack frames. This wipes them.
@inline(__always)
func wipeStack(_ depth: StackDepth) {
    sodium_stackzero(depth.rawValue)
}
