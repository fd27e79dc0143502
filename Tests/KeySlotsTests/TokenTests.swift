import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

private let boot = BootID([UInt8](repeating: 3, count: 16))!
private let later = BootID([UInt8](repeating: 4, count: 16))!

private func hash(_ number: UInt8) -> TokenHash {
    TokenHash(bytes: [UInt8](repeating: number, count: TokenHash.size))
}

private func full() -> StoreTokens {
    var tokens = StoreTokens()
    _ = tokens.claimRefund(for: hash(200))
    for number in 0..<UInt8(StoreTokens.limit) {
        tokens.remember(hash(number), .own)
        tokens.remember(hash(50 + number), .stranger)
        tokens.confirm(hash(100 + number))
    }
    return tokens
}

private func samples() -> [StoreTokens] {
    var failed = StoreTokens()
    failed.remember(hash(1), .apart)
    var given = StoreTokens()
    _ = given.claimRefund(for: hash(2))
    var spent = StoreTokens(refund: .spent)
    spent.confirm(hash(3))
    var strangers = StoreTokens()
    strangers.remember(hash(4), .stranger)
    var drifted = failed
    drifted.hasDrifted = true
    return [StoreTokens(), failed, drifted, strangers, given, spent, full()]
}

@Suite("failed tokens")
struct TokenTests {
    let store: StoreID
    let other: StoreID
    let temporary: TemporaryFolder
    let folder: TokenFolder

    init() throws {
        store = try StoreID.random()
        other = try StoreID.random()
        temporary = try TemporaryFolder()
        folder = try TokenFolder(path: temporary.path, boot: boot)
    }

    private func put(_ bytes: [UInt8], _ name: String) throws {
        try temporary.folder.remove(name)
        let file = try temporary.folder.file(name, .createNew(mode: 0o600))
        try file.write(bytes.span, at: 0)
    }

    private func load(_ boot: BootID = boot) throws -> [StoreID: StoreTokens] {
        try TokenFolder(path: temporary.path, boot: boot).load([store])
    }

    // MARK: the refund

    @Test("the refund is one token's, for the whole boot")
    func refund() {
        var tokens = StoreTokens()
        #expect(tokens.claimRefund(for: hash(1)) == .granted)
        #expect(tokens.claimRefund(for: hash(2)) == .spent)
        #expect(tokens.claimRefund(for: hash(1)) == .granted)
        tokens.forgetHashes()
        #expect(tokens.claimRefund(for: hash(1)) == .spent)
        #expect(tokens == StoreTokens(refund: .spent))
    }

    @Test("guesses push each other out, and never the token that was given back")
    func bounded() {
        var tokens = full()
        for number in 30..<UInt8(90) {
            tokens.remember(hash(number), .own)
            tokens.remember(hash(number), .stranger)
            tokens.confirm(hash(number))
        }
        #expect(tokens.failed.count == StoreTokens.limit)
        #expect(tokens.strangers.count == StoreTokens.limit)
        #expect(tokens.confirmed.count == StoreTokens.limit)
        let isKnown = tokens.recall(hash(0), .own)
        #expect(tokens.isConfirmed(hash(200)) && !isKnown)
    }

    @Test("strangers push none of the person's tokens out, and are not told of them")
    func lists() {
        var tokens = StoreTokens()
        func knows(_ number: UInt8, _ kind: TryKind) -> Bool { tokens.recall(hash(number), kind) }
        tokens.remember(hash(1), .own)
        for number in 2..<UInt8(90) { tokens.remember(hash(number), .stranger) }
        #expect(knows(1, .own) && knows(1, .apart) && !knows(1, .stranger))
        #expect(knows(89, .stranger) && !knows(2, .stranger))
        // A stranger's token that the person types as well stays known to the person.
        #expect(knows(89, .apart))
        for number in 100..<UInt8(190) { tokens.remember(hash(number), .stranger) }
        #expect(knows(89, .own) && !knows(89, .stranger))
        // Once a login with it was confirmed, the login password is not a guess, whoever types it.
        tokens.confirm(hash(200))
        #expect(knows(200, .stranger))
    }

    // MARK: the file

    @Test("what was written is what is read", arguments: samples())
    func roundTrip(_ tokens: StoreTokens) throws {
        let bytes = tokens.file(of: store, boot)
        #expect(StoreTokens.parse(bytes, of: store, boot) == .tokens(tokens))
        try folder.write(tokens, of: store)
        #expect(try load()[store] == tokens)
    }

    @Test("a file cut short or drawn out is unreadable at every length", arguments: samples())
    func lengths(_ tokens: StoreTokens) {
        let bytes = tokens.file(of: store, boot)
        for count in bytes.indices {
            let parsed = StoreTokens.parse(Array(bytes[..<count]), of: store, boot)
            #expect(parsed == .unreadable, "\(count)")
        }
        #expect(StoreTokens.parse(bytes + [0], of: store, boot) == .unreadable)
        #expect(StoreTokens.parse(bytes + hash(9).bytes, of: store, boot) == .unreadable)
    }

    @Test("each byte of the header is looked at")
    func header() {
        let bytes = full().file(of: store, boot)
        var drifted = full()
        drifted.hasDrifted = true
        // The last 16 bytes of the header are the salt, which may have any value.
        for index in 0..<48 {
            for flip in [1, 0x80] as [UInt8] {
                var changed = bytes
                changed[index] ^= flip
                let parsed = StoreTokens.parse(changed, of: store, boot)
                if index == 10, flip == 1 {
                    #expect(parsed == .tokens(drifted))
                    continue
                }
                #expect(parsed == ((16..<32).contains(index) ? .ofAnotherBoot : .unreadable))
            }
        }
    }

    @Test("another store's file is unreadable, and one of another boot means nothing")
    func bound() throws {
        try folder.write(full(), of: other)
        try temporary.folder.rename("\(other)", to: "\(store)")
        #expect(try load()[store] == StoreTokens(refund: .spent))
        try folder.write(full(), of: store)
        #expect(try load(later).isEmpty)
        #expect(!temporary.folder.exists("\(store)"))
    }

    @Test("one that cannot be read is thrown away, and the refund counts as spent")
    func unreadable() throws {
        for bytes in [[], [0], [UInt8](repeating: 0xff, count: 4096)] as [[UInt8]] {
            try put(bytes, "\(store)")
            #expect(try load()[store] == StoreTokens(refund: .spent))
            #expect(try load()[store] == StoreTokens(refund: .spent))
        }
    }

    @Test("what is left of stores that are gone goes; what is not ours stays")
    func leftovers() throws {
        try folder.write(full(), of: other)
        try put([1], "\(store).new")
        try put([1], "somebody's")
        #expect(try load().isEmpty)
        #expect(try temporary.folder.names() == ["somebody's"])
    }

    // MARK: the key

    @Test("the key is this boot's, whole, or none")
    func key() throws {
        #expect(folder.key() == nil && !folder.hasKey)
        let made = try SecretBytes.random(TokenFolder.keySize)
        try folder.write(made)
        #expect(folder.hasKey)
        let token = try SecretBytes(copying: [1, 2, 3].span)
        let known = try TokenHash(token, of: store, key: made)
        let found = try #require(folder.key())
        let again = try found.read { (key) throws(SecretsError) in
            try TokenHash(token, of: store, key: key)
        }
        #expect(again == known)
        #expect(try TokenFolder(path: temporary.path, boot: later).key() == nil)
        let file = try temporary.folder.file(TokenFolder.keyName, .read)
        var bytes = [UInt8](repeating: 0, count: try file.size())
        var span = bytes.mutableSpan
        #expect(try file.read(into: &span, at: 0) == 56)
        for wrong in [[], Array(bytes.dropLast()), bytes + [0], [0] + bytes.dropFirst()] {
            try put(wrong, TokenFolder.keyName)
            #expect(folder.key() == nil)
        }
    }

    @Test("the same token is another hash for another store and under another key")
    func hashes() throws {
        let token = try SecretBytes(copying: Array("login".utf8).span)
        let key = try SecretBytes.random(TokenFolder.keySize)
        let next = try SecretBytes.random(TokenFolder.keySize)
        let known = try TokenHash(token, of: store, key: key)
        #expect(try TokenHash(token, of: store, key: key) == known)
        #expect(try TokenHash(token, of: other, key: key) != known)
        #expect(try TokenHash(token, of: store, key: next) != known)
    }

    // MARK: forgetting

    @Test("every hash goes before a hibernation, what is spent stays", arguments: samples())
    func hibernation(_ tokens: StoreTokens) throws {
        try folder.write(try SecretBytes.random(TokenFolder.keySize))
        try folder.write(tokens, of: store)
        try put([0xff], "\(other)")
        try put([1], "\(store).new")
        try folder.forgetHashes()
        var left = tokens
        left.forgetHashes()
        #expect(!folder.hasKey)
        let known = try folder.load([store, other])
        #expect(known[other] == StoreTokens(refund: .spent))
        #expect(known[store] ?? StoreTokens() == left)
        #expect(try temporary.folder.names().allSatisfy { !$0.hasSuffix(".new") })
    }

    @Test("a folder that others may look into is not used, nor one of no known boot")
    func unusable() throws {
        #expect(throws: TokenFolder.Unusable.bootUnknown) {
            try TokenFolder(path: temporary.path, boot: .none)
        }
        #expect(throws: TokenFolder.Unusable.notPrivate) {
            try TokenFolder(path: "/tmp", boot: boot)
        }
    }
}
