internal import Posix
public import Secrets

/// Takes an export file in pieces of any size, as they come. The file is read twice: once to check
/// it to its end, and once, with another reader, to store it. Sendable without a check, for the
/// same reason as `Records`.
public final class ExportReader: @unchecked Sendable {
    /// So many of the names that exist already are kept, to be shown; all are counted.
    private static let namesKept = 16

    /// How many records were read so far.
    public private(set) var done: UInt64 = 0
    /// How many the file says were damaged when it was made, and are not in it.
    public private(set) var missing: UInt64 = 0
    /// How many of them exist in the store already, and the first names; only `check` counts them.
    public private(set) var existing: UInt64 = 0
    public private(set) var existingNames: [[UInt8]] = []
    /// By how many bytes the store would grow; only `check` counts them.
    public private(set) var growth = 0

    private let header: [UInt8]
    private var stream: SecretStream.Reader
    private var isFinished = false
    /// Whether a chunk has opened: then the key is the file's, and a later chunk that does not open
    /// was changed.
    public private(set) var hasOpened = false
    /// Sealed bytes of a chunk that is not complete yet.
    private var sealed: [UInt8] = []
    /// Opened bytes of a record that is not complete yet.
    private let plain = Scratch(capacity: ExportChunk.largestText)

    public init(header: ExportHeader, key: borrowing SecretBytes) throws(ExportError) {
        self.header = header.bytes
        do throws(SecretsError) {
            stream = try SecretStream.Reader(key: key, header: header.stream.span)
        } catch {
            throw ExportError(error)
        }
    }

    /// Changes nothing. Counts the records and looks which names exist already.
    public func check(_ piece: Span<UInt8>, against records: Records) throws(ExportError) {
        let changes = try push(piece)
        do throws(RecordsError) {
            let effect = try records.effect(of: changes)
            growth += effect.growth
            existing += UInt64(effect.existing.count)
            existingNames += effect.existing.prefix(max(0, Self.namesKept - existingNames.count))
        } catch {
            throw .records(error)
        }
    }

    /// Stores the records that this piece completes, in one transaction. Replaces older values, or
    /// refuses them, also values that were stored after the check. Returns what was stored.
    @discardableResult
    public func store(
        _ piece: Span<UInt8>, in records: Records, replace: Bool, within room: Room = .unlimited
    ) throws(ExportError) -> [Change] {
        let changes = try push(piece)
        if !replace {
            let existing: [[UInt8]]
            do throws(RecordsError) {
                existing = try records.existing(among: changes.map(\.name))
            } catch {
                throw .records(error)
            }
            if let name = existing.first { throw .refused(name: name, because: .replaced) }
        }
        let results: [ChangeResult]
        do throws(RecordsError) { results = try records.apply(changes, within: room) } catch {
            throw .records(error)
        }
        for (change, result) in zip(changes, results) where !result.isChange {
            throw .refused(name: change.name, because: result)
        }
        return changes
    }

    /// To be called after the last piece. A file without its last chunk was cut short.
    public func finish() throws(ExportError) {
        guard isFinished else { throw .cutShort }
    }

    /// The records that this piece completes.
    func push(_ piece: Span<UInt8>) throws(ExportError) -> [Change] {
        sealed.reserveCapacity(sealed.count + piece.count)
        for index in piece.indices { sealed.append(piece[index]) }
        var changes: [Change] = []
        var start = 0
        while sealed.count - start >= 4 {
            guard !isFinished else { break }
            let size = (0..<4).reduce(0) { $0 | Int(sealed[start + $1]) << (8 * $1) }
            guard size >= SecretStream.overhead, size <= ExportChunk.largest
            else { throw .malformed(.outOfBounds) }
            guard sealed.count - start - 4 >= size else { break }
            try open(start + 4..<start + 4 + size)
            start += 4 + size
            try takeRecords(into: &changes)
        }
        sealed.removeFirst(start)
        // Nothing may follow the last chunk, and the last chunk must end with a complete record.
        guard !isFinished || (sealed.isEmpty && plain.count == 0)
        else { throw .malformed(.notCanonical) }
        return changes
    }

    private func open(_ range: Range<Int>) throws(ExportError) {
        let old = plain.count
        plain.resize(to: old + range.count - SecretStream.overhead)
        let header = header
        let sealed = sealed
        do throws(SecretsError) {
            let tag = try plain.withMutableBytes { (bytes) throws(SecretsError) in
                var text = bytes._mutatingExtracting(old...)
                return try stream.pull(
                    sealed.span.extracting(range), aad: header.span, into: &text)
            }
            hasOpened = true
            switch tag {
            case .message: break
            case .final: isFinished = true
            }
        } catch {
            throw ExportError(error)
        }
    }

    private func takeRecords(into changes: inout [Change]) throws(ExportError) {
        var position = 0
        let before = changes.count
        do throws(FormatError) {
            try plain.withBytes { (bytes) throws(FormatError) in
                while let entry = try ExportEntry(decoding: bytes, at: position) {
                    switch entry {
                    case .record(let name, let value):
                        changes.append(
                            .set(
                                name: [UInt8](copying: bytes.extracting(name)),
                                value: WipedBuffer(copying: bytes.extracting(value))))
                        position = value.upperBound
                    case .missing(let end):
                        missing += 1
                        position = end
                    }
                }
            }
        } catch {
            throw .malformed(error)
        }
        done += UInt64(changes.count - before)
        plain.dropFirst(position)
    }
}

/// What stands at one place of the text: a record (name length (1), name, value length (4), value),
/// or what is not in the file because it was damaged (0, kind (1), id (8), name length (1), name).
enum ExportEntry {
    case record(name: Range<Int>, value: Range<Int>)
    case missing(end: Int)

    /// Nil if the bytes end before the entry does.
    init?(decoding bytes: Span<UInt8>, at start: Int) throws(FormatError) {
        guard bytes.count - start >= 1 else { return nil }
        let nameCount = Int(bytes[start])
        guard nameCount > 0 else {
            guard let end = try Self.endOfMissing(bytes, start + 1) else { return nil }
            self = .missing(end: end)
            return
        }
        guard bytes.count - start - 1 >= nameCount + 4 else { return nil }
        let name = start + 1..<start + 1 + nameCount
        var valueCount = 0
        for index in 0..<4 { valueCount |= Int(bytes[name.upperBound + index]) << (8 * index) }
        guard valueCount <= RecordBody.largestValue else { throw .outOfBounds }
        let first = name.upperBound + 4
        guard bytes.count - first >= valueCount else { return nil }
        self = .record(name: name, value: first..<first + valueCount)
    }

    private static func endOfMissing(
        _ bytes: Span<UInt8>, _ start: Int
    ) throws(FormatError) -> Int? {
        guard bytes.count - start >= 10 else { return nil }
        guard DamagedRecord.Kind(rawValue: bytes[start]) != nil else { throw .outOfBounds }
        let end = start + 10 + Int(bytes[start + 9])
        return end <= bytes.count ? end : nil
    }
}
