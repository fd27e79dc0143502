import Testing

@testable import Client

struct WordsTests {
    @Test(
        "nothing that steers a terminal gets through",
        arguments: [
            (Array("plain \u{e9}\u{1F511}".utf8), "plain \u{e9}\u{1F511}"),
            ([0x1B, 0x5B, 0x41, 0x0A, 0x7F], "\\x1b[A\\x0a\\x7f"),
            (
                Array("a\u{202E}b\u{2066}\u{200F}".utf8),
                "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xe2\\x80\\x8f"
            ),
            (Array("\u{9B}\u{61C}".utf8), "\\xc2\\x9b\\xd8\\x9c"),
            ([0xFF, 0x61, 0xC3], "\\xffa\\xc3"),
            ([0xE2, 0x82], "\\xe2\\x82"),
        ] as [([UInt8], String)])
    func printable(bytes: [UInt8], expected: String) {
        #expect(String(decoding: Printable.escaped(bytes), as: UTF8.self) == expected)
    }

    @Test("help fits a terminal of 80 columns, for every verb")
    func help() {
        for page in [Help.overview(VerbEntry.all, .plain)]
            + VerbEntry.all.map({ Help.page($0, .plain) })
        {
            for line in String(decoding: page, as: UTF8.self).split(separator: "\n") {
                #expect(line.count <= 80, "\(line)")
            }
        }
    }

    @Test("each verb says what it does, and each option of its own is explained")
    func table() {
        for verb in VerbEntry.all {
            let page = String(decoding: Help.page(verb, .plain), as: UTF8.self)
            #expect(!verb.text.isEmpty)
            for option in verb.options { #expect(page.contains(option.entry.flag)) }
        }
    }

    @Test("a store's id is read as it is written")
    func storeID() {
        let id: [UInt8] = (0..<16).map { $0 * 17 }
        let text = StoreIDText.text(id)
        #expect(text == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(StoreIDText.parse(Array(text.utf8)) == id)
        for wrong in [
            "", "0011", text + "0", "0011-2233445566778899aabbccddeeff", "g" + text.dropFirst(),
        ] {
            #expect(StoreIDText.parse(Array(wrong.utf8)) == nil)
        }
    }

    @Test(
        "the bar fits its terminal",
        arguments: [(0, 80), (50, 80), (100, 80), (100, 40), (7, 20), (7, 5), (7, 0)])
    func bar(percent: Int, columns: Int) {
        let line = ProgressBar.line("exporting", percent, columns: columns)
        #expect(line.hasSuffix("\(percent)%"))
        if columns >= 20 { #expect(line.count < columns) }
        #expect(line.count { $0 == "#" } <= 40)
    }
}
