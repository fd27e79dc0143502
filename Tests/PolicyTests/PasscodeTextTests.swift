import Testing

@testable import Policy

/// The normalised bytes, or why there are none.
func normalised(
    _ text: [UInt8], output size: Int = PasscodeText.maximum,
    scratch: Int = PasscodeText.scratchSize
) -> Result<[UInt8], Refused> {
    var output = [UInt8](repeating: 0xEE, count: size)
    var working = [UInt8](repeating: 0xEE, count: scratch)
    var outputSpan = output.mutableSpan
    var workingSpan = working.mutableSpan
    switch PasscodeText.normalise(text.span, into: &outputSpan, scratch: &workingSpan) {
    case .count(let count): return .success(Array(output[..<count]))
    case .refused(let refusal): return .failure(Refused(refusal))
    }
}

struct Refused: Error, Equatable {
    let refusal: PasscodeRefusal
    init(_ refusal: PasscodeRefusal) { self.refusal = refusal }
}

private func unhex(_ text: Substring) -> [UInt8] {
    let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

@Suite struct PasscodeTextTests {
    @Test("every vector normalises as Unicode's own data say, and a second time to itself")
    func vectors() throws {
        let text = String(decoding: try contents(of: "Tests/Vectors/policy-nfc.txt"), as: UTF8.self)
        var count = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: " ").map(unhex)
            try #require(columns.count == 2)
            #expect(normalised(columns[0]) == .success(columns[1]), "\(line)")
            #expect(normalised(columns[1]) == .success(columns[1]), "\(line)")
            count += 1
        }
        #expect(count > 5000)
    }

    @Test(
        "what cannot be a passcode is refused with its reason",
        arguments: [
            ([], .empty), ([0], .controlCharacter), (bytes("a\tb"), .controlCharacter),
            (bytes("a\n"), .controlCharacter), ([0x7F], .controlCharacter),
            ([0xC2, 0x80], .controlCharacter), ([0xC2, 0x9F], .controlCharacter),
            ([0x80], .notUTF8), ([0xC0, 0x80], .notUTF8), ([0xC1, 0xBF], .notUTF8),
            ([0xE0, 0x80, 0x80], .notUTF8), ([0xED, 0xA0, 0x80], .notUTF8),
            ([0xED, 0xBF, 0xBF], .notUTF8), ([0xF0, 0x8F, 0xBF, 0xBF], .notUTF8),
            ([0xF4, 0x90, 0x80, 0x80], .notUTF8), ([0xF5, 0x80, 0x80, 0x80], .notUTF8),
            ([0xFF], .notUTF8), ([0x61, 0xC3], .notUTF8), ([0xE2, 0x82], .notUTF8),
            ([0xF0, 0x9F, 0x98], .notUTF8), ([0xE2, 0x82, 0x61], .notUTF8),
            ([UInt8](repeating: 0x61, count: 1025), .tooLong),
        ] as [([UInt8], PasscodeRefusal)])
    func refused(text: [UInt8], why: PasscodeRefusal) {
        #expect(normalised(text) == .failure(Refused(why)))
    }

    @Test("1,024 bytes are the most, after normalising as before it")
    func longest() {
        let whole = [UInt8](repeating: 0x61, count: 1024)
        #expect(normalised(whole) == .success(whole))
        // U+0958 is three bytes and becomes six.
        let growing = [[UInt8]](repeating: [0xE0, 0xA5, 0x98], count: 171).flatMap { $0 }
        #expect(normalised(growing) == .failure(Refused(.tooLong)))
        #expect(normalised(growing, output: 2048) == .failure(Refused(.tooLong)))
        let fitting = [[UInt8]](repeating: [0xE0, 0xA5, 0x98], count: 170).flatMap { $0 }
        #expect(normalised(fitting).map(\.count) == .success(1020))
    }

    @Test("the working memory holds what grows most, and what it cannot hold is too long")
    func scratch() {
        // U+0390: two bytes, three scalars.
        let growing = [[UInt8]](repeating: [0xCE, 0x90], count: 512).flatMap { $0 }
        #expect(normalised(growing) == .success(growing))
        #expect(
            normalised(growing, scratch: PasscodeText.scratchSize - 1)
                == .failure(Refused(.tooLong)))
        #expect(normalised(growing, output: 1023) == .failure(Refused(.tooLong)))
        #expect(normalised([0x61], scratch: 0) == .failure(Refused(.tooLong)))
        #expect(normalised([0x61], output: 0) == .failure(Refused(.tooLong)))
    }

    @Test("both ways of typing a word give one passcode, and other words another")
    func equivalence() {
        #expect(normalised(bytes("cafe\u{301}")) == normalised(bytes("caf\u{E9}")))
        #expect(normalised(bytes("a\u{A0}b\u{3000}c")) == .success(bytes("a b c")))
        #expect(normalised(bytes("  a  ")) == .success(bytes("  a  ")))
        #expect(normalised(bytes("\u{FB01}")) == .success(bytes("\u{FB01}")))
        #expect(normalised(bytes("A")) == .success(bytes("A")))
    }

    @Test(
        "characters are counted as a person counts them",
        arguments: [
            ("", 0), ("abc", 3), ("e\u{301}", 1),
            ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 1),
            ("\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}", 2), ("\u{AC01}\u{AC02}", 2),
            ("\u{1112}\u{1161}\u{11AB}", 1), ("\u{1F44D}\u{1F3FD}!", 2), ("a\u{308}\u{304}b", 2),
            ("\u{915}\u{94D}\u{937}\u{93F}", 1), ("z\u{FE0F}", 1), ("\u{301}", 1),
        ])
    func characters(text: String, count: Int) {
        #expect(PasscodeText.characters(bytes(text).span) == count)
        #expect(text.count == count)
    }

    @Test("what is not UTF-8 is counted without a trap")
    func strayBytes() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                #expect(PasscodeText.characters([first, second].span) <= 2)
                _ = normalised([first, second, 0x80])
            }
        }
    }
}
