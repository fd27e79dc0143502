/// What an organisation wants to be so, for machines and people. Orders are a state and no commands:
/// whoever is not in them any more is free again, and reading them twice changes nothing.
///
///     lock TARGET
///     wipe TARGET VERSION
///     reset TARGET VERSION
///     offline lock DAYS
///     offline wipe DAYS
public struct Orders: Equatable, Sendable {
    /// For one target.
    public struct Order: Equatable, Sendable {
        public var locks = false
        /// Stores are wiped that were made under orders before this version. So a store that its
        /// owner makes afterwards stays, and nobody's clock decides.
        public var wipesBefore: UInt64 = 0
        /// The passcode of such stores is taken away, and a new one is due.
        public var resetsBefore: UInt64 = 0

        public init(locks: Bool = false, wipesBefore: UInt64 = 0, resetsBefore: UInt64 = 0) {
            (self.locks, self.wipesBefore) = (locks, wipesBefore)
            self.resetsBefore = resetsBefore
        }

        /// What several orders for one person come to.
        func together(with other: Order) -> Order {
            Order(
                locks: locks || other.locks, wipesBefore: max(wipesBefore, other.wipesBefore),
                resetsBefore: max(resetsBefore, other.resetsBefore))
        }
    }

    public private(set) var orders: [OrderTarget: Order] = [:]
    public var offline = OfflineRule()

    public static let none = Orders()
    public static let mostOrders = 20_000

    private init() {}

    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        var number = 0
        for raw in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard let first = raw.first, first != UInt8(ascii: "#") else { continue }
            guard take(raw.split(separator: 0x20, omittingEmptySubsequences: false)) else {
                throw PlainSections.Fault(
                    line: number,
                    wrong: "an order is `lock TARGET`, `wipe TARGET VERSION`, "
                        + "`reset TARGET VERSION`, `offline lock DAYS` or `offline wipe DAYS`, once"
                )
            }
            guard orders.count <= Self.mostOrders else {
                throw PlainSections.Fault(line: number, wrong: "there are too many orders")
            }
        }
        guard offline.isMeant else {
            throw PlainSections.Fault(
                line: number, wrong: "offline wipe comes some days after offline lock")
        }
    }

    private mutating func take(_ words: [ArraySlice<UInt8>]) -> Bool {
        guard words.count > 1 else { return false }
        switch (String(decoding: words[0], as: UTF8.self), words.count) {
        case ("lock", 2):
            return change(words[1]) { order in
                guard !order.locks else { return false }
                order.locks = true
                return true
            }
        case ("wipe", 3): return set(words, \.wipesBefore)
        case ("reset", 3): return set(words, \.resetsBefore)
        case ("offline", 3):
            guard let days = Self.number(words[2]).flatMap(UInt32.init(exactly:)) else {
                return false
            }
            switch String(decoding: words[1], as: UTF8.self) {
            case "lock" where offline.lockAfter == nil: offline.lockAfter = days
            case "wipe" where offline.wipeAfter == nil: offline.wipeAfter = days
            default: return false
            }
            return true
        default: return false
        }
    }

    private mutating func set(
        _ words: [ArraySlice<UInt8>], _ field: WritableKeyPath<Order, UInt64>
    ) -> Bool {
        guard let version = Self.number(words[2]) else { return false }
        return change(words[1]) { order in
            guard order[keyPath: field] == 0 else { return false }
            order[keyPath: field] = version
            return true
        }
    }

    private mutating func change(
        _ target: ArraySlice<UInt8>, _ change: (inout Order) -> Bool
    ) -> Bool {
        guard let target = Hex.bytes(Array(target)).flatMap(OrderTarget.init) else { return false }
        return change(&orders[target, default: Order()])
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = UInt64(String(decoding: digits, as: UTF8.self)), number > 0
        else { return nil }
        return number
    }

    /// The latest that one of them names; 0 where none does.
    public var latestVersion: UInt64 {
        orders.values.reduce(0) { max($0, $1.wipesBefore, $1.resetsBefore) }
    }

    /// They take something away that nobody can bring back.
    public var wipes: Bool { latestVersion > 0 || offline.wipeAfter != nil }

    /// What holds for somebody who goes by these.
    public func order(for targets: [OrderTarget]) -> Order {
        targets.compactMap { orders[$0] }.reduce(Order()) { $0.together(with: $1) }
    }

    public func render() -> [UInt8] {
        var lines: [String] = []
        for (target, order) in orders.sorted(by: { $0.key.text < $1.key.text }) {
            if order.locks { lines.append("lock \(target.text)") }
            if order.wipesBefore > 0 { lines.append("wipe \(target.text) \(order.wipesBefore)") }
            if order.resetsBefore > 0 { lines.append("reset \(target.text) \(order.resetsBefore)") }
        }
        if let days = offline.lockAfter { lines.append("offline lock \(days)") }
        if let days = offline.wipeAfter { lines.append("offline wipe \(days)") }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// For whom an administrator writes an order.
    public mutating func give(_ order: Order, to target: OrderTarget) {
        orders[target] = order == Order() ? nil : order
    }
}
