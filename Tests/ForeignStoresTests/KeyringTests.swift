import Posix
import Testing

@testable import ForeignStores

private let generic = "org.freedesktop.Secret.Generic"

@Suite("Keyrings of gnome-keyring's")
struct KeyringTests {
    @Test("a keyring with a password is read as gnome-keyring has written it")
    func sealed() throws {
        let store = try KeyringFile.open(
            try Samples.file("login.keyring"), password: secret(Samples.password))
        #expect(String(decoding: store.label, as: UTF8.self) == "Login")
        #expect(
            Shown.all(store) == [
                Shown("", ["xdg:schema": generic], []),
                Shown(
                    "Mail at example.org",
                    ["xdg:schema": "org.gnome.Evolution.Data.Source", "e-source-uid": "17"],
                    Array("gehÖlz ☃".utf8)),
                Shown(
                    "a note", ["xdg:schema": "org.gnome.keyring.Note"],
                    Array("line 1\nline 2\n".utf8)),
                Shown(
                    "bytes", ["application": "chromium", "empty": "", "xdg:schema": generic],
                    Array(0...255)),
            ])
        #expect(store.items.allSatisfy { $0.created > 1_700_000_000 && $0.modified >= $0.created })
    }

    @Test("a keyring without a password is read as gnome-keyring has written it")
    func plain() throws {
        let file = try Samples.file("open.keyring")
        #expect(KeyringFile.form(file) == .plain)
        let store = try KeyringFile.open(file, password: SecretBuffer())
        #expect(String(decoding: store.label, as: UTF8.self) == "In the open")
        #expect(
            Shown.all(store) == [
                Shown(
                    "Tab\there \\ and = there",
                    ["xdg:schema": "org.example.Plain", "path": "C:\\users", "umlaut": "ä"],
                    Array("back\\slash=;#".utf8)),
                Shown("bytes", ["kind": "bytes", "xdg:schema": generic], [0, 0xFF, 0x80]),
            ])
    }

    @Test("another password opens nothing", arguments: ["", "invented for a tesT"])
    func wrongPassword(_ other: String) throws {
        let problem = problem {
            _ = try KeyringFile.open(try Samples.file("login.keyring"), password: secret(other))
        }
        #expect(problem == .wrongPassword)
    }

    @Test("a file that is cut short is refused, wherever it is cut")
    func cutShort() throws {
        let whole = try Samples.bytes("login.keyring")
        for count in 0..<whole.count {
            let problem = problem {
                _ = try KeyringFile.open(
                    secret(Array(whole.prefix(count))), password: secret(Samples.password))
            }
            #expect(problem == (count < 16 ? .otherKind : .damaged) || problem == .otherVersion)
        }
    }

    @Test("a changed byte is a wrong password or damage, and never something else that is read")
    func changed() throws {
        let whole = try Samples.bytes("login.keyring")
        // Behind the names and times that anybody may change.
        for index in stride(from: 600, to: whole.count, by: 7) {
            var other = whole
            other[index] ^= 1
            let problem = problem {
                _ = try KeyringFile.open(secret(other), password: secret(Samples.password))
            }
            #expect(problem == .wrongPassword || problem == .damaged)
        }
    }

    @Test("a number of rounds or of items that no keyring has asks for no time and no memory")
    func bounds() throws {
        var file = try Samples.bytes("login.keyring")
        let rounds = 16 + 4 + 4 + 5 + 24
        file.replaceSubrange(rounds..<(rounds + 4), with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(
            problem { _ = try KeyringFile.open(secret(file), password: SecretBuffer()) } == .damaged
        )
        var other = try Samples.bytes("login.keyring")
        let count = rounds + 4 + 8 + 16
        other.replaceSubrange(count..<(count + 4), with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(
            problem { _ = try KeyringFile.open(secret(other), password: SecretBuffer()) }
                == .damaged)
    }
}
