internal import CSodium

/// libsodium, started once.
enum Sodium {
    // A static constant is initialised once, whichever thread comes first; sodium_init is safe to repeat.
    private static let isReady = sodium_init() >= 0

    static func start() throws(SecretsError) {
        guard isReady else { throw .libraryUnavailable }
    }
}
