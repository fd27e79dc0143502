import Secrets
import StoreKeeping
import Testing
import Words

@Suite("a recovery key as it is typed")
struct RecoveryKeyTextTests {
    @Test("a slip is named by its group, counted from one", arguments: 1...7)
    func group(_ number: Int) throws {
        var groups = "000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV".split(separator: "-").map(
            String.init)
        groups[number - 1] = String(groups[number - 1].reversed())
        let text = Array(groups.joined(separator: "-").utf8)
        #expect(throws: Refusal.recoveryKeyInvalid(.group(number))) {
            _ = try StoreHost.recoveryKey(try SecretBytes(copying: text.span))
        }
    }
}
