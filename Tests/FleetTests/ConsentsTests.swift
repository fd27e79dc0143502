import Testing

@testable import Fleet

@Suite struct ConsentsTests {
    private static let whole = """
        # nobody reads this
        [Consent diagnostics]
        Version=3
        Required=no
        LearnMore=https://example.org/more
        Title=Diagnostics

        What goes wrong
        is told.

        [Licence]
        Version=2
        Title=Terms of use

        # What this is about
        A paragraph, over
        two lines.

        Another one.
        - an item
        - a second, over
        two lines
        https://example.org/terms
        ---
        <b>The next</b> page.
        ---

        [Consent diagnostics de]
        Title=Diagnose

        Was schiefgeht, wird gesagt.
        """

    private func read(_ text: String) throws -> Consents { try Consents(Array(text.utf8)) }

    private func wrong(_ text: String) -> String? {
        do throws(PlainSections.Fault) {
            _ = try Consents(Array(text.utf8))
            return nil
        } catch {
            return "\(error.line): \(error.wrong)"
        }
    }

    @Test func everythingIsReadAsItStands() throws {
        let items = try read(Self.whole).items
        #expect(items.map(\.id) == ["licence", "diagnostics"])
        #expect(items.map(\.kind) == [.licence, .optional])
        #expect(items.map(\.version) == [2, 3])
        #expect(items.map(\.learnMore) == ["", "https://example.org/more"])
        let paper = items[0].paper(for: [])
        #expect(paper.title == "Terms of use")
        #expect(
            paper.pages == [
                [
                    .init(role: .heading, text: "What this is about"),
                    .init(role: .paragraph, text: "A paragraph, over two lines."),
                    .init(role: .paragraph, text: "Another one."),
                    .init(role: .item, text: "an item"),
                    .init(role: .item, text: "a second, over two lines"),
                    .init(role: .link, text: "https://example.org/terms"),
                ],
                [.init(role: .paragraph, text: "<b>The next</b> page.")],
            ])
    }

    @Test func aPersonReadsTheirLanguage() throws {
        let item = try read(Self.whole).items[1]
        #expect(item.languages == ["de"])
        #expect(item.paper(for: ["fr", "de"]).title == "Diagnose")
        #expect(item.paper(for: ["fr"]).title == "Diagnostics")
    }

    @Test func nothingIsAskedByNothing() throws {
        #expect(try read("# nothing yet\n\n") == .none)
    }

    @Test(arguments: [
        ("Version=1", "1: it begins with [Licence] or [Consent NAME]"),
        ("[Licence]\nTitle=T\n\na", "1: its Version is a number from 1 on"),
        ("[Licence]\nVersion=0\nTitle=T\n\na", "1: its Version is a number from 1 on"),
        ("[Licence]\nVersion=1\n\na", "1: its Title is a line of text"),
        ("[Licence]\nVersion=1\nTitle=T\n\n---", "1: it has no text"),
        ("[Licence]\nVersion=1\nTitle=T\nRequired=no\n\na", "1: Required is no key of it"),
        ("[Licence]\nVersion=1\nVersion=1", "3: Version is there a second time"),
        ("[Licence]\na", "2: an empty line stands between the keys and the text"),
        ("[Consent a]\nVersion=1\nTitle=T\n\na", "1: its Required is yes or no"),
        (
            "[Consent a]\nVersion=1\nTitle=T\nRequired=no\nLearnMore=http://a\n\na",
            "1: its LearnMore begins with https://"
        ),
        ("[Licence de]\nTitle=T\n\na", "1: it stands before its own language"),
        ("[Licence]\nVersion=1\nTitle=T\n\na\u{7}", "5: the line has a control character"),
    ])
    func whatIsWrongIsSaid(_ text: String, _ said: String) {
        #expect(wrong(text) == said)
    }

    @Test(arguments: [
        "[Licence", "[licence]", "[Consent]", "[Consent A]", "[Consent licence]",
        "[Licence de fr]", "[Licence  de]", "[Consent a de fr]",
    ])
    func otherSectionsAreNone(_ title: String) {
        #expect(wrong(title + "\n")?.hasPrefix("1: a section is [Licence]") == true)
    }

    @Test func thereIsAnEnd() {
        let head = "[Licence]\nVersion=1\nTitle=T\n\n"
        #expect(wrong(head + String(repeating: "a\n\n", count: 30_000)) != nil)
        #expect(wrong(head + String(repeating: "a", count: Consents.mostLine + 1)) != nil)
        #expect(wrong(head + String(repeating: "a\n---\n", count: Consents.mostPages + 1)) != nil)
        let page = String(repeating: "- a\n", count: Consents.mostLines / 2 - 1)
        #expect(wrong(head + page + "---\n- a\n" + page) == nil)
        #expect(wrong(head + page + "---\n- a\n- a\n" + page) != nil)
        let link = "[Consent a]\nVersion=1\nRequired=no\nTitle=T\nLearnMore=https://"
        #expect(wrong(link + String(repeating: "a", count: 792) + "\n\na") == nil)
        #expect(wrong(link + String(repeating: "a", count: 793) + "\n\na") != nil)
        let many = (0...Consents.mostItems).map {
            "[Consent a\($0)]\nVersion=1\nRequired=no\nTitle=T\n\na\n"
        }
        #expect(wrong(many.joined()) != nil)
        #expect(wrong(many.dropLast().joined()) == nil)
    }

    @Test func twiceIsOnceTooOften() {
        let licence = "[Licence]\nVersion=1\nTitle=T\n\na\n"
        #expect(wrong(licence + licence) == "6: it is there a second time")
        let german = "[Licence de]\nTitle=T\n\na\n"
        #expect(wrong(licence + german + german) == "10: it is there a second time")
    }
}
