import KeySlots
import Policy
import Posix
import SealedStore
import Secrets
import StoreKeeping
import Wire
import Words

/// An export under way. The client asks for one piece after the other, and the store serves others
/// in between.
@LoopActor
final class Export {
    struct Piece {
        /// What could not be written, since the piece before.
        let damaged: [DamagedRecord]
        let chunk: Chunk
        let bytes: WipedBuffer
    }

    let caller: Caller
    let total: UInt64
    let header: WipedBuffer
    private let desk: Desk
    private let person: Person
    private let host: StoreHost
    let opening: Int
    /// Holds records that were read and not sealed yet. Nil after the end.
    private var writer: ExportWriter?
    /// One piece is read ahead, so that the last one can be marked as such.
    private var ahead: [UInt8]?

    init(
        desk: Desk, caller: Caller, person: Person, host: StoreHost, writer: ExportWriter,
        total: UInt64
    ) {
        self.desk = desk
        self.caller = caller
        self.person = person
        self.host = host
        opening = host.records.opening
        self.writer = writer
        self.total = total
        header = WipedBuffer(bytes: writer.header)
        host.records.follow(self) { [weak self] in self?.end() }
    }

    var records: OpenRecordsQueue { host.records }

    /// Called when it is over, however it ends, and when the store is locked.
    func end() {
        host.records.unfollow(self)
        writer = nil
        ahead = nil
    }

    func next() async throws(Interruption) -> Piece {
        try await desk.requireStill(.reader, person, in: host)
        guard let writer else { throw .refused(host.whyShut) }
        let current: [UInt8]
        if let ahead {
            current = ahead
        } else {
            current = try await piece(of: writer) ?? []
        }
        let ahead = try await piece(of: writer)
        // Locked meanwhile: what was read goes with this.
        guard self.writer != nil else { throw .refused(host.whyShut) }
        self.ahead = ahead
        let damaged = writer.takeDamaged()
        if host.records.note(damaged) { desk.noteDamage(host, caller) }
        let chunk = Chunk(done: writer.done, total: max(total, writer.done), last: ahead == nil)
        return Piece(damaged: damaged, chunk: chunk, bytes: WipedBuffer(bytes: current))
    }

    private func piece(of writer: ExportWriter) async throws(Interruption) -> [UInt8]? {
        let result: Result<[UInt8]?, ExportError>
        do throws(Refusal) {
            // If the store was locked or given to another owner meanwhile, the export must not go
            // on with the next opening.
            guard host.records.opening == opening else { throw host.whyShut }
            result = try await host.walk { (records) throws(RecordsError) in
                Result { () throws(ExportError) in try writer.next(from: records) }
            }
        } catch {
            throw .refused(error)
        }
        switch result {
        case .success(let piece): return piece
        case .failure(let error): throw .refused(TransferRefusal.of(error, .export))
        }
    }
}

/// An import under way. The whole file comes twice: first it is checked to its end, then it is
/// stored. So a file that was cut short changes nothing.
@LoopActor
final class Import {
    enum Progress {
        case more(UInt64)
        case checked(UInt64)
        /// And how many the file is without, because they were damaged.
        case stored(UInt64, without: UInt64)
    }

    let caller: Caller
    private let desk: Desk
    private let person: Person
    private let host: StoreHost
    private let header: ExportHeader
    private let key: SecretBox
    private let replace: Bool
    private let opening: Int
    private var reader: ExportReader
    private var isChecked = false

    init(
        desk: Desk, caller: Caller, person: Person, host: StoreHost, header: ExportHeader,
        key: SecretBox, replace: Bool
    ) throws(Refusal) {
        self.desk = desk
        self.caller = caller
        self.person = person
        self.host = host
        self.header = header
        self.key = key
        self.replace = replace
        opening = host.records.opening
        reader = try Self.reader(header, key)
    }

    private static func reader(_ header: ExportHeader, _ key: SecretBox) throws(Refusal)
        -> ExportReader
    {
        do throws(SecretsError) {
            let made = try key.read { (secret) throws(SecretsError) in
                Result { () throws(ExportError) in try ExportReader(header: header, key: secret) }
            }
            guard let made else { throw SecretsError.wrongSize }
            switch made {
            case .success(let reader): return reader
            case .failure: throw SecretsError.notAuthentic
            }
        } catch {
            throw .storeDamaged(.exportOpensNot)
        }
    }

    /// Takes one piece of the file.
    func take(_ bytes: WipedBuffer, last: Bool) async throws(Interruption) -> Progress {
        try await desk.requireStill(.writer, person, in: host)
        let reader = reader
        let isChecked = isChecked
        let replace = replace
        let result: Result<Void, ExportError>
        do throws(Refusal) {
            guard host.records.opening == opening else { throw host.whyShut }
            if isChecked {
                result = try await host.store { (records, room, stored) throws(RecordsError) in
                    Self.read(bytes, last, reader) { (piece) throws(ExportError) in
                        stored(try reader.store(piece, in: records, replace: replace, within: room))
                    }
                }
            } else {
                result = try await host.walk { (records) throws(RecordsError) in
                    Self.read(bytes, last, reader) { (piece) throws(ExportError) in
                        try reader.check(piece, against: records)
                    }
                }
            }
        } catch {
            throw .refused(error)
        }
        switch result {
        case .success: break
        case .failure(.refused(_, because: .noRoom(let limit))):
            throw .refused(host.records.refusal(limit, .import))
        case .failure(.notAuthentic) where !reader.hasOpened:
            throw .refused(.exportPassphrase(.wrong))
        case .failure(let error): throw .refused(TransferRefusal.of(error, .import))
        }
        guard last else { return .more(reader.done) }
        if isChecked { return .stored(reader.done, without: reader.missing) }
        guard replace || reader.existing == 0 else { throw .refused(.alreadyExists) }
        self.isChecked = true
        let done = reader.done
        do throws(Refusal) {
            // The size is known now, and nothing has been changed yet.
            try await host.records.requireRoom(for: reader.growth, .import)
            self.reader = try Self.reader(header, key)
        } catch {
            throw .refused(error)
        }
        return .checked(done)
    }
}

extension Import {
    private nonisolated static func read(
        _ bytes: WipedBuffer, _ last: Bool, _ reader: ExportReader,
        _ take: (Span<UInt8>) throws(ExportError) -> Void
    ) -> Result<Void, ExportError> {
        Result { () throws(ExportError) in
            try bytes.withBytes { (piece) throws(ExportError) in try take(piece) }
            if last { try reader.finish() }
        }
    }
}

enum TransferRefusal {
    @LoopActor
    static func of(_ error: ExportError, _ during: Refusal.During) -> Refusal {
        switch error {
        case .records(let error): OpenRecordsQueue.plainRefusal(error, during)
        case .notAuthentic: .storeDamaged(.exportChanged)
        case .cutShort: .storeDamaged(.exportCut)
        case .malformed: .storeDamaged(.exportLayout)
        case .refused(_, because: .replaced): .alreadyExists
        case .refused: .storageFailed(during, .value)
        case .outOfMemory: .outOfMemory
        }
    }
}

/// Export and import.
@LoopActor
final class Transfers {
    let desk: Desk
    let settling: Settling
    let proving: Proving

    init(desk: Desk, settling: Settling, proving: Proving) {
        self.desk = desk
        self.settling = settling
        self.proving = proving
    }

    /// An export needs the passcode typed in this exchange: an open store is not enough.
    func beginExport(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Export
    {
        let (visit, ground) = try await proving.openOwn(target, exchange, least: .reader)
        let host = visit.host
        let passphrase = try await askNewPassphrase(exchange)
        try await desk.requireStill(.reader, visit.person, in: host)
        return try await refusingAsync { () async throws(Refusal) in
            let cost = desk.cost(visit.policy)
            let salt: [UInt8]
            do throws(SecretsError) { salt = try Random.bytes(KeyDerivation.saltSize) } catch {
                throw .outOfMemory
            }
            let key = try await self.desk.vault.workers.deriveKey(
                passphrase, salt, cost, .apart, of: visit.person.uid)
            guard let secret = key.take() else { throw .unknown }
            try host.require(ground)
            do throws(ExportError) {
                let writer = try ExportWriter(key: secret, salt: salt, cost: cost)
                return Export(
                    desk: desk, caller: exchange.caller, person: visit.person, host: host,
                    writer: writer, total: host.records.count)
            } catch {
                throw TransferRefusal.of(error, .export)
            }
        }
    }

    /// Characters. Whoever gets hold of the file may guess for as long as they like.
    private static let shortestPassphrase = 8

    private func askNewPassphrase(_ exchange: any Conversation) async throws(Interruption)
        -> TypedPasscode
    {
        let first: TypedPasscode
        let again: TypedPasscode
        if exchange.drawsScreens {
            let sheet = Sheet.newPassphrase(least: Self.shortestPassphrase)
            let typed = try await exchange.passcodes(sheet)
            (first, again) = (typed[0], typed[1])
            try Self.requireLong(first)
        } else {
            // What is too short is not asked for twice.
            first = try await exchange.askPasscode(.newPassphrase, .newPassphrase)
            try Self.requireLong(first)
            again = try await exchange.askPasscode(.confirmPassphrase, .confirmPassphrase)
        }
        guard !first.isEmpty else { throw .refused(.cancelled) }
        guard first.bytes.matches(again.bytes) else { throw .refused(.noMatch) }
        return first
    }

    /// An empty one is none.
    private static func requireLong(_ passphrase: TypedPasscode) throws(Interruption) {
        guard passphrase.isEmpty || passphrase.length >= shortestPassphrase else {
            throw .refused(.exportPassphrase(.short(least: shortestPassphrase)))
        }
    }

    /// Open, and one that the person may write to.
    private func target(
        of request: ImportBegin, _ person: Person
    ) async throws(Interruption) -> StoreHost {
        if let access = try await desk.shared(with: person, named: request.target.store) {
            try access.require(.writer)
            try await desk.open(access, person)
            return access.host
        }
        let host = try desk.requireStore(of: person, request.target)
        try refusing { () throws(Refusal) in try host.requireUsable() }
        try await settling.openIfNone(host, person)
        guard host.isOpen else { throw .refused(host.whyShut) }
        return host
    }

    func beginImport(
        _ request: ImportBegin, _ header: WipedBuffer, _ exchange: any Conversation
    ) async throws(Interruption) -> Import {
        let read: ExportHeader
        do throws(FormatError) {
            read = try header.withBytes { (bytes) throws(FormatError) in
                try ExportHeader(decoding: bytes)
            }
        } catch {
            throw .refused(.invalidArgument(.export))
        }
        let person = try await desk.person(request.target.subject, exchange.caller)
        guard person.uid == exchange.caller.credentials.uid else {
            throw .refused(.notPermitted(.notYours))
        }
        let host = try await target(of: request, person)
        desk.quotaNow(of: host.owner)
        let cost = desk.cost(try await desk.visit(host, person, exchange).policy)
        // The file says what its key costs. A file from a stranger must not be able to take minutes
        // of everybody's processors.
        let most = max(cost.memoryKiB, 262_144)
        guard read.cost.memoryKiB <= most, read.cost.passes <= max(cost.passes, 4) else {
            throw .refused(.invalidArgument(.exportCost))
        }
        let passphrase = try await exchange.passcodes(.passphrase())[0]
        try await desk.requireStill(.writer, person, in: host)
        return try await refusingAsync { () async throws(Refusal) in
            let key = try await host.inTurn(.apart) { () async throws(Refusal) in
                try await self.desk.vault.workers.deriveKey(
                    passphrase, read.salt, read.cost, .apart, of: person.uid)
            }
            return try Import(
                desk: self.desk, caller: exchange.caller, person: person, host: host, header: read,
                key: key,
                replace: request.replace)
        }
    }
}
