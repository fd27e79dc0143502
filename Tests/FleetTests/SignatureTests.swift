import Fleet
import Secrets
import Testing

/// Of the message "hello\n", as these tools wrote them.
private let written: [(key: String, signature: String)] = [
    (
        "RWRk3eEXLNtXo0CF/E32V5PoDeHSQgcGmIbFoO21bzuf/KmMHUAcDN7l",
        """
        untrusted comment: signature from minisign secret key
        RURk3eEXLNtXoxSe1yZfW7bF/pbTJ5svnOwK2D6601I/XFR1qqK9/AZiIOeZ8t0Uf4XNmbGjyTQ82TJumJ\
        kF/ROkYp4azr9OHAU=
        trusted comment: timestamp:1795663983\tfile:m\thashed
        QY8VUzSqPN2Hr0LETUjFtpDAKbeFbYDv4GJmYnV65sWhZz6VhGtFY/Y3ik4Ci9cz3Q/tegQTddmHwdi1t8tqCA==

        """
    ),
    (
        "RWRk3eEXLNtXo0CF/E32V5PoDeHSQgcGmIbFoO21bzuf/KmMHUAcDN7l",
        """
        untrusted comment: signature from minisign secret key
        RWRk3eEXLNtXo/rShO/5gZsONbNYIXmvFhe9IArXoovtUUQkagd+kSWp8ActXZAdH/iA5akPwdSEW0pDXc\
        v0ubNxpteQG3BduAU=
        trusted comment: timestamp:1795663983\tfile:m
        +aczeykD1Q9YZo4x5U1/63l7rX3B4CPOjLqlZmwOcq2mO1Hc/xzGT/2s33BJhiAtDDRjMUyRejGwQo50RNmfBQ==

        """
    ),
    (
        "RWT4910t4QzFdKjW30fziJYdeaLqlJR0qiuWAMx56ewNu303PAd++X33",
        """
        untrusted comment: verify with b.pub
        RWT4910t4QzFdG951BhQN1so1Xml2M4zYCSb7Jcjyn/vvrT4J4uIRMoeITRdC2vBHvEIlFWSnAx0xxeI1d\
        b4feUu/OG7LMXbYAU=

        """
    ),
    (
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkeHu+lxjDbcOrGvne3hZH871UiqMc+3wV7a2slvB7o anna",
        """
        -----BEGIN SSH SIGNATURE-----
        U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgaR4e76XGMNtw6sa+d7eFkfzvVS
        Koxz7fBXtrayW8HugAAAAOYXBwdmF1bHQtZmxlZXQAAAAAAAAABnNoYTUxMgAAAFMAAAAL
        c3NoLWVkMjU1MTkAAABAgK9VKfjxeSkEaTFxG1M0MuHUYRkm+I/GFR3sJ/E58+bdXuLleR
        6Bn6DaANL5S7AoH4Ry0p0iGMlrH1ItajUzCg==
        -----END SSH SIGNATURE-----

        """
    ),
]

private let message = bytes("hello\n")

@Suite struct SignatureTests {
    @Test("what minisign (in both its modes), signify and ssh-keygen signed is found to be theirs")
    func tools() throws {
        for (number, (key, text)) in written.enumerated() {
            let key = try #require(PublicKey(bytes(key)))
            let signature = try #require(Signature(bytes(text)))
            #expect(try signature.verifies(message, by: key), "\(number)")
            #expect(try !signature.verifies(bytes("hello"), by: key), "\(number)")
            let other = Signer("other", number == 3 ? .ssh : .minisign).publicKey
            #expect(try !signature.verifies(message, by: other), "\(number)")
            #expect(PublicKey(bytes(key.text)) == key)
        }
    }

    @Test(
        "of a key of each kind; a changed bit anywhere in it makes it nobody's",
        arguments: Signer.Tool.allCases)
    func bits(tool: Signer.Tool) throws {
        let signer = Signer("anna", tool)
        let text = try signer.sign(message)
        let signature = try #require(Signature(text))
        #expect(try signature.verifies(message, by: signer.publicKey))
        let lines = text.split(separator: 0x0A).map(Array.init)
        let blob = try #require(Base64.decode(lines[1]))
        for place in blob.indices {
            var changed = blob
            changed[place] ^= 1
            var all = lines
            all[1] = bytes(Base64.encode(changed))
            let read = Signature(Array(all.joined(separator: [0x0A])) + [0x0A])
            // What a security key counts, and the touch that it saw, is signed, too.
            #expect(try read?.verifies(message, by: signer.publicKey) != true, "byte \(place)")
        }
    }

    @Test("signed for something else, or by a security key that nobody touched, it is none")
    func purpose() throws {
        for tool in [Signer.Tool.ssh, .securityKey] {
            let signer = Signer("anna", tool)
            let other = try #require(Signature(try signer.sign(message, namespace: "file")))
            #expect(try !other.verifies(message, by: signer.publicKey))
        }
        let signer = Signer("anna", .securityKey)
        let untouched = try #require(Signature(try signer.sign(message, flags: 0)))
        #expect(try !untouched.verifies(message, by: signer.publicKey))
    }

    @Test(
        "what is no key and no signature is none",
        arguments: [
            "", "RW", "untrusted comment: x", "untrusted comment: x\n",
            "untrusted comment: x\nRWRk\n",
            "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==",
            "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----",
            "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n",
            "<html>", "RWRk3eEXLNtXo0CF/E32V5PoDeHSQgcGmIbFoO21bzuf/KmMHUAcDN7l=",
        ])
    func nothing(text: String) {
        #expect(PublicKey(bytes(text)) == nil)
        #expect(Signature(bytes(text)) == nil)
    }
}
