internal import CSodium

/// libsodium, started once.
enum Sodium {
    // A static constant is initialised once, whichever thread comes first; sodium_init is safe to repeat.
    private static let isReady = sodium_init() >= 0

    static func start() throws(SecretsError) {
        guard isReady else { throw .libraryUnavailable }
    }
}

/// How much of the stack below its caller libsodium has used at most.
enum StackDepth: Int {
    case hashing = 2_048
    case sealing = 4_096
    case derivation = 16_384
}

/// libsodium leaves pieces of what it worked on, and of what came out, in the stack frames it had.
@inline(__always)
func wipeStack(_ depth: StackDepth) {
    sodium_stackzero(depth.rawValue)
}
