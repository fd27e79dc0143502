import Fleet
import ToolTexts
import Wire

/// What is ordered for some people and machines, by the names that somebody has typed.
struct FleetOrderView {
    private let orders: Orders
    private let named: [(name: [UInt8], order: Orders.Order)]
    private let showsOffline: Bool

    static let fields: [VerbEntry.Field] = [
        .init("targets[].target", "as it was given"),
        .init("targets[].locked", "true or false"),
        .init("targets[].wipesBefore", "stores of versions below this are wiped; 0: none"),
        .init("targets[].resetsBefore", "the passcodes of such stores are reset; 0: none"),
        .init("offlineLock", "after how many days without news a machine locks; 0: never"),
        .init("offlineWipe", "after how many it wipes; 0: never"),
    ]

    init(
        _ orders: Orders, _ named: [(name: [UInt8], target: OrderTarget)], showsOffline: Bool
    ) {
        self.orders = orders
        self.named = named.map { ($0.name, orders.order(for: [$0.target])) }
        self.showsOffline = showsOffline
    }

    func lines(_ words: OwnWords) -> [UInt8] {
        var lines = named.flatMap { name, order -> [[UInt8]] in
            let name = Printable.escaped(name)
            var lines: [[UInt8]] = []
            if order.locks { lines.append(words(.fleetOrderedLock, name)) }
            if order.wipesBefore > 0 {
                lines.append(words(.fleetOrderedWipe, name, order.wipesBefore))
            }
            if order.resetsBefore > 0 {
                lines.append(words(.fleetOrderedReset, name, order.resetsBefore))
            }
            return lines.isEmpty ? [words(.fleetOrderedNothing, name)] : lines
        }
        if showsOffline {
            if let days = orders.offline.lockAfter {
                lines.append(words(.fleetLockAfter, Int(days)))
            } else {
                lines.append(words(.fleetLockNever))
            }
            if let days = orders.offline.wipeAfter {
                lines.append(words(.fleetWipeAfter, Int(days)))
            }
        }
        return lines.flatMap { $0 + [0x0A] }
    }

    func write(to json: inout JSON) {
        json.objects("targets", named) { json, each in
            json.field("target", each.name)
            json.field("locked", each.order.locks)
            json.field("wipesBefore", each.order.wipesBefore)
            json.field("resetsBefore", each.order.resetsBefore)
        }
        json.field("offlineLock", Int(orders.offline.lockAfter ?? 0))
        json.field("offlineWipe", Int(orders.offline.wipeAfter ?? 0))
    }
}
