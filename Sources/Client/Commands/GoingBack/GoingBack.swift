import Posix
import ToolTexts
import Wire

/// `export --secret-service`: what the desktop's programs keep in a store goes to the program that
/// they ask now. Here nothing changes.
struct GoingBack: Equatable {
    enum Mode: Equatable { case real, dry }
    enum Clash: Equatable { case keep, replace }

    var mode: Mode
    var clash: Clash

    static let verb = "export --secret-service"

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let store = run.settings.store.isEmpty ? Self.usual : run.settings.store
        let state = try run.connect().status(Target(store: store))
        switch state.lock {
        case .absent:
            throw .refused(
                Refused(.doesNotExist, run.words(.comingNoStore, Printable.escaped(store))))
        case .locked: throw .refused(Refused(.locked, []))
        // The daemon says what is to be done.
        case .unlocked, .retryLocked, .damaged, .erased, .ownerChanged, .barred: break
        }
        let journey = Journey(self, run, store)
        EventLoop.shared.task {
            await journey.go()
            EventLoop.shared.stop()
        }
        EventLoop.shared.run()
        return try journey.outcome.get()
    }

    private static let usual = Array("secrets".utf8)
}

/// One run of it. The loop runs on the thread that has made it and waits for its end.
private final class Journey: @unchecked Sendable {
    private(set) var outcome: Result<ExitStatus, ClientError> = .success(.success)
    private let what: GoingBack
    private let run: Run
    private let store: [UInt8]
    private var report = DepartureReport()
    private var done = 0
    private var total = 0
    private let bar: ProgressBar

    private var isDry: Bool { what.mode == .dry }

    init(_ what: GoingBack, _ run: Run, _ store: [UInt8]) {
        (self.what, self.run, self.store) = (what, run, store)
        bar = ProgressBar(.exportBar, run.words, run.environment)
    }

    @LoopActor
    func go() async {
        do throws(ClientError) {
            let keyring = try await find()
            defer { keyring.close() }
            report.program = Array(keyring.program.utf8)
            let asks = run.words(.goingAsks, Printable.escaped(report.program))
            keyring.whenItAsks = { [self] in
                bar.clear()
                run.voice.info(asks)
            }
            do throws(ClientError) {
                try await carryAll(keyring)
            } catch {
                // What went is there, whatever ends it.
                bar.clear()
                if run.settings.form == .plain { report.tell(run, isDry: isDry, GoingBack.verb) }
                throw error
            }
            bar.clear()
            report.tell(run, isDry: isDry, GoingBack.verb)
            outcome = .success(report.status)
        } catch {
            outcome = .failure(error)
        }
    }

    // MARK: the other keyring

    @LoopActor
    private func find() async throws(ClientError) -> OtherKeyring {
        do throws(OtherKeyring.Failure) {
            return try await OtherKeyring.find()
        } catch {
            throw .refused(refusal(error))
        }
    }

    private func refusal(_ failure: OtherKeyring.Failure) -> Refused {
        switch failure {
        case .noBus:
            Refused(.serviceUnavailable, run.words(.goingNoBus), hint: run.words(.goingNoBusHint))
        case .nobody:
            Refused(.doesNotExist, run.words(.goingNobody), hint: run.words(.goingNobodyHint))
        case .ours:
            Refused(.invalidArgument, run.words(.goingOurs), hint: run.words(.goingOursHint))
        case .gone, .silent, .refused, .dismissed, .malformed, .noText, .library:
            Refused(.serviceUnavailable, reason(failure))
        }
    }

    /// Of one item or collection.
    private func reason(_ failure: OtherKeyring.Failure) -> [UInt8] {
        switch failure {
        case .noBus: run.words(.goingNoBus)
        case .nobody, .gone: run.words(.goingGone)
        case .ours: run.words(.goingOurs)
        case .silent: run.words(.goingSilent)
        case .refused(let text): run.words(.goingRefused, Printable.escaped(Array(text.utf8)))
        case .dismissed: run.words(.goingDismissed)
        case .malformed: run.words(.goingMalformed)
        case .noText: run.words(.comingNoText)
        case .library: run.words(.goingLibrary)
        }
    }

    /// Whether it says something about one item or collection alone.
    private func isOwnFault(_ failure: OtherKeyring.Failure) -> Bool {
        switch failure {
        case .refused, .dismissed, .noText, .library: true
        case .noBus, .nobody, .ours, .gone, .silent, .malformed: false
        }
    }

    private enum Tried<R: Sendable>: Sendable {
        case done(R)
        /// This one alone could not be done, and why.
        case left([UInt8])
    }

    @LoopActor
    private func trying<R: Sendable>(
        _ body: @LoopActor () async throws(OtherKeyring.Failure) -> R
    ) async throws(ClientError) -> Tried<R> {
        do throws(OtherKeyring.Failure) {
            return .done(try await body())
        } catch {
            guard isOwnFault(error) else { throw .refused(refusal(error)) }
            return .left(reason(error))
        }
    }

    // MARK: collections

    @LoopActor
    private func carryAll(_ keyring: OtherKeyring) async throws(ClientError) {
        var damaged: [DamagedRecords.Entry] = []
        let all = try run.connect().allItems(store: store, damaged: &damaged)
        var labels: [[UInt8]: [UInt8]] = [:]
        for collection in all.collections { labels[collection.id] = collection.label }
        labels[Self.login] = Array("Login".utf8)
        var met: Set<[UInt8]> = []
        let items = all.items.filter { met.insert($0.id).inserted }
        total = items.count
        for entry in damaged {
            report.left.append(.init(collection: entry.name, why: run.words(.comingDamaged)))
        }
        let grouped = Dictionary(grouping: items) { $0.collection }
        // The usual one first.
        for id in grouped.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let label = labels[id] ?? Self.label(of: id)
            try await carry(grouped[id] ?? [], of: id, label, keyring)
        }
    }

    private static let login = [UInt8](repeating: 0, count: 16)

    /// Of one whose own record is gone.
    private static func label(of id: [UInt8]) -> [UInt8] {
        Array(
            id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8)
    }

    @LoopActor
    private func carry(
        _ items: [Item], of id: [UInt8], _ label: [UInt8], _ keyring: OtherKeyring
    ) async throws(ClientError) {
        var count = DepartureReport.Count(name: label)
        defer { report.counts.append(count) }
        let found: Destination?
        switch try await trying({ () async throws(OtherKeyring.Failure) in
            try await self.destination(id, label, keyring)
        }) {
        case .done(let destination): found = destination
        case .left(let why):
            count.left += items.count
            done += items.count
            return report.left.append(.init(collection: label, why: why))
        }
        let there = There(found?.items ?? [])
        // What was changed last comes last, and is the newest there as well.
        var rest = items.sorted { $0.modified < $1.modified }[...]
        while !rest.isEmpty {
            let some = try secrets(of: rest.prefix(Self.some))
            rest = rest.dropFirst(some.count)
            for (item, secret) in some {
                bar.show(done: UInt64(done), total: UInt64(total))
                done += 1
                let why: [UInt8]
                switch secret {
                case .gone: continue
                case .damaged: why = run.words(.comingDamaged)
                case .given(let secret):
                    switch try await trying({ () async throws(OtherKeyring.Failure) in
                        try await self.give(item, secret, to: found?.path, there, keyring)
                    }) {
                    case .done(.went):
                        count.went += 1
                        continue
                    case .done(.present):
                        count.present += 1
                        continue
                    case .done(.different):
                        count.different += 1
                        report.different.append(.init(collection: label, item: item.label))
                        continue
                    case .left(let reason): why = reason
                    }
                }
                count.left += 1
                report.left.append(.init(collection: label, item: item.label, why: why))
            }
        }
    }

    private struct Destination: Sendable {
        var path: String
        var items: [OtherKeyring.Item]
    }

    /// Nil where a dry run would make it.
    @LoopActor
    private func destination(
        _ id: [UInt8], _ label: [UInt8], _ keyring: OtherKeyring
    ) async throws(OtherKeyring.Failure) -> Destination? {
        let text = String(decoding: label, as: UTF8.self)
        let collections = try await keyring.collections()
        var path: String?
        if id == Self.login {
            path = try await keyring.alias("login")
            if path == nil { path = try await keyring.alias("default") }
        }
        if path == nil { path = collections.first { $0.label == text }?.path }
        guard let path else {
            guard !isDry else { return nil }
            let made = try await keyring.makeCollection(
                text, alias: id == Self.login ? "default" : "")
            return Destination(path: made, items: [])
        }
        if collections.first(where: { $0.path == path })?.isLocked ?? true {
            try await keyring.unlock(path)
        }
        return Destination(path: path, items: try await keyring.items(of: path))
    }

    // MARK: items

    /// Of our daemon's answers.
    private static let some = 64

    private enum Secret {
        case given(WipedBuffer)
        case damaged
        /// It was deleted meanwhile.
        case gone
    }

    /// Of the first ones of these, as many as fit into one answer.
    private func secrets(of items: ArraySlice<Item>) throws(ClientError) -> [(Item, Secret)] {
        let (secrets, damaged, dealtWith) = try run.connect().secrets(
            GetSecrets(store: store, ids: items.map(\.id)))
        return items.prefix(dealtWith).map { item in
            (item, secrets[item.id].map { .given($0) } ?? (damaged ? .damaged : .gone))
        }
    }

    private enum Fate: Sendable { case went, present, different }

    /// What the other collection has, by what makes items the same.
    @LoopActor
    private final class There {
        private var items: [ItemIdentity: [OtherKeyring.Item]] = [:]

        init(_ all: [OtherKeyring.Item]) {
            for item in all {
                let attributes = Dictionary(
                    item.attributes.map { (Array($0.key.utf8), Array($0.value.utf8)) }
                ) { $1 }
                items[ItemIdentity(Array(item.label.utf8), attributes), default: []].append(item)
            }
        }

        func like(_ identity: ItemIdentity) -> [OtherKeyring.Item] { items[identity] ?? [] }

        /// It is one of ours now.
        func take(_ item: OtherKeyring.Item, _ identity: ItemIdentity) {
            items[identity]?.removeAll { $0.path == item.path }
        }
    }

    @LoopActor
    private func give(
        _ item: Item, _ secret: WipedBuffer, to collection: String?, _ there: There,
        _ keyring: OtherKeyring
    ) async throws(OtherKeyring.Failure) -> Fate {
        let identity = ItemIdentity(item.label, item.attributeMap)
        let like = there.like(identity)
        for each in like where try await keyring.secret(of: each.path).isEqual(to: secret) {
            there.take(each, identity)
            return .present
        }
        guard let label = text(item.label), let type = text(item.contentType),
            let attributes = texts(item)
        else { throw .noText }
        if let other = like.first, !identity.isBare {
            guard what.clash == .replace else { return .different }
            there.take(other, identity)
            if !isDry { try await keyring.change(other, label, secret, type) }
            return .went
        }
        guard !isDry, let collection else { return .went }
        try await keyring.makeItem(in: collection, label, attributes, secret, type)
        return .went
    }

    private func text(_ bytes: [UInt8]) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private func texts(_ item: Item) -> [String: String]? {
        var texts: [String: String] = [:]
        for each in item.attributes {
            guard let name = text(each.name), let value = text(each.value) else { return nil }
            texts[name] = value
        }
        return texts
    }
}

extension Array {
    fileprivate func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

extension WipedBuffer {
    fileprivate func isEqual(to other: WipedBuffer) -> Bool {
        guard count == other.count else { return false }
        return withBytes { own in
            other.withBytes { others in own.indices.allSatisfy { own[$0] == others[$0] } }
        }
    }
}

extension Connection {
    /// The secrets of those that are there, whether some were damaged, and how many of those asked for
    /// are dealt with.
    fileprivate func secrets(
        _ request: GetSecrets
    ) throws(ClientError) -> (secrets: [[UInt8]: WipedBuffer], damaged: Bool, dealtWith: Int) {
        try send(.itemSecrets, request)
        var isDamaged = false
        while true {
            let type = try receive()
            if type == .damaged {
                isDamaged = true
                _ = try read(DamagedRecords.self)
                release()
                continue
            }
            guard type == .secrets else {
                let refusal = try refusal(type)
                // One alone that is damaged is refused.
                guard request.ids.count == 1, case .refused(let refused) = refusal,
                    refused.known == .storeDamaged
                else { throw refusal }
                release()
                return ([:], true, 1)
            }
            let (given, slice) = try readPayload(GivenSecrets.self, limit: Limits.frame)
            defer { release() }
            var secrets: [[UInt8]: WipedBuffer] = [:]
            withPayload(slice) { bytes in
                var start = 0
                for entry in given.entries {
                    let end = min(bytes.count, start + Int(entry.length))
                    secrets[entry.id] = WipedBuffer(copying: bytes.extracting(start..<end))
                    start = end
                }
            }
            return (secrets, isDamaged, max(1, Int(given.done)))
        }
    }
}
