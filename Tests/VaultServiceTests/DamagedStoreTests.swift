import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let right = "correct horse battery"
private let alice = Person(uid: 4711, name: Array("alice".utf8))
private let bob = Person(uid: 4712, name: Array("bob".utf8))

/// The stores of a state folder, without a daemon around them. Each look at them is another start.
@LoopActor
private struct Stores {
    let path: String

    init(path: String) { self.path = path }

    func vault() async -> Vault {
        let vault = Vault(stateFolder: path)
        _ = await vault.open { _, _, _ in }
        return vault
    }

    /// Alice's first store.
    func make(_ policy: Policy = patient) async throws {
        let typed = try TypedPasscode(try secret(right))
        let made = try await vault().create(
            for: alice, Vault.Label([]), .with(.own(typed, digest: policy.ruleDigest)), .ofTests,
            policy)
        await made.host.lock()
    }

    func file() throws -> String {
        let names = try TextFile.names(in: path + "/stores")
        return "\(path)/stores/\(try #require(names.first))/slots"
    }

    func change(_ body: (inout [UInt8]) -> Void) throws {
        try Self.change(try file(), body)
    }

    static func change(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = try TextFile.read(at: path, limit: 100_000)
        body(&bytes)
        try TextFile.replace(at: path, with: bytes)
    }

    func forgetOwners() throws {
        for name in try TextFile.names(in: path + "/owners") {
            try Folder(path: path + "/owners").remove(name)
        }
    }

    /// What one try comes to, at a start of its own.
    func attempt(_ text: String, _ policy: Policy, wrong: () -> Void = {}) async -> Answer {
        guard let host = await vault().ownStore(of: alice, named: []) else { return .none }
        do throws(Refusal) {
            guard let secret = try? secret(text) else { return .none }
            _ = try await host.attempt(.own, try TypedPasscode(secret), policy, wrong: wrong)
            return .opened(host.takeMended() != nil)
        } catch {
            return .refused(error)
        }
    }

    enum Answer: Equatable {
        case none
        case opened(Bool)
        case refused(Refusal)
    }
}

private var patient: Policy {
    var policy = Policy.builtIn
    policy.throttleAfter = 0
    return policy
}

private func secret(_ text: String) throws -> SecretBytes {
    try SecretBytes(copying: Array(text.utf8).span)
}

private func onStores<R: Sendable>(
    _ body: @escaping @LoopActor @Sendable (Stores) async throws -> R
) async throws -> R {
    let result = await TestLoop.run { () -> Result<R, any Error> in
        do {
            let path = "/tmp/appvault-stores-\(try StoreID.random())"
            try Folder(path: "/tmp").makeFolder(String(path.dropFirst(5)))
            defer { removeAll(path) }
            return .success(try await body(Stores(path: path)))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

private func removeAll(_ path: String) {
    guard let folder = try? Folder(path: path),
        let names = try? TextFile.names(in: path, dotted: true)
    else { return }
    for name in names {
        if (try? Folder(path: "\(path)/\(name)")) != nil {
            removeAll("\(path)/\(name)")
        } else {
            try? folder.remove(name)
        }
    }
    let parts = path.split(separator: "/")
    let parent = "/" + parts.dropLast().joined(separator: "/")
    try? Folder(path: parent).removeFolder(String(parts.last ?? ""))
}

/// What makes a slots file unreadable as a whole.
private enum Loss: CaseIterable, Sendable {
    case turned, zeroed, empty, missing, halved

    @LoopActor
    func `do`(_ stores: Stores) throws {
        switch self {
        case .turned: try stores.change { $0 = $0.map { $0 ^ 0x5A } }
        case .zeroed: try stores.change { $0 = [UInt8](repeating: 0, count: $0.count) }
        case .empty: try stores.change { $0 = [] }
        case .halved: try stores.change { $0 = Array($0.prefix(300)) }
        case .missing:
            let file = try stores.file()
            try Folder(path: String(file.dropLast(6))).remove("slots")
        }
    }
}

@Suite("stores whose files are damaged")
struct DamagedStoreTests {
    @Test(
        "whose it was is told by the owner file, and nobody else is held up",
        arguments: Loss.allCases)
    private func owner(loss: Loss) async throws {
        try await onStores { stores in
            try await stores.make()
            try loss.do(stores)
            let vault = await stores.vault()
            let host = try #require(vault.ownStore(of: alice, named: []))
            guard case .damaged = host.health else {
                Issue.record("\(host.health)")
                return
            }
            #expect(
                host.id.description
                    == (try stores.file()).split(separator: "/").dropLast().last.map(String.init))
            #expect(vault.stores(of: bob.uid).isEmpty)
            #expect(vault.storesOfNobody.isEmpty)
        }
    }

    @Test("without the owner file it is nobody's, until root says whose", arguments: Loss.allCases)
    private func nobody(loss: Loss) async throws {
        try await onStores { stores in
            try await stores.make()
            try loss.do(stores)
            try stores.forgetOwners()
            let vault = await stores.vault()
            #expect(vault.ownStore(of: alice, named: []) == nil)
            let host = try #require(vault.storesOfNobody.first)
            // She made another one meanwhile: the damaged one gets a name by which to erase it.
            try await stores.make()
            let again = await stores.vault()
            let lost = try #require(again.host(host.id))
            try await again.chown(lost, to: alice)
            #expect(again.storesOfNobody.isEmpty)
            #expect(again.ownStore(of: alice, named: [])?.health == .live)
            let named = again.ownStore(of: alice, named: Array("\(host.id)".utf8))
            #expect(named?.id == host.id)
            let third = await stores.vault()
            let found = try #require(third.ownStore(of: alice, named: Array("\(host.id)".utf8)))
            try await third.remove(found)
            #expect(await stores.vault().all.map(\.health) == [.live])
        }
    }

    @Test("where uid and name are lost, root's chown alone opens it again")
    private func chown() async throws {
        try await onStores { stores in
            try await stores.make()
            try stores.change { for index in 50..<80 { $0[index] ^= 0x11 } }
            try stores.forgetOwners()
            #expect(await stores.attempt(right, patient) == .none)
            let vault = await stores.vault()
            let host = try #require(vault.all.first)
            try await vault.chown(host, to: alice)
            #expect(await stores.attempt(right, patient) == .opened(false))
        }
    }

    @Test("a store of another machine, or one that is erased, is not made live by a chown")
    private func chownOfErased() async throws {
        try await onStores { stores in
            try await stores.make()
            // An erase that was cut short, and then the block that says so is lost.
            try stores.change { bytes in
                for index in 0..<512 { bytes[2 * 4096 + index] = 0 }
                for index in 0..<512 { bytes[index] = UInt8(truncatingIfNeeded: index) }
            }
            #expect(await stores.attempt(right, patient) == .refused(.storeDamaged(.slotsBlock(0))))
            let vault = await stores.vault()
            try await vault.chown(try #require(vault.all.first), to: alice)
            #expect(await stores.attempt(right, patient) == .refused(.storeDamaged(.slotsBlock(0))))
        }
    }

    // MARK: tries

    private static func policy(_ limit: UInt32, erases: Bool) -> Policy {
        var policy = patient
        policy.retryLimit = limit
        policy.onRetryLimit = erases ? .erase : .lock
        return policy
    }

    /// What is done to the file between two tries.
    private enum Meddling: CaseIterable, Sendable {
        case oneBit, noise, zeroes, bothFiles

        @LoopActor
        func `do`(_ stores: Stores, _ round: Int) throws {
            let tries = 2 * 4096..<(2 * 4096 + 512)
            switch self {
            case .oneBit:
                try stores.change { $0[tries.lowerBound + 48 + round * 7] ^= 1 << UInt8(round % 8) }
            case .noise, .bothFiles:
                try stores.change { bytes in
                    for index in tries {
                        bytes[index] ^= UInt8(truncatingIfNeeded: 0x35 &* (index + round)) | 1
                    }
                }
            case .zeroes: try stores.change { bytes in for index in tries { bytes[index] = 0 } }
            }
            guard self == .bothFiles else { return }
            let owners = stores.path + "/owners"
            for name in try TextFile.names(in: owners) {
                try Stores.change("\(owners)/\(name)") { bytes in
                    for index in 1024..<1536 {
                        bytes[index] ^= UInt8(truncatingIfNeeded: index) | 1
                    }
                }
            }
        }
    }

    @Test(
        "nobody gets more tries than the limit by destroying the count of them",
        arguments: Meddling.allCases, [true, false])
    private func meddled(meddling: Meddling, erases: Bool) async throws {
        for limit in [1, 3] as [UInt32] {
            for honest in Set([0, Int(limit) - 1]) {
                let tries = try await onStores { stores -> (Int, StoreHost.Health?) in
                    let policy = Self.policy(limit, erases: erases)
                    try await stores.make(policy)
                    var tries = 0
                    for round in 0..<Int(limit) + 4 {
                        if round >= honest { try? meddling.do(stores, round) }
                        _ = await stores.attempt("wrong", policy) { tries += 1 }
                    }
                    return (tries, await stores.vault().all.first?.health)
                }
                #expect(tries.0 <= limit, "limit \(limit), \(honest) before: \(tries.0)")
                if meddling != .oneBit, honest < Int(limit) {
                    #expect(tries.1 == .live, "a lost count erased a store")
                }
            }
        }
    }

    @Test("the right passcode opens a store whose tries are lost, once, and clears them")
    private func lostTries() async throws {
        for limit in [0, 1, 5] as [UInt32] {
            try await onStores { stores in
                let policy = Self.policy(limit, erases: true)
                try await stores.make(policy)
                for round in 0..<3 {
                    try Meddling.noise.do(stores, round)
                    #expect(await stores.attempt(right, policy) == .opened(true), "limit \(limit)")
                    let host = try #require(await stores.vault().all.first)
                    #expect(!host.snapshot.isDamaged)
                    #expect(host.snapshot.tally == Tally())
                    #expect(!host.lostTries.areSpent)
                }
            }
        }
    }

    @Test("lost tries wait for the longest throttle, from the start that found them")
    private func throttled() async throws {
        try await onStores { stores in
            try await stores.make()
            for limit in [0, 5] as [UInt32] {
                var policy = Self.policy(limit, erases: false)
                policy.throttleAfter = 3
                policy.throttleMax = 900
                try Meddling.noise.do(stores, Int(limit))
                let host = try #require(await stores.vault().all.first)
                let since = host.lostTries.since
                #expect(since != .never)
                for _ in 0..<2 {
                    guard
                        case .refused(.throttled(let seconds)) = await stores.attempt(right, policy)
                    else {
                        Issue.record("not throttled at \(limit)")
                        return
                    }
                    #expect(seconds > 0 && seconds <= 900)
                }
                #expect(try #require(await stores.vault().all.first).lostTries.since == since)
            }
        }
    }

    @Test("a last try that the power cut short is not to be had again by destroying the count")
    private func cutShort() async throws {
        try await onStores { stores in
            let policy = Self.policy(3, erases: true)
            try await stores.make(policy)
            let vault = await stores.vault()
            let host = try #require(vault.all.first)
            // As the last try leaves them, before its derivation.
            _ = try await host.updateTally {
                $0.own.wrong = 2
                $0.own.unresolved = 1
            }
            try OwnerFile(host.identity, OwnerFile.LostTries(areSpent: true)).write(
                of: host.id, in: try Folder(path: stores.path), try #require(vault.machine))
            _ = await stores.vault()
            try Meddling.zeroes.do(stores, 0)
            var isDerived = false
            #expect(
                await stores.attempt("wrong", policy) { isDerived = true }
                    == .refused(.retryLimitReached(.locked(.reset))))
            #expect(!isDerived)
        }
    }

    @Test("without a limit, each try on lost tries begins the wait anew")
    private func throttledAnew() async throws {
        try await onStores { stores in
            let policy = Self.policy(0, erases: false)
            try await stores.make(policy)
            var former = Moment.never
            for round in 0..<3 {
                try Meddling.noise.do(stores, round)
                var isWrong = false
                _ = await stores.attempt("wrong", policy) { isWrong = true }
                #expect(isWrong)
                try Meddling.noise.do(stores, round + 7)
                let since = try #require(await stores.vault().all.first).lostTries.since
                #expect(since.milliseconds > former.milliseconds)
                former = since
            }
        }
    }

    @Test("at the limit, with the owner's block lost, a recovery key is refused as well")
    private func erasingByTries() async throws {
        try await onStores { stores in
            let policy = Self.policy(2, erases: true)
            try await stores.make(policy)
            let host = try #require(await stores.vault().all.first)
            // The power goes during both of the last tries.
            _ = try await host.updateTally { $0.own.unresolved = 2 }
            #expect(
                await stores.attempt(right, policy) == .refused(.retryLimitReached(.locked(.reset)))
            )
            try stores.change { for index in 0..<512 { $0[index] ^= 0xA5 } }
            let damaged = try #require(await stores.vault().ownStore(of: alice, named: []))
            #expect(throws: Refusal.storeDamaged(.slotsBlock(0))) {
                try damaged.mayTry(.recovery, policy)
            }
            #expect(throws: Refusal.storeDamaged(.slotsBlock(0))) {
                try damaged.mayTry(.own, policy)
            }
        }
    }

    @Test("whatever one page holds, the right passcode opens it where the passcode's slot is whole")
    private func pages() async throws {
        try await onStores { stores in
            try await stores.make()
            for block in 0..<16 where block != 3 {
                try stores.change { bytes in
                    for index in block * 4096..<(block * 4096 + 4096) {
                        bytes[index] ^= UInt8(truncatingIfNeeded: index) | 1
                    }
                }
                // Nothing depends on the note of the last commit, and nobody is told of it.
                let isTold = block != 14
                #expect(await stores.attempt(right, patient) == .opened(isTold), "block \(block)")
                #expect(await stores.attempt(right, patient) == .opened(false), "block \(block)")
            }
        }
    }
}
