import Testing

@testable import Fleet

@Suite struct AgreementsTests {
    private func consents(licence: Int = 1, optional: Int = 1) throws -> Consents {
        try Consents(
            Array(
                """
                [Licence]
                Version=\(licence)
                Title=Terms

                a
                [Consent must]
                Version=1
                Required=yes
                Title=Must

                b
                [Consent may]
                Version=\(optional)
                Required=no
                Title=May

                c
                """.utf8))
    }

    private let blank = Agreements(account: Array("alice".utf8), organisation: "example.org")

    @Test func whatWasSaidIsReadAgain() throws {
        var said = blank
        for (number, item) in try consents().items.enumerated() {
            said.say(number != 1, to: item, at: 1000 + UInt64(number))
        }
        #expect(Agreements(said.render()) == said)
        #expect(Agreements(Array(said.render().dropLast())) == nil)
        #expect(Agreements(Array("alice\nexample.org\nx 1 maybe 3\n# whole".utf8)) == nil)
    }

    @Test func aLaterVersionIsAskedAgain() throws {
        var said = blank
        #expect(said.open(try consents()).map(\.id) == ["licence", "must", "may"])
        for item in try consents().items { said.say(true, to: item, at: 1) }
        #expect(said.open(try consents()).isEmpty)
        #expect(said.open(try consents(licence: 2, optional: 3)).map(\.id) == ["licence", "may"])
    }

    @Test func onlyWhatIsRequiredIsMissed() throws {
        let items = try consents().items
        var said = blank
        said.say(false, to: items[2], at: 1)
        #expect(said.denied(try consents()) == nil)
        said.say(false, to: items[1], at: 1)
        #expect(said.denied(try consents())?.id == "must")
        said.say(true, to: items[1], at: 2)
        #expect(said.denied(try consents()) == nil)
        // What was denied in a former version is open now, and no denial.
        said.say(false, to: items[0], at: 3)
        #expect(said.denied(try consents())?.id == "licence")
        #expect(said.denied(try consents(licence: 2)) == nil)
    }

    @Test func thereIsAnEnd() throws {
        var said = blank
        for number in 1...300 {
            let text = "[Consent a\(number)]\nVersion=1\nRequired=no\nTitle=T\n\na"
            let item = try #require(try Consents(Array(text.utf8)).items.first)
            said.say(true, to: item, at: UInt64(number))
        }
        #expect(said.said.count == 128)
        #expect(said.said["a300"] != nil)
        #expect(said.render().count < Agreements.mostBytes)
    }
}
