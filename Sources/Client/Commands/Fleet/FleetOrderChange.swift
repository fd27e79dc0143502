import Fleet
import Wire

/// What the four verbs have in common that change a file of orders.
struct FleetOrderChange: Equatable {
    enum Kind: Equatable {
        case lock
        /// Their lock alone, or all that is ordered for them.
        case unlock(all: Bool)
        case wipe(before: UInt64)
        case reset(before: UInt64)
    }

    /// Of machines that hear nothing of their organisation.
    enum Offline: Equatable {
        case unchanged
        case none
        case lock(UInt32)
        case wipe(UInt32)
    }

    var kind: Kind
    var file: [UInt8]
    /// It has the key of targets. Nil where only days are changed.
    var join: FileOperand?
    var targets: [FleetOperand]
    var offline = Offline.unchanged

    static let operands = ["ORDERS-FILE", "TARGET..."]
    static let about =
        "TARGET is NAME for a person on every machine, machine:ID for everybody on one, NAME@ID for a person on one "
        + "machine, with ID as in /etc/machine-id, or list:FILE with one of these in each line. Orders have no "
        + "names: what they call a target can be worked out with the key in JOIN's file alone, which is what machines join with."
    static let json: [VerbEntry.Field] =
        VerbEntry.done.dropLast() + FleetOrderView.fields
    private static let offlineWord = Array("offline".utf8)
    private static let offlinePrefix = Array("offline:".utf8)

    init(
        kind: Kind, file: [UInt8], join: FileOperand?, targets: [FleetOperand], offline: Offline
    ) {
        (self.kind, self.file, self.join) = (kind, file, join)
        (self.targets, self.offline) = (targets, offline)
    }

    init(
        _ arguments: Arguments, _ kind: Kind, days: ((UInt32) -> Offline)? = nil,
        none: Bool = false
    ) throws(UsageError) {
        self.kind = kind
        file = arguments.operands[0]
        targets = []
        for operand in arguments.operands.dropFirst() {
            if none, operand == Self.offlineWord {
                offline = .none
            } else if let days, operand.starts(with: Self.offlinePrefix) {
                offline = days(try Self.days(operand.dropFirst(Self.offlinePrefix.count)))
            } else {
                targets.append(try FleetOperand(operand))
            }
        }
        join = arguments.options[.join].map { FileOperand($0) }
        guard join != nil || targets.isEmpty else {
            throw UsageError(
                Text("--join is missing"),
                hint: Text("--join FILE names what machines join with: it has the key of targets"))
        }
    }

    private static func days(_ text: ArraySlice<UInt8>) throws(UsageError) -> UInt32 {
        guard let number = NumberOperand.read(Array(text)), let days = UInt32(exactly: number)
        else {
            throw UsageError(
                Text("offline:", Printable.escaped(Array(text)), " cannot be"),
                hint: Text("offline:DAYS, as in offline:30"))
        }
        return days
    }

    /// For a verb that names a version.
    static func before(_ arguments: Arguments, isNeeded: Bool) throws(UsageError) -> UInt64 {
        guard let text = arguments.options[.before] else {
            guard isNeeded else { return 0 }
            throw UsageError(
                Text("--before is missing"),
                hint: Text(
                    "--before VERSION names the version of the bundle that these orders go into"))
        }
        guard let version = NumberOperand.read(text) else {
            throw UsageError(
                Text("--before ", Printable.escaped(text), " cannot be"),
                hint: Text("a version is a number from 1 on"))
        }
        return version
    }

    func run(_ run: Run, _ verb: String) throws(ClientError) -> ExitStatus {
        var file = try FleetOrdersFile(file, run)
        let listed = try run.targets(targets)
        let found =
            if let join { try run.join(join).orderTargets(listed.map(\.target)) } else {
                [OrderTarget]()
            }
        for (target, listed) in zip(found, listed) {
            var order = file.orders.order(for: [target])
            guard change(&order) else {
                throw .refused(
                    Refused(
                        .doesNotExist,
                        run.words(.fleetNotOrdered, Printable.escaped(listed.target.text)),
                        hint: run.words(.fleetNotOrderedHint)))
            }
            file.orders.give(order, to: target)
        }
        var rule = file.orders.offline
        switch offline {
        case .unchanged: break
        case .none: rule = OfflineRule()
        case .lock(let days): rule.lockAfter = days
        case .wipe(let days): rule.wipeAfter = days
        }
        file.orders.offline = rule
        try file.write(run)
        let view = FleetOrderView(
            file.orders, zip(listed, found).map { ($0.target.text, $1) },
            showsOffline: offline != .unchanged)
        switch run.settings.form {
        case .plain: run.voice.print(view.lines(run.words))
        case .json:
            var json = JSON()
            json.field("action", verb)
            json.field("result", "done")
            view.write(to: &json)
            run.voice.print(json.finish())
        }
        return .success
    }

    /// False where there is nothing of it to take back.
    private func change(_ order: inout Orders.Order) -> Bool {
        switch kind {
        case .lock: order.locks = true
        case .wipe(let version): order.wipesBefore = version
        case .reset(let version): order.resetsBefore = version
        case .unlock(all: false):
            guard order.locks else { return false }
            order.locks = false
        case .unlock(all: true):
            guard order != Orders.Order() else { return false }
            order = Orders.Order()
        }
        return true
    }
}

enum NumberOperand {
    /// A decimal number from 1 on.
    static func read(_ text: [UInt8]) -> UInt64? {
        guard text.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = UInt64(String(decoding: text, as: UTF8.self)), number > 0
        else { return nil }
        return number
    }
}
