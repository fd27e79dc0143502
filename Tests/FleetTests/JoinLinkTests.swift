import Secrets
import Testing

@testable import Fleet

@Suite("an invitation")
struct JoinLinkTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)
    private static let token = "Zm9vYmFyYmF6cXV4-_"
    private static let whole =
        "appvault:join?v=1&h=fleet.example.org&k=SHA256:\(digits)&t=\(token)"

    private func fault(_ text: String) -> JoinLink.Fault? { fault(Array(text.utf8)) }

    private func fault(_ text: [UInt8]) -> JoinLink.Fault? {
        do throws(JoinLink.Fault) {
            _ = try JoinLink(text)
            return nil
        } catch {
            return error
        }
    }

    private func with(_ part: String, _ other: String) -> String {
        Self.whole.split(separator: part, maxSplits: 1).joined(separator: other)
    }

    @Test("a link is read as it is written")
    func whole() throws {
        let link = try JoinLink(Array(Self.whole.utf8))
        #expect(link.text == Self.whole)
        #expect(link.host.text == "fleet.example.org")
        #expect(link.url == "https://fleet.example.org/.well-known/appvault-join/\(Self.token)")
        #expect(link.fingerprint.count == 32)
        #expect(
            link.groups
                == Array(repeating: "0123 4567 89ab cdef 0123 4567 89ab cdef", count: 2))
        let other =
            "appvault:join?t=\(Self.token)&k=SHA256%3a\(Self.digits)"
            + "&h=fleet.example.org%3A8443&v=%31"
        let read = try JoinLink(Array(other.utf8))
        #expect(read.host.text == "fleet.example.org:8443")
        #expect(try JoinLink(Array(read.text.utf8)) == read)
    }

    @Test("a link of another version says so, whatever else it has")
    func version() {
        #expect(fault("appvault:join?v=2&x=y") == .version)
        #expect(fault(with("v=1", "v=01")) == .version)
        #expect(fault(with("v=1", "v=")) == .version)
    }

    @Test("what is missing, doubled or unknown is refused")
    func parts() {
        #expect(fault("appvault:join?") == .parts)
        for part in ["v=1&", "h=fleet.example.org&", "k=SHA256:\(Self.digits)&"] {
            #expect(fault(with(part, "")) == .parts)
            #expect(fault(Self.whole + "&" + part.dropLast()) == .parts)
        }
        #expect(fault(with("&t=\(Self.token)", "")) == .parts)
        #expect(fault(Self.whole + "&u=1") == .parts)
        #expect(fault(Self.whole + "&") == .parts)
        #expect(fault(Self.whole + "&=") == .parts)
        // A name that is written otherwise is another name.
        #expect(fault(with("h=", "%68=")) == .parts)
        #expect(fault(with("h=", "H=")) == .parts)
    }

    @Test(
        "a host is a name as DNS has it",
        arguments: [
            "", ".", "a..b", "a.", ".a", "-a.org", "a-.org", "a_b.org", "Example.org", "1.2.3.4",
            "0x7f.1", "[::1]", "a.org:", "a.org:0", "a.org:080", "a.org:65536", "a.org:1:2",
            "a.org/", "a.org%2Fx", "u@a.org", "u%40a.org", "a.org%00", "a%20b.org", "a.org?x",
            "a.org#x", "ex\u{e4}mple.org", "\u{430}pple.org", "%D0%B0pple.org", "a.org\\x",
            String(repeating: "a", count: 64) + ".org",
            String(repeating: "a.", count: 126) + "org",
        ])
    func host(_ host: String) {
        #expect(fault(with("fleet.example.org", host)) == .host)
    }

    @Test("letters of other scripts come as punycode alone")
    func punycode() throws {
        let text = with("fleet.example.org", "xn--exmple-cua.org:443")
        #expect(try JoinLink(Array(text.utf8)).host.text == "xn--exmple-cua.org:443")
    }

    @Test("a fingerprint is a whole one, of the one kind")
    func fingerprint() {
        for other in [
            "", "SHA256:", Self.digits, "sha256:\(Self.digits)", "MD5:\(Self.digits)",
            "SHA256:\(Self.digits)0", "SHA256:\(Self.digits)00",
            "SHA256:\(Self.digits.dropLast(2))",
            "SHA256:\(Self.digits.uppercased())", "SHA256: \(Self.digits)",
        ] {
            #expect(fault(with("SHA256:\(Self.digits)", other)) == .fingerprint)
        }
    }

    @Test("a token says nothing but itself")
    func token() {
        for other in [
            "", "short", String(repeating: "a", count: 129), "../../../../etc/passwd",
            "aaaaaaaaaaaaaaaa%2Fb", "aaaaaaaaaaaaaaaa%0d%0a", "aaaaaaaaaaaaaaaa.",
            "aaaaaaaaaaaaaaaa\u{e4}", "aaaaaaaaaaaaaaaa=",
        ] {
            #expect(fault(with(Self.token, other)) == .token, "\(other)")
        }
    }

    @Test("what is no link is none, and a % that begins no byte is a fault")
    func none() {
        for other in [
            "", "appvault:", "appvault:join", "APPVAULT:join?v=1", " " + Self.whole,
            "appvault://join?v=1", "https://example.org", with("v=1", "v=%"), with("v=1", "v=%3"),
            with("v=1", "v=%zz"), Self.whole + String(repeating: "a", count: 1024),
        ] {
            #expect(fault(other) == JoinLink.Fault.noLink, "\(other)")
        }
        #expect(fault(Array("appvault:join?v=1&h=\u{0}".utf8) + [0xFF, 0xFE]) == .host)
    }

    @Test("the file that it names is that one, to the last byte")
    func names() throws {
        let file = Array("abc".utf8)
        var link = try JoinLink(Array(Self.whole.utf8))
        #expect(try !link.names(file))
        // As sha256sum prints it.
        link.fingerprint = try #require(
            Hex.bytes(
                Array("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".utf8)))
        #expect(try link.names(file))
        #expect(try !link.names(file + [0x0A]))
    }

    @Test("typed: a link, or what stands behind the last @")
    func typed() throws {
        let link = try JoinLink(Array(Self.whole.utf8))
        #expect(try Invitation(Array(" \t\(Self.whole)\r\n".utf8)) == .link(link))
        for (text, domain) in [
            ("alice@example.org", "example.org"), ("a@b@Example.ORG", "example.org"),
            ("\"a@b\"@xn--exmple-cua.org\n", "xn--exmple-cua.org"), ("a@localhost", "localhost"),
        ] {
            #expect(
                try Invitation(Array(text.utf8))
                    == .email(domain: #require(JoinHost(Array(domain.utf8)))))
        }
        for text in [
            "", "@example.org", "alice@", "alice", "a@b@", "alice@example.org:443", "a@1.2.3.4",
            "a@ex\u{e4}mple.org", "a b@example.org", "a@example.org/x", "a@example.org?x",
            String(repeating: "a", count: 250) + "@b.org",
        ] {
            #expect(throws: Invitation.Fault.neither) { try Invitation(Array(text.utf8)) }
        }
        #expect(throws: Invitation.Fault.link(.version)) {
            try Invitation(Array("appvault:join?v=9".utf8))
        }
    }

    @Test("a domain's file has one link, and lines for people")
    func file() throws {
        let link = try JoinLink(Array(Self.whole.utf8))
        for file in [Self.whole, "# Example's\r\n\r\n\(Self.whole)\r\n", "\(Self.whole)\n# x"] {
            #expect(try Invitation.link(in: Array(file.utf8)) == link)
        }
        let long = String(repeating: "#", count: Invitation.mostFile)
        for file in [
            "\(Self.whole)\n\(long)", "", "# \(Self.whole)", "\(Self.whole)\n\(Self.whole)",
            "<html>", "\n\n",
        ] {
            #expect(throws: JoinLink.Fault.noLink) { try Invitation.link(in: Array(file.utf8)) }
        }
        let domain = try #require(JoinHost(Array("example.org".utf8)))
        #expect(Invitation.url(of: domain) == "https://example.org/.well-known/appvault")
    }
}
