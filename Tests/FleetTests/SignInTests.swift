import Testing

@testable import Fleet

@Suite("the sign-in of a bundle")
struct SignInTests {
    private static let head = "[Sign-in]\nVersion=1\nURL=https://id.example.org/a\nTitle=Staff\n"
    private static let user = "[Field user]\nLabel=Name\nKind=name\nPrefill={account}@x-{account}\n"
    private static let word = "[Field word]\nLabel=Word\nKind=secret\n"

    private func fault(_ text: String) -> PlainSections.Fault? {
        do throws(PlainSections.Fault) {
            _ = try SignIn(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("fields, in their order, with labels in other languages")
    func fields() throws {
        let text =
            Self.head + Self.user + Self.word
            + "Required=no\n[Sign-in de]\nTitle=Dienst\n[Field word de]\nLabel=Wort\n"
        let signIn = try SignIn(Array(text.utf8))
        #expect(signIn.version == 1 && signIn.url == "https://id.example.org/a")
        #expect(signIn.title(for: ["fr", "de"]) == "Dienst")
        #expect(signIn.title(for: []) == "Staff")
        guard case .fields(let fields) = signIn.way else { throw Fault.noFields }
        #expect(fields.map(\.id) == ["user", "word"])
        #expect(fields.map(\.kind) == [.name, .secret])
        #expect(fields.map(\.isRequired) == [true, false])
        #expect(fields[0].prefill(account: "alice") == "alice@x-alice")
        #expect(fields.map { $0.label(for: ["de"]) } == ["Name", "Wort"])
    }

    private enum Fault: Error { case noFields }

    @Test("or a page")
    func page() throws {
        let signIn = try SignIn(Array((Self.head + "Page=https://id.example.org/d\n").utf8))
        #expect(signIn.way == .page("https://id.example.org/d"))
    }

    private static let wrong: [(String, Int)] = {
        var wrong = [("", 1), (head, 1), ("[Sign-in]\nVersion=0\n", 2)]
        wrong += [(head.replacing("https", with: "http") + user, 3)]
        wrong += [(head + "Page=https://x.example\n" + user, 1), (head + "Page=http://x\n", 5)]
        wrong += [(head + user + user, 9), (head + user + "Extra=1\n", 9)]
        wrong += [(head + "[Field user de]\nLabel=x\n", 5)]
        wrong += [(head + "[Field User]\nLabel=x\n", 5), (head + "[Field a b c]\nLabel=x\n", 5)]
        wrong += [(head + "[Fields]\n", 5), (head + "[Field a]\nKind=text\n", 5)]
        wrong += [(head + "[Field a]\nLabel=x\nKind=file\n", 7)]
        wrong += [(head + word + "Prefill=x\n", 5), (head + word + "Required=maybe\n", 8)]
        wrong += [(head + user + "[Sign-in de]\nTitle=a\n[Sign-in DE]\nTitle=b\n", 11)]
        wrong += [(head + user + "\u{7}", 9)]
        return wrong
    }()

    @Test("what is not as it should be is refused, with its line", arguments: wrong)
    func refused(text: String, line: Int) {
        #expect(fault(text)?.line == line, "\(text)")
    }

    @Test("as many fields as a screen has, and as long as it may be")
    func limits() {
        let field = { (number: Int) in "[Field f\(number)]\nLabel=x\nKind=text\n" }
        let most = (0..<SignIn.mostFields).map(field).joined()
        #expect(fault(Self.head + most) == nil)
        #expect(fault(Self.head + most + field(99)) != nil)
        let long = String(repeating: "# \(String(repeating: "x", count: 97))\n", count: 328)
        #expect(fault(Self.head + Self.user + long) != nil)
    }

    @Test("a consent cannot have its name, so that neither is taken for the other")
    func name() throws {
        let text = "[Consent sign-in]\nVersion=1\nRequired=no\nTitle=T\n\na\n"
        #expect((try? Consents(Array(text.utf8))) == nil)
        let blank = Agreements(account: Array("alice".utf8), organisation: "example.org")
        var said = blank
        let signIn = try SignIn(Array((Self.head + Self.user).utf8))
        #expect(said.signedIn(signIn) == nil)
        said.haveSignedIn(signIn, at: 7)
        #expect(Agreements(said.render())?.signedIn(signIn)?.at == 7)
        var next = signIn
        next.version = 2
        #expect(said.signedIn(next) == nil)
    }
}
