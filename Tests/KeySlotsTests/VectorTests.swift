import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

/// Tests/Vectors/slots.txt and slots.bin: a store on whose opening FORMAT.md, the checker in Python
/// and this code have to agree. APPVAULT_RENEW=1 writes the .bin files anew; the rest is written by
/// hand.
@Suite struct VectorTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Vectors"

    private let values: [String: String]

    init() throws {
        let text = String(
            decoding: try TextFile.read(at: "\(Self.folder)/slots.txt", limit: 100_000),
            as: UTF8.self)
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map {
                String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            try #require(parts.count == 2)
            values[parts[0]] = parts[1]
        }
        self.values = values
    }

    private func text(_ name: String) throws -> String {
        try #require(values[name], "slots.txt has no \(name)")
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        let digits = Array(try text(name))
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
        }
    }

    private func machine() throws -> MachineKey {
        try MachineKey(try secret(try bytes("machine-key")))
    }

    private func store() throws -> StoreID {
        try #require(StoreID(text: try text("store")))
    }

    private func recoveryKey() throws -> RecoveryKey {
        try RecoveryKey(text: try secret(Array(try text("recovery-text").utf8)))
    }

    @Test("the vector is written anew on demand")
    func renew() throws {
        guard ToolIO.variable("APPVAULT_RENEW") == Array("1".utf8) else { return }
        let parent = try Folder(path: Self.folder)
        try parent.makeFolder("new")
        let folder = try parent.folder("new")
        let storeKey = try secret(try bytes("store-key"))
        var identity = Fixture.identity
        identity.uid = 4242
        identity.account = Array(try text("account").utf8)
        identity.storeName = Array(try text("store-name").utf8)
        let file = try SlotFile.create(
            in: folder, store: try store(), identity: identity, machine: try machine())
        try file.replacePasscodeWithDevice(storeKey: storeKey)
        let device = try TextFile.read(at: "\(folder.path)/slots", limit: 100_000)
        var proven: PasscodeSlot?
        for (name, setAt) in [("old-passcode", 1_700_000_000), ("passcode", 1_700_000_001)] {
            let details = try PasscodeDetails(
                cost: try KeyDerivation.Cost(memoryKiB: 1024, passes: 2), setAt: UInt64(setAt),
                way: .own)
            let derived = try derive(try text(name), details)
            if name == "old-passcode" {
                proven = try file.replacePasscode(
                    details, derived: derived, storeKey: storeKey, proven: nil)
            } else {
                try file.addPasscode(details, derived: derived, storeKey: storeKey, proven: proven)
            }
        }
        try file.replaceRecovery(try recoveryKey(), setAt: 1_700_000_002, storeKey: storeKey)
        try folder.rename("slots", to: "slots.bin")
        let both = try TextFile.read(at: "\(folder.path)/slots.bin", limit: 100_000)
        try write(both, "slots.bin", parent)
        try write(device, "slots-device.bin", parent)
        try folder.remove("slots.bin")
        try parent.removeFolder("new")
    }

    @Test("the vectors with terms are written anew on demand")
    func renewTerms() throws {
        guard ToolIO.variable("APPVAULT_RENEW") == Array("1".utf8) else { return }
        let parent = try Folder(path: Self.folder)
        let made = try TemporaryFolder()
        let storeKey = try secret(try bytes("store-key"))
        let file = try SlotFile.create(
            in: made.folder, store: try store(), identity: Fixture.identity,
            machine: try machine())
        try file.replacePasscodeWithDevice(
            storeKey: storeKey, with: Along(terms: Terms(fingerprintIsOn: true)))
        try write(
            try TextFile.read(at: "\(made.path)/slots", limit: 100_000), "slots-fingerprint.bin",
            parent)
        var former: HistoryHash?
        for (number, name) in ["older-passcode", "old-passcode", "passcode"].enumerated() {
            let details = try PasscodeDetails(
                cost: try KeyDerivation.Cost(memoryKiB: 1024, passes: 2),
                setAt: 1_700_000_000 + UInt64(number), way: .own)
            let derived = try derive(try text(name), details)
            try file.replacePasscode(
                details, derived: derived, storeKey: storeKey, proven: try file.passcodeSlots.first,
                with: Along(
                    history: HistoryChange(
                        former: former, present: try remembered(name, details), keep: 24)))
            former = try remembered(name, details)
        }
        var terms = Terms(
            fingerprintWasAllowed: false, recoveryWasOffered: true,
            seenAt: try #require(UInt64(try text("terms-seen-at"))),
            fingerFailures: try #require(UInt8(try text("terms-finger-failures"))))
        terms.begin(Terms.Pending(.change, .recovery), on: try file.passcodeSlots.first)
        try file.write(terms)
        try write(
            try TextFile.read(at: "\(made.path)/slots", limit: 100_000), "slots-terms.bin", parent)
    }

    @Test("the vector with a login password is written anew on demand")
    func renewKeyring() throws {
        guard ToolIO.variable("APPVAULT_RENEW") == Array("1".utf8) else { return }
        let made = try TemporaryFolder()
        let storeKey = try secret(try bytes("store-key"))
        let file = try SlotFile.create(
            in: made.folder, store: try store(), identity: Fixture.identity,
            machine: try machine())
        let details = try PasscodeDetails(
            cost: try KeyDerivation.Cost(memoryKiB: 1024, passes: 2), setAt: 1_700_000_000,
            way: .own)
        try file.replacePasscode(
            details, derived: try derive(try text("passcode"), details), storeKey: storeKey,
            proven: nil, with: Along(terms: Terms(fingerprintIsOn: true)))
        try file.write(
            keyringPassword: try secret(Array(try text("keyring-password").utf8)),
            storeKey: storeKey)
        try write(
            try TextFile.read(at: "\(made.path)/slots", limit: 100_000), "slots-keyring.bin",
            try Folder(path: Self.folder))
    }

    @Test("the vector of a store that follows another one is written anew on demand")
    func renewFollower() throws {
        guard ToolIO.variable("APPVAULT_RENEW") == Array("1".utf8) else { return }
        let made = try TemporaryFolder()
        var identity = Fixture.identity
        identity.storeName = Array("mail".utf8)
        identity.kind = .follows(try store())
        let file = try SlotFile.create(
            in: made.folder, store: try follower(), identity: identity, machine: try machine())
        try file.follow(
            try following(), storeKey: try secret(try bytes("follower-key")), with: Along())
        try write(
            try TextFile.read(at: "\(made.path)/slots", limit: 100_000), "slots-follower.bin",
            try Folder(path: Self.folder))
    }

    @Test("the vectors of a member are written anew on demand")
    func renewMember() throws {
        guard ToolIO.variable("APPVAULT_RENEW") == Array("1".utf8) else { return }
        let made = try TemporaryFolder()
        let storeKey = try secret(try bytes("store-key"))
        let file = try SlotFile.create(
            in: made.folder, store: try store(), identity: Fixture.identity,
            machine: try machine())
        try file.replacePasscodeWithDevice(storeKey: storeKey)
        try file.makeMemberKey(storeKey: storeKey)
        let folder = try Folder(path: Self.folder)
        try write(
            try TextFile.read(at: "\(made.path)/slots", limit: 100_000), "slots-member.bin", folder)
        var member = Member(
            .person(uid: 4242, name: Array(try text("account").utf8)), .writer,
            addedAt: 1_700_000_004, addedBy: 4243)
        let shared = try secret(try bytes("follower-key"))
        try member.seal(shared, to: try #require(file.memberKey).publicKey)
        let members = MemberFolder(
            in: made.folder, store: try follower(), machine: try machine())
        try members.write(
            try VouchedMember(member, shared, generation: 3, store: try follower()))
        try write(
            try TextFile.read(at: "\(made.path)/members/u4242.3", limit: 1000), "member.bin", folder
        )
        try MemberFolder.removeAll(in: made.folder)
    }

    @Test("the vector of a member gives the shared store's key")
    func opensMember() throws {
        let made = try TemporaryFolder()
        try made.folder.makeFolder("members")
        try write(
            try TextFile.read(at: "\(Self.folder)/member.bin", limit: 1000), "u4242.3",
            try made.folder.folder("members"))
        let found = try MemberFolder(
            in: made.folder, store: try follower(), machine: try machine()
        ).all()
        let slot = try #require(found.members.first)
        #expect(slot.generation == 3 && slot.member.role == .writer)
        let privateKey = try #require(try open("slots-member.bin").memberKey).open(
            store: try store(), storeKey: try secret(try bytes("store-key")))
        let opened = reveal(try slot.open(with: privateKey, store: try follower()))
        #expect(hex(opened) == (try text("follower-key")))
        try MemberFolder.removeAll(in: made.folder)
    }

    private func follower() throws -> StoreID {
        try #require(StoreID(text: try text("follower")))
    }

    private func following() throws -> FollowingKey {
        try FollowingKey(of: try store(), storeKey: try secret(try bytes("store-key")))
    }

    @Test("the vector of a store that follows another one opens with that one's key")
    func opensFollower() throws {
        let bytes = try TextFile.read(at: "\(Self.folder)/slots-follower.bin", limit: 100_000)
        let file = try UncheckedSlotFile(store: try follower(), disk: PowerDisk(bytes)).checked(
            with: try machine())
        #expect(hex(reveal(try file.openFollowing(try following()))) == (try text("follower-key")))
    }

    private func remembered(
        _ name: String, _ details: PasscodeDetails
    ) throws -> HistoryHash {
        HistoryHash(
            of: details,
            hash: SecretBox(
                try KeyDerivation.derive(
                    try secret(Array(try text(name).utf8)), salt: details.salt,
                    cost: PasscodeHistory.cost)))
    }

    private func write(_ bytes: [UInt8], _ name: String, _ folder: Folder) throws {
        try? folder.remove(name)
        try folder.file(name, .createNew(mode: 0o644)).write(bytes.span, at: 0)
    }

    private func derive(_ passcode: String, _ details: PasscodeDetails) throws -> SecretBytes {
        try KeyDerivation.derive(
            try secret(Array(passcode.utf8)), salt: details.salt, cost: details.cost)
    }

    private func open(_ name: String) throws -> SlotFile {
        let bytes = try TextFile.read(at: "\(Self.folder)/\(name)", limit: 100_000)
        return try UncheckedSlotFile(store: try store(), disk: PowerDisk(bytes)).checked(
            with: try machine())
    }

    @Test("the machine key has the id that the vector gives")
    func machineID() throws {
        #expect(hex(try machine().id) == (try text("machine-key-id")))
    }

    @Test("the vector's identity is read")
    func identity() throws {
        let identity = try open("slots.bin").identity
        #expect(identity.uid == 4242)
        #expect(identity.account == Array(try text("account").utf8))
        #expect(identity.storeName == Array(try text("store-name").utf8))
        #expect(identity.condition == .live)
    }

    @Test("both passcodes open the vector, each its own slot, the newer one first")
    func passcodes() throws {
        let file = try open("slots.bin")
        let slots = try file.passcodeSlots
        #expect(slots.map(\.block) == [4, 3])
        for (slot, name) in zip(slots, ["passcode", "old-passcode"]) {
            let derived = try derive(try text(name), slot.details)
            let opened = hex(reveal(try file.openPasscode(slot, derived: derived)))
            #expect(opened == (try text("store-key")))
            let wrong = try derive("wrong", slot.details)
            #expect(throws: KeyError.wrongSecret) {
                _ = try file.openPasscode(slot, derived: wrong)
            }
        }
    }

    @Test("the recovery text opens the vector")
    func recovery() throws {
        let key = try recoveryKey()
        #expect(reveal(key.bytes) == (try bytes("recovery-key")))
        #expect(hex(reveal(try open("slots.bin").openRecovery(key))) == (try text("store-key")))
    }

    @Test("the tries of the vector are read; files of earlier releases have none of strangers")
    func tries() throws {
        func tries(_ wrong: UInt32, boot: UInt8, at moment: UInt64) throws -> Tries {
            Tries(
                wrong: wrong, unresolved: wrong + 1,
                last: Moment(
                    bootID: try #require(BootID([UInt8](repeating: boot, count: 16))),
                    milliseconds: moment))
        }
        let written = Tally(
            own: try tries(1, boot: 1, at: 1001), apart: try tries(3, boot: 2, at: 1002),
            stranger: try tries(7, boot: 4, at: 1004), recovery: try tries(5, boot: 3, at: 1003))
        #expect(try open("slots-tries.bin").tally == written)
        #expect(try open("slots.bin").tally.stranger == Tries())
    }

    @Test("terms and history of the vector are read: who was there before, and what was begun")
    func terms() async throws {
        let file = try open("slots-terms.bin")
        let slot = try #require(try file.passcodeSlots.first)
        #expect(file.terms.pending(on: slot) == Terms.Pending(.change, .recovery))
        #expect(file.terms.seenAt == UInt64(try text("terms-seen-at")))
        #expect(file.terms.fingerFailures == UInt8(try text("terms-finger-failures")))
        #expect(!file.terms.fingerprintWasAllowed && file.terms.recoveryWasOffered)
        let history = try file.history(storeKey: try secret(try bytes("store-key")))
        #expect(history.has(slot))
        #expect(history.former.count == 2)
        for (name, latest, isReused) in [
            ("older-passcode", 2, true), ("older-passcode", 1, false), ("old-passcode", 1, true),
            ("passcode", 24, false), ("wrong", 24, false),
        ] {
            let candidate = Array((values[name] ?? name).utf8)
            let found = try await history.isReused(latest: latest) { salt in
                SecretBox(
                    try KeyDerivation.derive(
                        try secret(candidate), salt: salt, cost: PasscodeHistory.cost))
            }
            #expect(found == isReused, "\(name)")
        }
    }

    @Test(
        "a store that a finger alone opens goes to a passcode; stores made before stay as they are"
    )
    func migration() throws {
        func dueAt(_ name: String) throws -> Due {
            let file = try open(name)
            let slot = try file.passcodeSlots.first
            let input = DueInput(
                state: PasscodeState(hasPasscode: slot != nil, file.terms, file.identity),
                followsLogin: false,
                target: .inForce(
                    allowNoPasscode: true, allowFingerprint: true, change: .everybody),
                judgedDigest: slot?.details.policyDigest ?? [],
                presentDigest: [UInt8](repeating: 1, count: 32),
                fingerprintWasAllowed: file.terms.fingerprintWasAllowed, hardware: .none,
                compliance: .notYetKnown, isExpired: false,
                pending: file.terms.pending(on: slot)?.reason)
            return due(input)
        }
        #expect(
            try dueAt("slots-fingerprint.bin") == .steps([DueStep(.create, .migration)]))
        #expect(try dueAt("slots.bin") == .nothing(.neverJudged))
    }

    @Test("the login password of the vector is read")
    func keyring() throws {
        let file = try open("slots-keyring.bin")
        let storeKey = try secret(try bytes("store-key"))
        guard let found = try file.keyringPassword(storeKey: storeKey) else {
            Issue.record("none is kept")
            return
        }
        let password = reveal(found)
        #expect(password == Array(try text("keyring-password").utf8))
    }

    @Test("the machine key alone opens the vector without a passcode")
    func device() throws {
        #expect(hex(reveal(try open("slots-device.bin").openDevice())) == (try text("store-key")))
    }

    @Test(
        "the tokens of the vector are known, in their boot alone",
        arguments: [("tokens.bin", []), ("tokens-strangers.bin", ["stranger"])])
    func tokens(_ name: String, _ strangers: [String]) throws {
        let bytes = try TextFile.read(at: "\(Self.folder)/\(name)", limit: 4096)
        let boot = try #require(BootID(try self.bytes("tokens-boot")))
        let store = try store()
        guard case .tokens(let tokens) = StoreTokens.parse(bytes, of: store, boot) else {
            Issue.record("the vector is unreadable")
            return
        }
        let key = try secret(try self.bytes("tokens-key"))
        func hash(_ name: String) throws -> TokenHash {
            try TokenHash(try secret(Array(try text("tokens-\(name)").utf8)), of: store, key: key)
        }
        #expect(tokens.refund == .given(try hash("given")))
        #expect(tokens.failed == [try hash("failed")])
        #expect(tokens.confirmed == [try hash("moved")])
        #expect(tokens.strangers == (try strangers.map(hash)))
        #expect(StoreTokens.parse(bytes, of: store, .none) == .ofAnotherBoot)
        #expect(tokens.file(of: store, boot) == bytes)
    }
}
