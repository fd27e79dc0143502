import Testing

@testable import Client

@Suite("which picture stands for whom")
struct PortraitsTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("what was chosen is kept, and who has chosen nothing has a letter")
    func chosen() {
        var portraits = Portraits()
        portraits.choose(.key, for: bytes("work"))
        portraits.choose(.vault, for: bytes("Ann Lee"))
        portraits.choose(.lock, for: bytes("work"))
        #expect(portraits.text == bytes("vault Ann Lee\nlock work\n"))
        let read = Portraits(portraits.text)
        #expect(read == portraits)
        #expect(read.picture(for: bytes("work")) == .lock)
        #expect(read.picture(for: bytes("Ann Lee")) == .vault)
        #expect(read.picture(for: bytes("Ann")) == .letter)
        portraits.choose(.letter, for: bytes("work"))
        portraits.keep(only: [bytes("work")])
        #expect(portraits.text == [])
    }

    @Test("what is no line of it is left out, and a name cannot make one")
    func strange() {
        let text = "key\n\nkey \nKey work\n../../etc/passwd work\nlock work\nlock\u{0}work x\n"
        let portraits = Portraits(bytes(text) + [0xFF, 0x0A])
        #expect(portraits.text == bytes("lock work\n"))
        var other = Portraits()
        other.choose(.key, for: bytes("a\nlock b"))
        #expect(other.text == [])
        #expect(
            Portraits(bytes(String(repeating: "key a\n", count: 10_000))).text == bytes("key a\n"))
    }

    @Test("it lies in the folder of settings, which is absolute or is ignored")
    func path() {
        func path(_ settings: [String: String]) -> String? {
            Portraits.path { name in settings[name].map { Array($0.utf8) } }
        }
        #expect(path(["XDG_CONFIG_HOME": "/c", "HOME": "/h"]) == "/c/appvault/pictures")
        #expect(path(["XDG_CONFIG_HOME": "c", "HOME": "/h"]) == "/h/.config/appvault/pictures")
        #expect(path(["HOME": "h"]) == nil)
        #expect(path([:]) == nil)
    }
}
