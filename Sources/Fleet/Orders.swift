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
    /// In bytes: `lock TARGET`.
    private static let shortestOrder = 2 * OrderTarget.size + 6

    private init() {}

    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        // A table that grows is built anew each time, and there may be thousands.
        orders.reserveCapacity(min(text.count / Self.shortestOrder, Self.mostOrders))
        var number = 0
        var rest = text[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest[line.endIndex...].dropFirst()
            number += 1
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            var words = Words(rest: line)
            guard take(&words), words.isOver else {
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

    /// The words of a line, with one space between two of them.
    private struct Words {
        var rest: ArraySlice<UInt8>?

        var isOver: Bool { rest == nil }

        init(rest: ArraySlice<UInt8>) {
            self.rest = rest
        }

        /// Empty where there is none.
        mutating func next() -> ArraySlice<UInt8> {
            guard let all = rest else { return [] }
            let word = all.prefix { $0 != 0x20 }
            rest = word.endIndex < all.endIndex ? all[(word.endIndex + 1)...] : nil
            return word
        }

        mutating func number() -> UInt64? {
            var number: UInt64 = 0
            let digits = next()
            for digit in digits {
                guard 0x30...0x39 ~= digit else { return nil }
                let (shifted, isShort) = number.multipliedReportingOverflow(by: 10)
                let (sum, isOver) = shifted.addingReportingOverflow(UInt64(digit - 0x30))
                guard !isShort, !isOver else { return nil }
                number = sum
            }
            return number > 0 ? number : nil
        }
    }

    private mutating func take(_ words: inout Words) -> Bool {
        let verb = words.next()
        if verb.elementsEqual("lock".utf8) {
            return change(&words) { order, _ in
                guard !order.locks else { return false }
                order.locks = true
                return true
            }
        }
        if verb.elementsEqual("wipe".utf8) { return set(&words, \.wipesBefore) }
        if verb.elementsEqual("reset".utf8) { return set(&words, \.resetsBefore) }
        guard verb.elementsEqual("offline".utf8) else { return false }
        let what = words.next()
        guard let days = words.number().flatMap(UInt32.init(exactly:)) else { return false }
        switch String(decoding: what, as: UTF8.self) {
        case "lock" where offline.lockAfter == nil: offline.lockAfter = days
        case "wipe" where offline.wipeAfter == nil: offline.wipeAfter = days
        default: return false
        }
        return true
    }

    private mutating func set(
        _ words: inout Words, _ field: WritableKeyPath<Order, UInt64>
    ) -> Bool {
        change(&words) { order, words in
            guard let version = words.number(), order[keyPath: field] == 0 else { return false }
            order[keyPath: field] = version
            return true
        }
    }

    private mutating func change(
        _ words: inout Words, _ change: (inout Order, inout Words) -> Bool
    ) -> Bool {
        guard let target = OrderTarget(digits: words.next()) else { return false }
        return change(&orders[target, default: Order()], &words)
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
