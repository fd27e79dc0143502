import Testing
import ToolTexts

@testable import Words

private let prompt = TextID.matchPrompt
private let left = TextID.matchRetryLeft

private func key(_ id: TextID) -> String { "\(id.id)\u{4}\(id.english)" }

private let good = MoFile([("", "Content-Type: x"), (key(prompt), "Code: "), (key(left), "{1}!")])

@Suite("a compiled catalogue")
struct CatalogueTests {
    @Test("is read in either byte order", arguments: [false, true])
    func orders(_ bigEndian: Bool) throws {
        let file = MoFile([(key(prompt), "Code: "), (key(left), "noch {1}")], bigEndian: bigEndian)
        let catalogue = try Catalogue(decoding: file.bytes)
        #expect(catalogue.entries == ["match.prompt": "Code: ", "match.retry.left": "noch {1}"])
    }

    @Test(
        "leaves out an entry that cannot take the built-in text's place",
        arguments: [
            (key(left), "no position"), (key(left), "{1} and {2}"), (key(left), "{2}"),
            (key(left), ""), (key(left), "{1}\0{1}"), ("\(left.id)\u{4}old words", "{1}"),
            (left.english, "{1}"), ("no.such.id\u{4}x", "y"), (key(prompt), "{1}"),
        ])
    func leftOut(_ key: String, _ text: String) throws {
        #expect(try Catalogue(decoding: MoFile([(key, text)]).bytes) == Catalogue())
    }

    @Test(
        "is refused whole where it is not laid out as one",
        arguments: [
            ([], .notACatalogue), ([0xDE, 0x12, 0x04], .notACatalogue),
            (Array("not a catalogue at all".utf8), .notACatalogue),
            (good.with(0x0001_0000, at: 4), .otherRevision),
            (good.with(4097, at: 8), .tooLarge), (good.with(.max, at: 8), .tooLarge),
            (good.with(4, at: 8), .outside), (good.with(.max, at: 12), .outside),
            (good.with(.max, at: 16), .outside), (good.with(.max, at: 28), .outside),
            (good.with(.max, at: 32), .outside), (good.with(.max - 3, at: 56), .outside),
            (good.with(1 << 31, at: 60), .outside), (Array(good.bytes.prefix(20)), .outside),
            (Array(good.bytes.prefix(60)), .outside), (Array(good.bytes.dropLast(4)), .outside),
            (good.bytes.dropLast(6) + [0xFF, 0xFE, 0, 0, 0, 0], .notUTF8),
        ] as [([UInt8], Catalogue.Problem)])
    func refused(_ file: [UInt8], _ problem: Catalogue.Problem) {
        #expect(throws: problem) { () throws(Catalogue.Problem) in try Catalogue(decoding: file) }
    }

    @Test("is refused where it is larger than any of ours")
    func large() {
        let file = [UInt8](repeating: 0, count: Catalogue.limit + 1)
        #expect(throws: Catalogue.Problem.tooLarge) { () throws(Catalogue.Problem) in
            try Catalogue(decoding: file)
        }
    }

    @Test("cut anywhere, or with any byte changed, is read or refused, and never more than that")
    func broken() {
        for length in 0..<good.bytes.count {
            _ = try? Catalogue(decoding: Array(good.bytes.prefix(length)))
        }
        for place in good.bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var file = good.bytes
                file[place] = value
                guard let catalogue = try? Catalogue(decoding: file) else { continue }
                for (id, text) in catalogue.entries {
                    let english = ListedText(id: id)?.english ?? ""
                    #expect(Positions.of(text) == Positions.of(english))
                }
            }
        }
    }
}
