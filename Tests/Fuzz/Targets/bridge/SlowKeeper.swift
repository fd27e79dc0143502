import Wire

@testable import Posix
@testable import SecretService

/// Keeps in memory, as slowly as the fuzzer wants: what is asked for while the gate is shut waits
/// there until it opens.
@LoopActor
final class SlowKeeper: Keeper {
    let inner: MemoryKeeper
    private var waiting: [First<Bool>] = []
    var isShut = false

    init() {
        var login = ItemCollection()
        login.label = Array("Login".utf8)
        inner = MemoryKeeper([login], isOpen: false)
    }

    /// So many of those that wait go on.
    func letIn(_ count: Int) {
        for each in waiting.prefix(count) { each.settle(true) }
        waiting.removeFirst(min(count, waiting.count))
    }

    func open() {
        isShut = false
        letIn(.max)
    }

    var waits: Int { waiting.count }

    private func gate() async {
        guard isShut else { return }
        let turn = First<Bool>()
        waiting.append(turn)
        _ = await turn.value()
    }

    var mirror: Mirror { inner.mirror }
    var isOpen: Bool { inner.isOpen }
    var wasOpen: Bool { inner.wasOpen }
    var exists: Bool { inner.exists }
    var isAway: Bool { inner.isAway }
    var opener: String { inner.opener }
    var comesBy: UInt64 { inner.comesBy }
    var standing: Standing { inner.standing }
    func hasBeenOpened() { inner.hasBeenOpened() }
    var told: (@LoopActor (Mirror.Changes) -> Void)? {
        get { inner.told }
        set { inner.told = newValue }
    }
    var turned: (@LoopActor () -> Void)? {
        get { inner.turned }
        set { inner.turned = newValue }
    }

    func ready(until deadline: UInt64) async -> Bool {
        await gate()
        return true
    }

    func follow() async -> Bool {
        await gate()
        return true
    }

    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item {
        await gate()
        return try await inner.put(item, secret, replace: replace, until: deadline)
    }

    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError) {
        await gate()
        try await inner.change(change, until: deadline)
    }

    func delete(_ item: SecretID, until deadline: UInt64) async throws(KeeperError) {
        await gate()
        try await inner.delete(item, until: deadline)
    }

    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret] {
        await gate()
        return try await inner.secrets(items, until: deadline)
    }

    func put(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        await gate()
        return try await inner.put(collection, until: deadline)
    }

    func relabel(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        await gate()
        return try await inner.relabel(collection, until: deadline)
    }

    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError) {
        await gate()
        try await inner.delete(collection: collection, until: deadline)
    }

    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError) {
        await gate()
        try await inner.setAlias(name, collection, until: deadline)
    }

    func lock(until deadline: UInt64) async throws(KeeperError) {
        await gate()
        try await inner.lock(until: deadline)
    }
}

/// Answers a dialog when the fuzzer says so.
@LoopActor
final class PlayedPerson: Asker {
    private var dialog: First<Asked>?
    /// What a prompt asks by itself; the agent shows one of them after the other.
    private var questions: [First<Asked>] = []

    func unlock(_ store: String) async -> Asked {
        must(dialog == nil, "two dialogs at once")
        let dialog = First<Asked>()
        self.dialog = dialog
        return await dialog.value()
    }

    func erase(_ store: String) async -> Asked { await asked() }

    /// A passcode of its own would make a store, of which this keeper knows nothing.
    func make(_ store: String, id: SecretID) async -> Made {
        switch await asked() {
        case .opened: .among
        case .refused, .unavailable: .refused
        }
    }

    private func asked() async -> Asked {
        let question = First<Asked>()
        questions.append(question)
        return await question.value()
    }

    func withdraw(_ store: String) { answer(.refused) }

    func answer(_ answer: Asked) {
        dialog?.settle(answer)
        dialog = nil
        for question in questions { question.settle(answer) }
        questions = []
    }
}
