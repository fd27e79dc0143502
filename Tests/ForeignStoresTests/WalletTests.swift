import Posix
import Testing

@testable import ForeignStores

private func qt(_ server: String, _ user: String, _ type: String) -> [String: String] {
    ["server": server, "user": user, "type": type, "xdg:schema": "org.qt.keychain"]
}

private let git = ["protocol": "https", "server": "example.org", "xdg:schema": "org.git.Password"]

@Suite("Wallets of KWallet's")
struct WalletTests {
    private func open(
        _ file: borrowing SecretBuffer, _ password: String = Samples.password, salt: [UInt8]? = nil,
        notes: WalletNotes = .none
    ) throws -> ForeignStore {
        try WalletFile.open(file, salt: salt, password: secret(password), notes: notes)
    }

    @Test("a wallet is read as kwalletd has written it, and becomes what KDE itself makes of it")
    func whole() throws {
        let notes = try #require(WalletNotes(try Samples.bytes("kdewallet_attributes.json")))
        let store = try open(
            try Samples.file("kdewallet.kwl"), salt: try Samples.bytes("kdewallet.salt"),
            notes: notes)
        #expect(store.unread.isEmpty)
        let octets = "application/octet-stream"
        let map = "{\"psk\":\"otter \\\"quoted\\\"\\n\",\"user\":\"\",\"ä\":\"ü\"}"
        let base64 = (0..<256).map { UInt8($0) }
        #expect(
            Shown.all(store) == [
                Shown(
                    "Application key for org.example.Notes",
                    ["app_id": "org.example.Notes", "xdg:schema": "org.freedesktop.portal.Secret"],
                    Array(0..<64), type: octets, place: .login),
                Shown(
                    "Chromium/Safe Storage", ["application": "chromium"], [0, 0xFF, 0x10],
                    type: octets),
                Shown(
                    "Git: https://example.org", git.merging(["user": "bob"]) { $1 },
                    Array("the second".utf8)),
                Shown(
                    "Git: https://example.org", git.merging(["user": "ann"]) { $1 },
                    Array("from libsecret".utf8)),
                Shown(
                    "Network Management/{uuid};802-11-wireless-security",
                    qt("Network Management", "{uuid};802-11-wireless-security", "map"),
                    Array(map.utf8)),
                Shown(
                    "Passwords/bytes", qt("Passwords", "bytes", "base64"),
                    Array(Self.base64(base64).utf8)),
                Shown(
                    "Passwords/mail", qt("Passwords", "mail", "plaintext"),
                    Array("wähle ☃ 🔑".utf8)),
                Shown(
                    "Passwords/web/example.org", qt("Passwords", "web/example.org", "plaintext"),
                    Array("second".utf8)),
            ])
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        let text = stride(from: 0, to: bits.count, by: 6).map { start in
            let six = (0..<6).map { start + $0 < bits.count ? Int(bits[start + $0]) : 0 }
            return digits[six.reduce(0) { $0 << 1 | $1 }]
        }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    @Test(
        "a wallet of old is read", arguments: [("ecb", 5), ("cbc", 20), ("cbc", 40), ("cbc", 60)])
    func old(_ cipher: String, _ length: Int) throws {
        let letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        let store = try open(
            try Samples.file("old-\(cipher)-\(length).kwl"), String(letters.prefix(length)))
        #expect(
            Shown.all(store) == [
                Shown(
                    "Passwords/mail", qt("Passwords", "mail", "plaintext"),
                    Array("an old secret".utf8))
            ])
    }

    @Test("another password, another salt and none open nothing")
    func shut() throws {
        let file = try Samples.file("kdewallet.kwl")
        var salt = try Samples.bytes("kdewallet.salt")
        #expect(problem { _ = try open(file, "") } == .noSalt)
        #expect(problem { _ = try open(file, "another", salt: salt) } == .wrongPassword)
        salt[7] ^= 1
        #expect(problem { _ = try open(file, salt: salt) } == .wrongPassword)
    }

    @Test("a wallet of GnuPG's, of a later version and no wallet are told apart")
    func others() throws {
        var file = try Samples.bytes("kdewallet.kwl")
        file[14] = 2
        #expect(problem { _ = try open(secret(file)) } == .sealedByGnuPG)
        file[14] = 9
        #expect(problem { _ = try open(secret(file)) } == .otherVersion)
        file[0] = 0
        #expect(problem { _ = try open(secret(file)) } == .otherKind)
    }

    @Test("a wallet that is cut short is refused, wherever it is cut")
    func cutShort() throws {
        let whole = try Samples.bytes("old-ecb-5.kwl")
        for count in 0..<whole.count {
            let problem = problem { _ = try open(secret(Array(whole.prefix(count))), "abcde") }
            #expect(problem != nil)
        }
    }

    @Test("an entry that is damaged is named, and the others are read")
    func damagedEntry() throws {
        func text(_ text: String) -> [UInt8] {
            let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            return number(units.count) + units
        }
        func number(_ number: Int) -> [UInt8] {
            (0..<4).map { (place: Int) -> UInt8 in UInt8(number >> (24 - 8 * place) & 255) }
        }
        let good = text("good") + number(1) + number(6) + text("a")
        let bad = text("bad") + number(1) + number(4) + number(99)
        let bytes = text("F") + number(2) + bad + good
        var store = ForeignStore()
        try WalletEntries.read(bytes.span, .none, into: &store)
        #expect(Shown.all(store).map(\.label) == ["F/good"])
        #expect(store.unread == [.init(label: Array("F/bad".utf8))])
    }

    @Test(
        "what is no JSON is no notes",
        arguments: ["", "{", "[]", "{\"a\":}", "{\"a\":1}x", String(repeating: "[", count: 99)])
    func noNotes(_ text: String) {
        #expect(WalletNotes(Array(text.utf8)) == nil)
    }

    @Test("escapes of JSON are read")
    func escapes() {
        let text = #"{"a\u00e4\ud83d\udd11\n/b": {"attributes": {"x": "\"\\\/"}, "n": [1, {}]}}"#
        let note = WalletNotes(Array(text.utf8))?.note(of: Array("aä🔑\n/b".utf8))
        #expect(note?.attributes == [Array("x".utf8): Array("\"\\/".utf8)])
    }
}
