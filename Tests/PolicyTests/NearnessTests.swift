import Testing

@testable import Policy

struct NearnessTests {
    private func meant(_ word: String, _ known: String..., by kind: Nearness) -> String? {
        kind.nearest(to: Array(word.utf8), among: known)
    }

    @Test("a slip of the finger is understood, another word is not")
    func commandLine() {
        #expect(meant("stauts", "status", "set", by: .onCommandLine) == "status")
        #expect(meant("unlok", "unlock", "lock", by: .onCommandLine) == "unlock")
        #expect(meant("purge", "reset", "set", by: .onCommandLine) == nil)
        #expect(meant("STATUS", "status", by: .onCommandLine) == nil)
        #expect(Nearness.onCommandLine.distance(Array("ab".utf8), Array("ba".utf8)) == 1)
        #expect(Nearness.onCommandLine.distance([], Array("abc".utf8)) == 3)
    }

    @Test("in a file capitals are small letters, and a swap is two slips")
    func file() {
        #expect(meant("minlength", "MinLength", "LockTimeout", by: .inFile) == "MinLength")
        #expect(meant("MinLenght", "MinLength", by: .inFile) == "MinLength")
        #expect(meant("Rulse", "Texts", by: .inFile) == nil)
        let long = String(repeating: "x", count: 65)
        #expect(meant(long, long, by: .inFile) == nil)
        #expect(Nearness.inFile.distance(Array("AB".utf8), Array("ba".utf8)) == 2)
    }
}
