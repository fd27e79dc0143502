import AppVault
import Glibc

/// A service that runs without a person in front of it, and keeps the token that it talks to a server
/// with. Until the person has opened their store it works from memory; it goes on when the store
/// opens, and forgets the token when it locks.
@main
struct Service {
    static func main() async {
        do {
            try await run()
        } catch {
            say("token-service: \(error)")
            Glibc.exit(1)
        }
    }

    static func run() async throws {
        var configuration = Vault.Configuration()
        if let socket = getenv("TOKEN_SOCKET") { configuration.socket = String(cString: socket) }
        let vault = try await Vault.connect(configuration)
        let tokens = CompositeStorage()
        // A token that was got before the store is open is kept in memory first.
        try await tokens.set(Array("token-0".utf8), for: "token")
        say("in memory: \(try await text(of: tokens))")

        // It opens and locks with the person's own store.
        let store = try await vault.openStore("tokens", orCreate: .following(.default))
        var events = store.events().makeAsyncIterator()
        try await tokens.makePersistent { store }
        say("in the store: \(try await text(of: tokens))")

        // Renewed three times; each new token is on the disk before the old one is forgotten.
        for number in 1...3 {
            try await tokens.set(Array("token-\(number)".utf8), for: "token")
        }
        say("renewed: \(try await text(of: tokens))")

        // Somebody locks the store: nothing is read behind the lock, and nobody is asked.
        while let event = await events.next() {
            if event.kind == .locked { break }
        }
        await tokens.releasePersistentStore()
        do throws(VaultError) {
            _ = try await store.get("token")
        } catch {
            say("locked: \(error.code)")
        }
        say("in memory: \(try await text(of: tokens))")
    }

    static func text(of tokens: CompositeStorage) async throws -> String {
        try await tokens.get("token").map { String(decoding: $0, as: UTF8.self) } ?? "none"
    }
}

/// Shown at once, also to whoever reads it from a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
