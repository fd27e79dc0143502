import KeySlots
import Posix
import Words

/// What an organisation wants of the stores of its machine.
@LoopActor
package protocol StandingOrders {
    /// Of these orders; a store that is made now notes it.
    var mark: OrdersMark { get }
    /// Whose machine this is.
    var orderer: Refusal.Orderer? { get }
    /// Why this store is to be kept shut.
    func bar(_ host: StoreHost) -> Refusal.Bar?
    /// Why everything is to be kept shut that is this person's, or shared with them.
    func bar(of person: Person) -> Refusal.Bar?
    /// What is to become of this store.
    func end(of host: StoreHost) -> StoreEnd?
}

/// What an organisation makes of a store that is older than its order.
package enum StoreEnd {
    /// A tombstone is left, so that its owner learns why.
    case wiped
    /// It goes, and its owner makes a new one: they have forgotten the passcode.
    case reset
}

/// A machine that belongs to nobody.
struct NoOrders: StandingOrders {
    let mark = OrdersMark.none
    let orderer: Refusal.Orderer? = nil

    func bar(_ host: StoreHost) -> Refusal.Bar? { nil }
    func bar(of person: Person) -> Refusal.Bar? { nil }
    func end(of host: StoreHost) -> StoreEnd? { nil }
}

extension Vault {
    /// From here on the store is open to nobody whom the orders keep away. What is in memory of it
    /// goes with `lock`.
    func follow(_ orders: any StandingOrders, _ host: StoreHost) {
        host.bar = orders.bar(host)
        host.orderer = orders.orderer
        host.orders = orders.mark
    }

    /// The orders have changed. Returns the stores that they shut now.
    package func followOrders() -> [StoreHost] {
        all.filter { host in
            let was = host.bar
            follow(orders, host)
            return was == nil && host.bar != nil
        }
    }

    /// Does with a store what the orders want, once: whoever comes later finds it done.
    package func obey(_ end: StoreEnd, _ host: StoreHost) async throws(Refusal) {
        switch end {
        case .wiped where try await host.wipe(): return
        // A tombstone cannot be written into a file that cannot be read.
        case .wiped, .reset: try await remove(host)
        }
    }
}

extension StoreHost {
    /// Why it is erased.
    package var gone: Refusal {
        guard isWiped else { return .deleted }
        // It may have been another organisation that has wiped it.
        let mark = wipedUnder ?? identity.madeUnder
        let isTheirs = mark.organisation == orders.organisation
        return .wiped(by: isTheirs ? orderer : nil)
    }

    /// An organisation has done it, or is about to.
    package var isWiped: Bool { wipedUnder != nil || identity.isWiped }

    /// Nobody can read any more what it holds. False where it is damaged.
    fileprivate func wipe() async throws(Refusal) -> Bool {
        let orders = orders
        return try await inTurn(.own) { () async throws(Refusal) in
            switch condition {
            case .erased: return true
            case .live(let file):
                try await erase(file, wipedUnder: orders)
                return true
            case .recoverable, .damaged: return false
            }
        }
    }
}
