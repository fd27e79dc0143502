import Testing

@testable import Client

@Suite("what AccountsService says of an account")
struct AccountNamesTests {
    @Test(
        "a text is read as busctl shows it",
        arguments: [
            (#"s "Ann Lee""#, "Ann Lee"), (#"s """#, ""), (#"s "J\303\266rg""#, "Jörg"),
            (#"s "a\"b\\c\n""#, "a\"b\\c\n"), (#"o "/org/x""#, "/org/x"),
        ])
    func text(_ line: String, _ text: String) {
        #expect(AccountNames.text(Array(line.utf8)) == text)
    }

    @Test(
        "what is none is none",
        arguments: ["", "s", "s \"", #"s "\3""#, #"s "\38a""#, #"s "\q""#, #"s "\""#])
    func noText(_ line: String) {
        #expect(AccountNames.text(Array(line.utf8)) == nil)
    }

    @Test(
        "a picture lies with AccountsService, or is the person's own",
        arguments: [
            ("/var/lib/AccountsService/icons/ann", true), ("/people/ann/.face", true),
            ("/people/ann/Pictures/me.png", true), ("/etc/shadow", false), ("", false),
            ("/var/lib/AccountsService/icons/../../../../etc/shadow", false),
            ("/var/lib/AccountsService/icons/a/b", false), ("/people/ann/../bob/.face", false),
            ("/people/ann/./x", false), ("/people/annette/.face", false), ("/people/ann//x", false),
            ("home/ann/.face", false), ("/people/ann/a\nb", false),
            ("/people/ann/" + String(repeating: "a", count: 300), false),
        ])
    func picture(_ path: String, _ isOne: Bool) {
        #expect((AccountNames.picture(path, home: "/people/ann") == path) == isOne)
        #expect(AccountNames.picture(path, home: "/") == nil || path.contains("AccountsService"))
    }
}
