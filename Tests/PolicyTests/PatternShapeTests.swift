import Glibc
import Testing

@testable import Policy

/// What the C library says. The rules worker runs patterns with it.
private func compiles(_ pattern: String) -> Bool {
    // SAFETY: zeroes, as regcomp wants it.
    var regex = unsafe regex_t()
    // SAFETY: regcomp fills the structure, and what it filled is freed once.
    guard unsafe regcomp(&regex, pattern, REG_EXTENDED) == 0 else { return false }
    // SAFETY: as above.
    unsafe regfree(&regex)
    return true
}

@Suite struct PatternShapeTests {
    @Test(
        "a pattern that cannot be one is refused with its reason",
        arguments: [
            ("(", "a ( of the pattern is not closed"),
            ("a(b|c", "a ( of the pattern is not closed"),
            ("[", "a [ of the pattern is not closed"), ("[]", "a [ of the pattern is not closed"),
            ("[^]a", "a [ of the pattern is not closed"),
            ("[[:alpha:]", "a [ of the pattern is not closed"),
            ("[[:alpha]", "a [ of the pattern is not closed"),
            ("a\\", "the pattern ends in a backslash"),
            ("\\\\\\", "the pattern ends in a backslash"),
            ("*", "nothing stands before a '*' of the pattern"),
            ("a|+", "nothing stands before a '+' of the pattern"),
            ("(?x)", "nothing stands before a '?' of the pattern"),
        ])
    func refused(pattern: String, wrong: String) {
        #expect(PatternShape.problem(bytes(pattern)) == wrong)
        #expect(!compiles(pattern))
    }

    @Test(
        "patterns are left alone",
        arguments: [
            "a", "(a|b)*", "[]a]", "[^]a]+", "\\(", "\\[", "[(]", "a)", "[[:alpha:]-]{2,}",
            "[[.-.]]", "^(19|20)[0-9]{2}$", "\\\\", "[\\]", "(.)\\1", "\u{E9}+",
        ])
    func taken(pattern: String) {
        #expect(PatternShape.problem(bytes(pattern)) == nil)
        #expect(compiles(pattern))
    }

    @Test("none is refused that the C library would take, whatever its brackets")
    func sound() {
        var chance = Chance(seed: 7)
        let pieces = [
            "a", "(", ")", "[", "]", "^", "|", "*", "\\", ":", "[:", ":]", "alpha", "-", ".",
        ]
        var refused = 0
        for _ in 0..<20_000 {
            let pattern = (0..<chance.next() % 8).map { _ in
                pieces[Int(chance.next() % UInt64(pieces.count))]
            }.joined()
            guard !pattern.isEmpty, PatternShape.problem(bytes(pattern)) != nil else { continue }
            refused += 1
            #expect(!compiles(pattern), "\(pattern)")
        }
        #expect(refused > 1000)
    }
}
