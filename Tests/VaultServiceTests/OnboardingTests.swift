import Posix
import StoreKeeping
import Testing
import Wire

@testable import VaultService

@Suite("Whose first login makes a store")
struct OnboardingTests {
    private let alice = Person(uid: 1000, name: Array("alice".utf8))
    private let shells = [Array("/bin/sh".utf8), Array("/bin/bash".utf8)]

    private func account(
        uid: UInt32 = 1000, name: String = "alice", home: String = "/home/alice",
        shell: String = "/bin/sh"
    ) -> LoginAccount {
        LoginAccount(
            name: Array(name.utf8), uid: uid, home: Array(home.utf8), shell: Array(shell.utf8))
    }

    @Test(
        "a uid is a person's from 1000 on, but for the overflow uid and nobody",
        arguments: [
            (0, false), (999, false), (1000, true), (60_000, true), (65_533, true),
            (65_534, false), (65_535, true), (UInt32.max - 1, true), (UInt32.max, false),
        ] as [(UInt32, Bool)])
    func uids(_ uid: UInt32, _ isPerson: Bool) {
        #expect((Eligibility.of(uid: uid) == .person) == isPerson)
        let person = Person(uid: uid, name: alice.name)
        let found = Eligibility.of(account(uid: uid), as: person, shells: shells)
        #expect((found == .person) == isPerson)
    }

    @Test(
        "a home is an absolute path of something",
        arguments: [
            ("/home/alice", true), ("/srv", true), ("/nonexistent/alice", true),
            ("", false), ("/", false), ("//", false), ("home", false), ("/nonexistent", false),
            ("/nonexistent/", false), ("//nonexistent", false),
        ])
    func homes(_ home: String, _ isHome: Bool) {
        let found = Eligibility.of(account(home: home), as: alice, shells: shells)
        #expect(found == (isHome ? .person : .noHome))
    }

    @Test(
        "a login shell is one that is listed and lets people in",
        arguments: [
            ("/bin/sh", true, true), ("", true, true), ("/bin/zsh", false, true),
            ("/usr/sbin/nologin", false, false), ("/bin/false", false, false),
            ("nologin", false, false),
        ])
    func shells(_ shell: String, _ listed: Bool, _ unlisted: Bool) {
        let with = Eligibility.of(account(shell: shell), as: alice, shells: shells)
        #expect(with == (listed ? .person : .noLoginShell))
        let without = Eligibility.of(account(shell: shell), as: alice, shells: nil)
        #expect(without == (unlisted ? .person : .noLoginShell))
        #expect(Eligibility.of(account(shell: shell), as: alice, shells: []) == .noLoginShell)
    }

    @Test("one plan for each person, the last one, and no more than there is room for")
    func plans() async {
        let alice = alice
        let kept = await TestLoop.run { () -> [Bool] in
            let plans = Onboarding(Options())
            @LoopActor func keep(_ person: Person) -> Handle? {
                let waiting = Onboarding.Waiting(person: person, plan: .declined)
                return (try? plans.keep(waiting)) ?? nil
            }
            @LoopActor func isThere(_ handle: Handle?) -> Bool {
                handle.flatMap { plans.take($0) } != nil
            }
            let first = keep(alice)
            let second = keep(alice)
            var others: [Handle?] = []
            for uid in 1..<UInt32(Onboarding.most) {
                others.append(keep(Person(uid: 2000 + uid, name: Array("other".utf8))))
            }
            let tooMany = keep(Person(uid: 1999, name: Array("late".utf8)))
            let again = keep(alice)
            plans.forget(Person(uid: 2001, name: Array("other".utf8)))
            return [
                isThere(first), isThere(second), isThere(again), tooMany != nil,
                isThere(others.first ?? nil), isThere(others.last ?? nil),
            ]
        }
        #expect(kept == [false, false, true, false, false, true])
    }

    @Test("nologin is none, even where /etc/shells lists it")
    func listedNologin() {
        let listed = [Array("/usr/sbin/nologin".utf8)]
        let found = Eligibility.of(account(shell: "/usr/sbin/nologin"), as: alice, shells: listed)
        #expect(found == .noLoginShell)
    }

    @Test("a uid that the directory knows under another name is another account")
    func otherName() {
        let found = Eligibility.of(account(name: "bob"), as: alice, shells: shells)
        #expect(found == .otherName)
        #expect(Eligibility.of(account(uid: 1001), as: alice, shells: shells) == .otherName)
    }

    @Test("the list of shells is read without its comments, and a missing one is none")
    func shellList() throws {
        let path = "/tmp/appvault-shells-\(ThisProcess.uid)-\(UInt32.random(in: 0...UInt32.max))"
        #expect(LoginShells.listed(in: path) == nil)
        let text = "# shells\n/bin/sh\n  /bin/bash  # usual\n\n#/bin/zsh\n"
        try TextFile.replace(at: path, with: Array(text.utf8))
        defer { try? Folder(path: "/tmp").remove(String(path.dropFirst(5))) }
        #expect(LoginShells.listed(in: path) == shells)
    }
}
