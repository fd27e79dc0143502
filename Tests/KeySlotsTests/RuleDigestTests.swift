import KeySlots
import Policy
import Testing

@Suite struct RuleDigestTests {
    private func digest(_ text: String) throws -> [UInt8] {
        let file = PolicyFile(name: "f", text: Array(text.utf8))
        let book = try PolicyBook(PolicyFiles(administrators: file))
        return book.inForce(for: PolicySubject()).policy.ruleDigest
    }

    @Test("the digest of the rules fits a passcode slot, and changes with a rule alone")
    func digests() throws {
        let builtIn = Policy.builtIn.ruleDigest
        #expect(builtIn.count == PasscodeDetails.digestSize)
        #expect(try builtIn == digest("[Passcode]\nExpireDays=9\nMinLength=8"))
        #expect(try builtIn != digest("[Passcode]\nMinLength=9"))
        #expect(try builtIn != digest("[Rule a]\nMatch=x"))
    }

    @Test("an update of the package keeps the digest that stores have had since they were made")
    func factory() {
        let text = Policy.builtIn.ruleDigest.map { String($0, radix: 16) }.joined(separator: " ")
        #expect(
            text == "a2 75 15 4a cf a2 2a cf 28 4 eb a5 5 7c 26 21 "
                + "ee 50 64 93 42 95 f8 f c2 a1 43 cd 45 f8 a4 e1")
    }
}
