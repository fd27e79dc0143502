import AppVaultJSON
import Testing
import Wire

@testable import AppVault

@Suite("values of the library")
struct ValueTests {
    @Test("every code of the daemon has its name and number here")
    func codes() {
        for code in Code.allCases {
            #expect(VaultError.Code.names[Int(code.rawValue)] == "\(code)")
        }
        #expect(VaultError.Code.names.keys.filter { $0 < 1000 }.count == Code.allCases.count)
    }

    @Test("an error says what has happened and what to do, and never more than it was given")
    func errors() {
        let error = VaultError(.locked, "the store is locked", hint: "open it")
        #expect("\(error)" == "the store is locked (open it)")
        #expect("\(VaultError(.busy))" == "busy")
        #expect("\(VaultError.Code(rawValue: 4711))" == "code 4711")
        #expect(VaultError(CancellationError()).code == .cancelled)
    }

    @Test("a secret is compared, shortened by characters, and cleared")
    func secrets() {
        var secret = SecretBytes(copying: "aü")
        var count = secret.count
        #expect(count == 3)
        let same = SecretBytes(copying: "aü")
        let other = SecretBytes(copying: "aö")
        // Nothing that cannot be copied goes into an expectation.
        let (isSame, isOther) = (secret.isEqual(to: same), secret.isEqual(to: other))
        #expect(isSame && !isOther)
        secret.dropCharacter()
        count = secret.count
        #expect(count == 1)
        secret.dropCharacter()
        secret.dropCharacter()
        count = secret.count
        #expect(count == 0)
        for _ in 0..<10_000 { secret.append(7) }
        count = secret.count
        #expect(count == 10_000)
        secret.removeAll()
        count = secret.count
        #expect(count == 0)
    }

    @Test("a value that is none, and one that has no JSON, are errors with the coder's inside")
    func coders() async throws {
        let store = MemoryStore()
        try await store.set([0x7B], for: "broken")
        let broken = await #expect(throws: VaultError.self) {
            try await store.value([String: Int].self, for: "broken")
        }
        #expect(broken?.code == .decodingFailed)
        #expect(broken?.underlying != nil)
        let infinite = await #expect(throws: VaultError.self) {
            try await store.setValue(["x": Double.infinity], for: "a")
        }
        #expect(infinite?.code == .encodingFailed)
        #expect(try await store.get("a") == nil)
        #expect(try await store.value(Int.self, for: "none") == nil)
    }

    @Test(
        "ids are written with hyphens, and nothing else is one",
        arguments: [
            "", "x", "00000000-0000-0000-0000-000000000000", "00112233445566778899aabbccddee",
            "zz112233-4455-6677-8899-aabbccddeeff",
        ])
    func ids(_ text: String) {
        #expect(StoreID(text) == nil)
        #expect(StoreID("00112233445566778899AABBCCDDEEFF") != nil)
    }
}
