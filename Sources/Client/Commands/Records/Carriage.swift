import Posix
import ToolTexts
import Wire

/// What `copy` and `move` carry from one store to another.
struct Carriage: Equatable {
    enum What: Equatable {
        case names([[UInt8]])
        case everything
    }

    var what: What
    var to: [UInt8]
    var clash: ImportCommand.Clash

    init(what: What, to: [UInt8], clash: ImportCommand.Clash) {
        self.what = what
        self.to = to
        self.clash = clash
    }

    init(_ arguments: Arguments, _ verb: String) throws(UsageError) {
        guard let to = arguments.options[.to] else {
            throw UsageError(
                Text(verb, " needs --to STORE"), hint: Text("`appvault help ", verb, "`"))
        }
        let names = arguments.operands
        guard names.isEmpty == arguments.has(.all) else {
            throw UsageError(
                Text(verb, " needs names, or --all"), hint: Text("`appvault help ", verb, "`"))
        }
        for name in names { try Arguments.checkRecord(name) }
        // What has been moved is not there to be moved again.
        var once: Set<[UInt8]> = []
        what = arguments.has(.all) ? .everything : .names(names.filter { once.insert($0).inserted })
        self.to = try Arguments.shared(to, "--to")
        clash = arguments.has(.replace) ? .replace : .refuse
    }

    /// Returns how many were carried. Nothing is stored before it is clear that all can be, and
    /// nothing is given to `stored` before all are stored.
    func carry(
        _ run: Run, _ verb: String, stored: ([UInt8]) throws(ClientError) -> Void = { _ in }
    ) throws(ClientError) -> Int {
        let connection = try run.connect()
        let from = run.settings.store
        guard try !isSame(from, to, connection) else {
            throw .refused(Refused(.invalidArgument, run.words(.carrySame)))
        }
        if clash == .replace { try run.agree(verb, run.words(.agreeMoveReplace)) }
        let names = try names(connection, from, run)
        try check(names, connection, run)
        let bar = ProgressBar(.carryBar, run.words, run.environment)
        defer { bar.clear() }
        for (index, name) in names.enumerated() {
            var value = SecretBuffer()
            try connection.get(name, store: from, into: &value)
            try connection.set(name, store: to, value)
            bar.show(done: UInt64(index + 1), total: UInt64(names.count))
        }
        for name in names { try stored(name) }
        return names.count
    }

    /// Several names lead to a store that is shared. `move` would store each value where it is, and
    /// then delete it.
    private func isSame(
        _ here: [UInt8], _ there: [UInt8], _ connection: Connection
    ) throws(ClientError) -> Bool {
        let from = try connection.status(Target(store: here)).store
        let to = try connection.status(Target(store: there)).store
        // A store that does not exist is refused when it is read or written.
        return from == to && from.contains { $0 != 0 }
    }

    private func names(
        _ connection: Connection, _ from: [UInt8], _ run: Run
    ) throws(ClientError) -> [[UInt8]] {
        switch what {
        case .names(let names): return names
        case .everything:
            var damaged: [DamagedRecords.Entry] = []
            let names = try connection.listAll(store: from, damaged: &damaged)
            guard damaged.isEmpty else {
                throw .refused(
                    Refused(
                        .storeDamaged, run.words(.carryDamaged), hint: run.words(.damagedHint)))
            }
            return names
        }
    }

    /// Each of them is here, and, unless it may be replaced, not yet there.
    private func check(
        _ names: [[UInt8]], _ connection: Connection, _ run: Run
    ) throws(ClientError) {
        for name in names {
            if case .names = what {
                var value = SecretBuffer()
                try connection.get(name, store: run.settings.store, into: &value)
            }
            guard clash == .refuse else { continue }
            do throws(ClientError) {
                var value = SecretBuffer()
                try connection.get(name, store: to, into: &value)
            } catch {
                guard case .refused(let refused) = error, refused.known == .doesNotExist else {
                    throw error
                }
                // No store there, and no such record in it, are told by the same code.
                continue
            }
            throw .refused(
                Refused(
                    .alreadyExists, run.words(.carryExists, Printable.escaped(name)),
                    hint: run.words(.importExistsHint)))
        }
    }
}
