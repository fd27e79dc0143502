import Secrets
import Testing

@testable import KeySlots

@Suite struct RecoveryKeyTests {
    private func parse(_ text: String) throws -> [UInt8] {
        let key = try RecoveryKey(text: try secret(Array(text.utf8)))
        return reveal(key.bytes)
    }

    private func text(_ bytes: [UInt8]) throws -> String {
        let key = try RecoveryKey(try secret(bytes))
        return String(decoding: reveal(try key.text()), as: UTF8.self)
    }

    @Test("a key survives its text", arguments: 0..<50)
    func roundTrip(round: Int) throws {
        let key = try RecoveryKey.random()
        let text = try key.text()
        #expect(text.count == RecoveryKey.textSize)
        let again = try RecoveryKey(text: text)
        #expect(reveal(again.bytes) == reveal(key.bytes))
    }

    @Test("a known key has the text that FORMAT.md gives")
    func known() throws {
        #expect(try text(Array(0..<16)) == "000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV")
        #expect(try parse("000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV") == Array(0..<16))
    }

    @Test("case, spaces, dashes and look-alikes do not matter")
    func tolerant() throws {
        let bytes = [UInt8](repeating: 0, count: 15) + [1]
        let text = try text(bytes)
        let compact = text.replacing("-", with: "")
        #expect(try parse(text.lowercased()) == bytes)
        #expect(try parse(compact) == bytes)
        #expect(try parse("  " + compact.map { "\($0) " }.joined() + "\n") == bytes)
        #expect(try parse(text.replacing("-", with: "\u{2013}\u{a0}")) == bytes)
        #expect(try parse(text.replacing("0", with: "O").replacing("1", with: "l")) == bytes)
        #expect(try parse(text.replacing("0", with: "o").replacing("1", with: "I")) == bytes)
    }

    @Test("each single character that is wrong is found in its group")
    func slips() throws {
        let text = Array(try text(Array(50..<66)).utf8)
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        for place in text.indices where text[place] != UInt8(ascii: "-") {
            for wrong in alphabet where wrong != text[place] {
                var changed = text
                changed[place] = wrong
                #expect(throws: RecoveryKey.TextError.group(place / 6 + 1)) {
                    try parse(String(decoding: changed, as: UTF8.self))
                }
            }
        }
    }

    @Test("two groups that changed places are found")
    func swapped() throws {
        let groups = try text(Array(50..<66)).split(separator: "-").map(String.init)
        for first in 0..<7 {
            for second in (first + 1)..<7 where groups[first] != groups[second] {
                var changed = groups
                changed.swapAt(first, second)
                #expect(throws: RecoveryKey.TextError.group(first + 1)) {
                    try parse(changed.joined(separator: "-"))
                }
            }
        }
    }

    @Test("groups of two keys do not make a third")
    func mixed() throws {
        let one = try text(Array(50..<66)).split(separator: "-").map(String.init)
        let other = try text(Array(80..<96)).split(separator: "-").map(String.init)
        #expect(throws: RecoveryKey.TextError.whole) {
            try parse((one[..<3] + other[3...]).joined(separator: "-"))
        }
    }

    @Test(
        "what is no key's text says why",
        arguments: [
            ("", RecoveryKey.TextError.length), ("00000", .length), ("!", .character(group: 1)),
            ("00000-0000*", .character(group: 2)), ("\u{e9}", .character(group: 1)),
            (String(repeating: "0", count: 36), .length), ("\u{e2}", .character(group: 1)),
        ])
    func refused(text: String, error: RecoveryKey.TextError) {
        #expect(throws: error) { try parse(text) }
    }
}
