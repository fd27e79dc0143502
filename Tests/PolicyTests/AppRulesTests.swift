import Testing

@testable import Policy

private func book(_ administrators: String?, standard: String? = nil) throws -> PolicyBook {
    func file(_ name: String, _ text: String?) -> PolicyFile? {
        text.map { PolicyFile(name: name, text: bytes($0)) }
    }
    return try PolicyBook(
        PolicyFiles(standard: file("d", standard), administrators: file("a", administrators)))
}

private let mail = bytes("org.gnome.Evolution")

@Suite("the rules of an application")
struct AppRulesTests {
    @Test("an application that no section names opens with its store and freezes with it")
    func usual() throws {
        let rules = try book("[App other]\nRequire=passcode\n").rules(
            ofApp: mail, for: PolicySubject())
        #expect(rules == AppRules())
        #expect(rules.require == .open)
        #expect(rules.onLock == .freeze)
        #expect(!rules.isOnLockWritten)
        #expect(rules.lockOnBackground == .never)
    }

    @Test("every key is read")
    func keys() throws {
        let rules = try book(
            """
            [App org.gnome.Evolution]
            Require=finger
            OnLock=quit
            LockOnBackground=timeout
            LockTimeout=2min
            Store=work
            """
        ).rules(ofApp: mail, for: PolicySubject())
        #expect(rules.require == .finger)
        #expect(rules.onLock == .quit)
        #expect(rules.isOnLockWritten)
        #expect(rules.lockOnBackground == .timeout)
        #expect(rules.lockTimeout == 120)
        #expect(rules.store.bytes == bytes("work"))
    }

    @Test("for everybody, then groups, then the person: key by key, the last group read wins")
    func layers() throws {
        let book = try book(
            """
            [App org.gnome.Evolution]
            Require=passcode
            OnLock=quit
            [App org.gnome.Evolution group:staff]
            Require=finger
            [App org.gnome.Evolution group:guests]
            Require=open
            [App org.gnome.Evolution user:alice]
            OnLock=stay
            """)
        #expect(book.needsGroups)
        func rules(_ user: String, _ groups: [String]) -> AppRules {
            book.rules(
                ofApp: mail,
                for: PolicySubject(user: bytes(user), groups: groups.map(bytes)))
        }
        #expect(rules("bob", []).require == .passcode)
        #expect(rules("bob", ["staff"]).require == .finger)
        #expect(rules("bob", ["guests", "staff"]).require == .open)
        #expect(rules("alice", ["staff"]).onLock == .stay)
        #expect(rules("alice", ["staff"]).require == .finger)
    }

    @Test("the administrator's lie over the packaged ones, whichever passcode policy is in force")
    func authors() throws {
        let standard = "[App org.gnome.Evolution]\nRequire=finger\nOnLock=quit\n"
        for administrators in ["", "[Passcode]\nEnabled=no\n"] {
            let rules = try book(
                administrators + "[App org.gnome.Evolution]\nRequire=passcode\n",
                standard: standard
            ).rules(ofApp: mail, for: PolicySubject())
            #expect(rules.require == .passcode)
            #expect(rules.onLock == .quit)
        }
        #expect(
            try book(nil, standard: standard).rules(ofApp: mail, for: PolicySubject()).require
                == .finger)
    }

    @Test("`policy show` lists what is set, with its place")
    func shown() throws {
        let values = try book(
            """
            [App org.gnome.Evolution]
            OnLock=quit
            Require=finger
            [App b.C user:alice]
            Store=work
            """
        ).appValues(for: PolicySubject(user: bytes("alice")))
        #expect(
            values.map { "\($0.key)=\($0.value) \($0.file):\($0.line)" } == [
                "[App b.C] Store=work a:5", "[App org.gnome.Evolution] Require=finger a:3",
                "[App org.gnome.Evolution] OnLock=quit a:2",
            ])
    }

    @Test("a section changes nothing about passcodes: nobody has to change one for it")
    func nothingDue() throws {
        let without = try book("[Passcode]\nMinLength=9\n").inForce(for: PolicySubject())
        let with = try book("[Passcode]\nMinLength=9\n[App a]\nRequire=passcode\n").inForce(
            for: PolicySubject())
        #expect(without == with)
    }

    @Test(
        "keys without an effect are warned of",
        arguments: [
            ("LockTimeout=1min\n", "LockTimeout"),
            ("LockOnBackground=timeout\n", "LockOnBackground"),
            ("OnLock=stay\nLockOnBackground=immediate\n", "LockOnBackground"),
        ])
    func doubts(text: String, key: String) {
        let file = PolicyFile(name: "f", text: bytes("[App a]\n" + text))
        #expect(PolicyLint.problems(in: [file]).map(\.key) == [key])
        #expect(PolicyLint.problems(in: [file]).allSatisfy { $0.severity == .warning })
    }

    @Test("what demands more comes later")
    func order() {
        #expect(Requirement.allCases == Requirement.allCases.sorted())
        #expect(Set(Requirement.allCases).count == 3)
    }
}
