import AppVault
import AppVaultJSON

/// A page of the notebook.
struct Page: Codable, Sendable {
    var text: String
    var edits: Int
}

/// notebook write PAGE TEXT, read PAGE, list, remove PAGE
@main
struct Notebook {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as VaultError {
            print("notebook: \(error)")
            exit(error.code == .cancelled ? 130 : 1)
        } catch {
            print("usage: notebook write PAGE TEXT | read PAGE | list | remove PAGE")
            exit(2)
        }
    }

    struct UsageError: Error {}

    static func run(_ words: [String]) async throws {
        let vault = try await Vault.connect(configuration)
        // The notebook has no passcode of its own: it opens and locks with the person's own store.
        let store = try await vault.openStore("notebook", orCreate: .following(.default))
        if try await store.state().lock == .locked { try await store.unlock(with: .terminal) }
        switch (words.first, words.count) {
        case ("write", 3):
            let name = RecordName(words[1])
            var page = try await store.value(Page.self, for: name) ?? Page(text: "", edits: 0)
            page.text = words[2]
            page.edits += 1
            try await store.setValue(page, for: name)
        case ("read", 2):
            let page = try await store.value(Page.self, for: RecordName(words[1]))
            print(page.map { "\($0.text) (written \($0.edits) times)" } ?? "no such page")
        case ("list", 1):
            for name in try await store.names().map(\.description).sorted() { print(name) }
        case ("remove", 2):
            print(try await store.delete(RecordName(words[1])) ? "removed" : "no such page")
        default: throw UsageError()
        }
    }
}
