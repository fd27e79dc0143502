import Posix
import Testing

@testable import ForeignStores

@Suite("Entries of pass")
struct PasswordFileTests {
    @Test(
        "the secret is all of the text but the end of its last line",
        arguments: [
            ("otter\n", "otter"), ("otter", "otter"), ("", ""), ("\n\n", ""),
            ("otter\nuser: ann\n\n", "otter\nuser: ann"), (" otter \r\n", " otter "),
        ])
    func secrets(_ text: String, _ wanted: String) {
        let text = secret(text)
        #expect(Array(copy(text)[PasswordFile.secret(text)]) == Array(wanted.utf8))
    }

    @Test(
        "an entry is a file with the ending .gpg, and has a name",
        arguments: [
            ("web/example.org.gpg", "web/example.org"), ("a.gpg", "a"), (".gpg", nil),
            ("web/.gpg", nil), ("notes.txt", nil), ("gpg", nil),
        ] as [(String, String?)])
    func names(_ path: String, _ name: String?) {
        #expect(PasswordFile.name(Array(path.utf8)) == name.map { Array($0.utf8) })
    }
}
