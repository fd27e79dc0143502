import Posix
import Wire

/// Everything that keeps items beyond this process: the store `secrets`, which has a collection for
/// each label, and its drawers, stores that are one collection each.
@LoopActor
final class Cabinet {
    let main: any Keeper
    private var drawers: [SecretID: any Keeper] = [:]
    /// Hears of each drawer before anything happens to it.
    var added: (@LoopActor (any Keeper) -> Void)?
    /// Milliseconds that a call waits for drawers: what somebody else has stored there must not
    /// keep the person's own secrets from them.
    private static let patience: UInt64 = 3_000

    init(_ main: any Keeper) { self.main = main }

    func add(_ keeper: any Keeper, as id: SecretID) {
        drawers[id] = keeper
        added?(keeper)
        for each in waiting { each.settle(true) }
    }

    func remove(_ id: SecretID) {
        drawers[id] = nil
        for each in waiting { each.settle(true) }
    }

    /// Who wait for one to come or to go.
    private var waiting: [First<Bool>] = []

    /// Waits until this one is there; false if that takes too long.
    func has(_ id: SecretID, until deadline: UInt64) async -> Bool {
        await waits(until: deadline) { drawers[id] != nil }
    }

    /// Waits until this one is not there any more.
    func lacks(_ id: SecretID, until deadline: UInt64) async -> Bool {
        await waits(until: deadline) { drawers[id] == nil }
    }

    private func waits(until deadline: UInt64, for condition: () -> Bool) async -> Bool {
        while !condition() {
            let change = First<Bool>()
            waiting.append(change)
            let timer = EventLoop.shared.at(deadline) {
                EventLoop.shared.task { change.settle(false) }
            }
            let isInTime = await change.value()
            EventLoop.shared.cancel(timer)
            waiting.removeAll { $0 === change }
            guard isInTime else { return false }
        }
        return true
    }

    /// The person's own ones first: what others share does not come before what is theirs.
    var all: [any Keeper] {
        [main]
            + drawers.sorted { ($0.value.standing.rank, $0.key) < ($1.value.standing.rank, $1.key) }
            .map(\.value)
    }

    /// Who has this collection.
    func keeper(of collection: SecretID) -> (any Keeper)? {
        if main.mirror.collections[collection] != nil { return main }
        guard let drawer = drawers[collection], drawer.mirror.collections[collection] != nil else {
            return nil
        }
        return drawer
    }

    var collections: [SecretID] {
        main.mirror.collections.keys.sorted()
            + drawers.filter { $0.value.mirror.collections[$0.key] != nil }.keys.sorted()
    }

    /// Waits until it is known what there is, in all or in these collections; false if that takes
    /// too long.
    func ready(
        _ collections: Set<SecretID>? = nil, until deadline: UInt64
    ) async -> Bool {
        guard await main.ready(until: deadline) else { return false }
        let isAmong = collections?.allSatisfy { main.mirror.collections[$0] != nil }
        if isAmong == true { return true }
        let end = min(deadline, Clock.bootMilliseconds() + Self.patience)
        for drawer in drawers.values { _ = await drawer.ready(until: end) }
        return true
    }
}
