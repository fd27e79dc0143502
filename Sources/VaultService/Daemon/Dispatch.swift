import Posix
import SealedStore
import Secrets
import StoreKeeping
import Wire
import Words

/// What a connection may ask for now. Each state permits a stated set of requests; PROTOCOL.md has
/// the table.
enum Phase {
    /// Nothing has come yet: only a greeting is accepted.
    case greeting
    /// Between requests. Inside one, the conversation reads the replies itself.
    case ready(Caller)
    case exporting(Caller, Export)
    case importing(Caller, Import)
    /// Whatever the peer sends now, nobody reads.
    case watching(Watcher)
}

/// Serves one connection from its greeting to its end, as straight-line code.
@LoopActor
final class Dispatcher {
    let house: House
    let connection: Connection
    private var phase = Phase.greeting
    private let born = Clock.bootMilliseconds()

    init(house: House, connection: Connection) {
        self.house = house
        self.connection = connection
    }

    func serve() async {
        do throws(ConnectionEnd) {
            while !house.crowd.isDismissed || connection.hasInput {
                let next = try await receive()
                guard try await handle(next.request, tag: next.tag) else { break }
            }
        } catch {
            switch error {
            case .notUnderstood:
                try? await connection.send(
                    house.desk.speech.voice.refused(.protocolError), .refused, tag: 0)
            case .outOfMemory:
                try? await connection.send(
                    house.desk.speech.voice.refused(.outOfMemory), .refused, tag: 0)
            case .closed, .timedOut: break
            }
        }
        switch phase {
        case .exporting(_, let export): export.end()
        case .watching(let watcher): house.upkeep.watchers.end(watcher)
        case .greeting, .ready, .importing: break
        }
        connection.close()
    }

    private struct Incoming: Sendable {
        let tag: UInt32
        let request: Request
    }

    private func receive() async throws(ConnectionEnd) -> Incoming {
        let limit: Int
        let deadline: UInt64
        switch phase {
        case .greeting:
            limit = Limits.smallFrame
            deadline = born + UInt64(Limits.firstFrameWait)
        case .ready, .exporting, .importing:
            limit = Limits.frame
            deadline = Clock.bootMilliseconds() + UInt64(Limits.idleWait)
        case .watching:
            limit = Limits.smallFrame
            deadline = .max
        }
        return try await connection.receive(limit: limit, until: deadline) {
            (header, body) throws(WireError) in
            Incoming(tag: header.tag, request: try Request.decode(header, body))
        }
    }

    /// False if the connection is over with this.
    private func handle(_ request: Request, tag: UInt32) async throws(ConnectionEnd) -> Bool {
        switch phase {
        case .greeting:
            guard case .hello(let hello) = request else { throw .notUnderstood(.unknownValue) }
            guard hello.version == Limits.version || hello.version == Limits.versionWithScreens
            else {
                let refusal = Refusal.serviceUnavailable(.version(Limits.version))
                try await connection.send(
                    house.desk.speech.voice.refused(refusal), .refused, tag: tag)
                return false
            }
            let caller = Caller(
                connection.credentials, hello: hello, daemonUID: ThisProcess.uid,
                process: { [connection] in connection.process() },
                hangsUp: { [connection] in connection.hasHungUp })
            guard house.crowd.settle(connection, isForSecrets: hello.isForSecrets) else {
                try await connection.send(
                    house.desk.speech.voice(of: caller).refused(.busy), .refused, tag: 0)
                return false
            }
            guard house.crowd.claim(connection, by: hello.realUID) else {
                try await connection.send(
                    house.desk.speech.voice(of: caller).refused(.busy), .refused, tag: tag)
                return false
            }
            phase = .ready(caller)
            try await connection.send(
                Welcome(version: hello.version, software: Array(Software.version.utf8)),
                .welcome, tag: tag)
            return true
        case .ready(let caller):
            return try await serve(request, of: caller, tag: tag)
        case .exporting(let caller, let export):
            guard case .exportNext = request else { throw .notUnderstood(.unknownValue) }
            if try await answer(export, tag: tag) == .ended {
                export.end()
                phase = .ready(caller)
            }
            return true
        case .importing(let caller, let inflow):
            guard case .importChunk(let chunk, let bytes) = request else {
                throw .notUnderstood(.unknownValue)
            }
            if try await answer(inflow, chunk, bytes, tag: tag) == .ended { phase = .ready(caller) }
            return true
        case .watching: throw .notUnderstood(.unknownValue)
        }
    }

    /// PROTOCOL.md says what each family may be asked for; this decides when.
    private func serve(_ request: Request, of caller: Caller, tag: UInt32)
        async throws(ConnectionEnd) -> Bool
    {
        switch request {
        case .record(let record): try await serve(record, caller, tag)
        case .item(let item): try await serve(item, caller, tag)
        case .flow(let flow): try await self.flow(flow, caller, tag)
        case .query(let query): try await serve(query, caller, tag)
        case .fleet(let fleet): try await serve(fleet, caller, tag)
        case .transfer(.exportBegin(let target)): try await beginExport(target, caller, tag)
        case .transfer(.importBegin(let begin, let header)):
            try await beginImport(begin, header, caller, tag)
        case .pam(let request):
            try await pam(request, caller, tag)
            // A module's connection never outlives one call of PAM.
            return false
        case .watch(let wish): try await watch(wish, caller, tag)
        case .hello, .reply, .abort, .answer, .draft, .exportNext, .importChunk:
            throw .notUnderstood(.unknownValue)
        }
        return true
    }

    private func exchange(_ caller: Caller, _ tag: UInt32) -> Exchange {
        Exchange(
            connection: connection, caller: caller, voice: house.desk.speech.voice(of: caller),
            tag: tag)
    }

    // MARK: a watch

    /// One task goes on reading, so that the end of the peer is seen at once; another one tells.
    private func watch(
        _ wish: Watch, _ caller: Caller, _ tag: UInt32
    ) async throws(ConnectionEnd) {
        let watcher: Watcher
        do throws(Interruption) {
            let person = try await house.desk.person(Subject(), caller)
            let isAway =
                house.upkeep.screens.hasScreen(person.uid)
                && !house.upkeep.screens.isInFront(person.uid)
            let stores =
                house.desk.vault.stores(of: person.uid)
                + house.desk.vault.sharedStores.filter { $0.owner != person }
            guard
                let made = house.upkeep.watchers.watch(
                    person, stores, isAway: isAway, wish: wish,
                    isForSecrets: caller.hello.isForSecrets)
            else { throw .refused(.tooManyWatch) }
            watcher = made
        } catch {
            return try await refuse(error, caller, tag)
        }
        phase = .watching(watcher)
        EventLoop.shared.task { await self.tell(watcher, tag) }
    }

    private func tell(_ watcher: Watcher, _ tag: UInt32) async {
        while true {
            let events = await watcher.next()
            guard !events.isEmpty else { return }
            connection.isQuiet = false
            // Who does not read is ended by the same clock as every peer.
            house.crowd.look()
            do throws(ConnectionEnd) {
                for event in events { try await connection.send(event, .event, tag: tag) }
            } catch {
                return connection.close()
            }
            connection.isQuiet = true
        }
    }

    // MARK: questions

    private func serve(_ query: Query, _ caller: Caller, _ tag: UInt32) async throws(ConnectionEnd)
    {
        let house = house
        switch query {
        case .status(let target): try await status(target, caller, tag)
        case .texts:
            try await connection.send(house.desk.speech.textList(for: caller), .textList, tag: tag)
        case .health:
            try await answer(.healthReport, caller, tag) { () async throws(Interruption) in
                await house.health.health(for: caller)
            }
        case .policyShow(let target):
            try await answer(.policyValues, caller, tag) { () async throws(Interruption) in
                try await house.policyQueries.showPolicy(target, caller)
            }
        case .policyCheck(let check, let candidate):
            try await answer(.checklist, caller, tag) { () async throws(Interruption) in
                try await house.policyQueries.checkPolicy(check, candidate, caller)
            }
        case .policyPreview(let preview, let text):
            try await answer(.preview, caller, tag) { () async throws(Interruption) in
                try await house.policyQueries.previewPolicy(preview, text, caller)
            }
        case .actions(let target):
            try await answer(.actionList, caller, tag) { () async throws(Interruption) in
                try await house.permissions.actions(target, caller)
            }
        case .appRules(let app):
            try await answer(.appPolicy, caller, tag) { () async throws(Interruption) in
                try await house.flows.apps.policy(app, caller)
            }
        case .stores(let request):
            try await answer(.storeList, caller, tag) { () async throws(Interruption) in
                try await house.statuses.stores(request, for: caller)
            }
        case .consents:
            try await answer(.consentList, caller, tag) { () async throws(Interruption) in
                try await house.flows.consenting.list(caller)
            }
        case .members(let target):
            try await answer(.memberList, caller, tag) { () async throws(Interruption) in
                try await house.statuses.members(target, for: caller)
            }
        case .fingerprintList(let target):
            let exchange = exchange(caller, tag)
            try await answer(.fingerprintState, caller, tag) { () async throws(Interruption) in
                try await house.flows.fingers.listFingers(target, exchange)
            }
        }
    }

    // MARK: the organisation

    private func serve(
        _ request: FleetRequest, _ caller: Caller, _ tag: UInt32
    ) async throws(ConnectionEnd) {
        let fleet = house.fleet
        switch request {
        case .status:
            try await answer(.fleetState, caller, tag) { () async throws(Interruption) in
                await fleet.status(for: caller)
            }
        case .join(let text):
            try await tell(caller, tag) { () async throws(Interruption) in
                try await fleet.join(text, caller)
            }
        case .ask(let ask):
            let exchange = exchange(caller, tag)
            let joining = house.joining
            try await tell(caller, tag) { () async throws(Interruption) in
                try await joining.join(ask, exchange)
            }
        case .take(let bundle):
            try await tell(caller, tag) { () async throws(Interruption) in
                try await fleet.take(bundle, caller)
            }
        case .fetch:
            try await tell(caller, tag) { () async throws(Interruption) in
                try await fleet.fetch(caller)
            }
        case .leave:
            try await tell(caller, tag) { () async throws(Interruption) in
                try await fleet.leave(caller)
            }
        }
    }

    // MARK: records

    private func serve(
        _ request: RecordRequest, _ caller: Caller, _ tag: UInt32
    ) async throws(ConnectionEnd) {
        let house = house
        switch request {
        case .get(let record): try await get(record, caller, tag)
        case .set(let record, let value):
            try await answerPlain(caller, tag) { () async throws(Interruption) in
                try await house.records.set(record, value, for: caller)
            }
        case .delete(let record):
            try await answerPlain(caller, tag) { () async throws(Interruption) in
                try await house.records.delete(record, for: caller)
            }
        case .list(let list): try await self.list(list, caller, tag)
        }
    }

    private func get(_ record: Record, _ caller: Caller, _ tag: UInt32) async throws(ConnectionEnd)
    {
        let connection = connection
        if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
        let take: @LoopActor (Span<UInt8>) -> Void = { value in
            connection.stage(Empty(), .value, tag: tag, payload: value)
        }
        let records: OpenRecordsQueue
        do throws(Interruption) {
            // Nearly always there is nothing to wait for, and each `await` costs time.
            if let now = try house.records.getNow(record, for: caller, take) {
                records = now
            } else {
                records = try await house.records.get(record, for: caller, take)
            }
        } catch {
            return try await refuse(error, caller, tag)
        }
        if try connection.sendStaged() { return }
        try await connection.sendRest(from: records)
    }

    private func list(_ list: List, _ caller: Caller, _ tag: UInt32) async throws(ConnectionEnd) {
        let found: (page: Records.Page, of: OpenRecordsQueue, opening: Int)
        if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
        do throws(Interruption) {
            found = try await house.records.list(list, for: caller)
        } catch {
            return try await refuse(error, caller, tag)
        }
        try await connection.answer(from: found.of, opening: found.opening) {
            () async throws(ConnectionEnd) in
            try await tell(found.page.damaged, tag: tag)
            try await connection.send(
                Names(cursor: found.page.cursor, names: found.page.names), .names, tag: tag)
        }
    }

    /// Before the answer that is without them.
    func tell(_ damaged: [DamagedRecord], tag: UInt32) async throws(ConnectionEnd) {
        var rest = damaged[...]
        while !rest.isEmpty {
            let entries = rest.prefix(Limits.page).map { record in
                DamagedRecords.Entry(
                    kind: record.wireKind, id: record.id, name: record.name)
            }
            rest = rest.dropFirst(Limits.page)
            if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
            try await connection.send(DamagedRecords(records: entries), .damaged, tag: tag)
        }
    }

    private func status(_ target: Target, _ caller: Caller, _ tag: UInt32)
        async throws(ConnectionEnd)
    {
        let state: State
        do throws(Interruption) {
            state = try await house.statuses.status(target, for: caller)
        } catch {
            return try await refuse(error, caller, tag)
        }
        try await connection.send(state, .state, tag: tag)
    }

    /// Answers a query that has an answer type of its own.
    func answer<Answer: Body & Sendable>(
        _ type: AnswerType, _ caller: Caller, _ tag: UInt32,
        _ body: () async throws(Interruption) -> Answer
    ) async throws(ConnectionEnd) {
        if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
        house.ticker.begin(connection, tag)
        let answer: Answer
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            answer = try await body()
        } catch {
            return try await refuse(error, caller, tag)
        }
        try await connection.send(answer, type, tag: tag)
    }

    // MARK: flows

    func answerPlain(
        _ caller: Caller, _ tag: UInt32, _ body: () async throws(Interruption) -> Void
    ) async throws(ConnectionEnd) {
        house.ticker.begin(connection, tag)
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            try await body()
        } catch {
            return try await refuse(error, caller, tag)
        }
        try await connection.send(Done(), .done, tag: tag)
    }

    private func flow(_ request: FlowRequest, _ caller: Caller, _ tag: UInt32)
        async throws(ConnectionEnd)
    {
        let exchange = exchange(caller, tag)
        let house = house
        try await tell(caller, tag) { () async throws(Interruption) in
            try await house.flows.run(request, exchange)
        }
    }

    /// What the person reads at the end.
    private func tell(
        _ caller: Caller, _ tag: UInt32, _ body: () async throws(Interruption) -> Message?
    ) async throws(ConnectionEnd) {
        house.ticker.begin(connection, tag)
        let message: Message?
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            message = try await body()
        } catch {
            return try await refuse(error, caller, tag)
        }
        let voice = house.desk.speech.voice(of: caller)
        let done = message.map { Done(line: voice.line($0)) } ?? Done()
        try await connection.send(done, .done, tag: tag)
    }

    private func pam(_ request: PamRequest, _ caller: Caller, _ tag: UInt32)
        async throws(ConnectionEnd)
    {
        let exchange = exchange(caller, tag)
        house.ticker.begin(connection, tag)
        exchange.cameWithSecret = request.carriesSecret
        let verdict: Verdict
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            verdict = try await house.pam.run(request, exchange)
        } catch {
            switch error {
            case .gone(let end): throw end
            case .refused(let refusal):
                house.desk.noteRefusal(refusal, caller)
                verdict = Verdict(refusing: refusal, to: exchange.audience)
            }
        }
        try await connection.send(verdict, .verdict, tag: tag)
    }

    func refuse(_ error: Interruption, _ caller: Caller, _ tag: UInt32)
        async throws(ConnectionEnd)
    {
        switch error {
        case .gone(let end): throw end
        case .refused(let refusal):
            house.desk.noteRefusal(refusal, caller)
            try await connection.send(
                house.desk.speech.voice(of: caller).refused(refusal), .refused, tag: tag)
        }
    }

    // MARK: export and import

    private enum Progressed { case goesOn, ended }

    private func beginExport(_ target: Target, _ caller: Caller, _ tag: UInt32)
        async throws(ConnectionEnd)
    {
        let exchange = exchange(caller, tag)
        house.ticker.begin(connection, tag)
        let export: Export
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            export = try await house.transfers.beginExport(target, exchange)
        } catch {
            return try await refuse(error, caller, tag)
        }
        phase = .exporting(caller, export)
        let first = Chunk(done: 0, total: export.total, last: false)
        try await connection.send(first, .chunk, tag: tag, payload: export.header)
    }

    private func answer(_ export: Export, tag: UInt32) async throws(ConnectionEnd) -> Progressed {
        if connection.mustWaitToAnswer { try await connection.waitToAnswer() }
        house.ticker.begin(connection, tag)
        let piece: Export.Piece
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            piece = try await export.next()
        } catch {
            try await refuse(error, export.caller, tag)
            return .ended
        }
        try await connection.answer(from: export.records, opening: export.opening) {
            () async throws(ConnectionEnd) in
            try await tell(piece.damaged, tag: tag)
            try await connection.send(piece.chunk, .chunk, tag: tag, payload: piece.bytes)
        }
        return piece.chunk.last ? .ended : .goesOn
    }

    private func beginImport(
        _ begin: ImportBegin, _ header: WipedBuffer, _ caller: Caller, _ tag: UInt32
    ) async throws(ConnectionEnd) {
        let exchange = exchange(caller, tag)
        house.ticker.begin(connection, tag)
        let inflow: Import
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            inflow = try await house.transfers.beginImport(begin, header, exchange)
        } catch {
            return try await refuse(error, caller, tag)
        }
        phase = .importing(caller, inflow)
        try await connection.send(Done(), .done, tag: tag)
    }

    private func answer(
        _ inflow: Import, _ chunk: Chunk, _ bytes: WipedBuffer, tag: UInt32
    ) async throws(ConnectionEnd) -> Progressed {
        house.ticker.begin(connection, tag)
        let step: Import.Progress
        do throws(Interruption) {
            defer { house.ticker.end(connection) }
            step = try await inflow.take(bytes, last: chunk.last)
        } catch {
            try await refuse(error, inflow.caller, tag)
            return .ended
        }
        switch step {
        case .more(let records), .checked(let records):
            let progress = Chunk(done: records, total: 0, last: chunk.last)
            try await connection.send(progress, .progress, tag: tag)
            return .goesOn
        case .stored(let records, let without):
            let line = house.desk.speech.voice(of: inflow.caller).line(
                .imported(count: records, without: without))
            try await connection.send(Done(line: line), .done, tag: tag)
            return .ended
        }
    }
}

extension DamagedRecord {
    fileprivate var wireKind: DamagedRecords.Entry.Kind {
        switch kind {
        case .broken: .broken
        case .unproven: .unproven
        case .missing: .missing
        }
    }
}
