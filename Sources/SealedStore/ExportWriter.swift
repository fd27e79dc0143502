public import Secrets

/// Makes an export file piece by piece, so that the store can serve others in between. A record
/// that exists from the beginning to the end of the export is in the file exactly once. Sendable
/// without a check, for the same reason as `Records`.
public final class ExportWriter: @unchecked Sendable {
    /// The file's first piece.
    public let header: [UInt8]
    /// How many records were written so far.
    public private(set) var done: UInt64 = 0
    /// What could not be written since this was asked for last.
    private var damaged: [DamagedRecord] = []

    private enum Stage { case records(cursor: UInt64), lastRecords, finished }

    private var stream: SecretStream.Writer
    private var stage = Stage.records(cursor: 0)
    private let plain = Scratch(capacity: ExportChunk.largestText)

    /// The caller derives the key with Argon2id from the passphrase, with this salt at this cost.
    /// No key of this machine is part of it.
    public init(
        key: borrowing SecretBytes, salt: [UInt8], cost: KeyDerivation.Cost
    ) throws(ExportError) {
        guard salt.count == KeyDerivation.saltSize else { throw .malformed(.wrongSize) }
        do throws(SecretsError) { stream = try SecretStream.Writer(key: key) } catch {
            throw ExportError(error)
        }
        header = ExportHeader(cost: cost, salt: salt, stream: stream.header).bytes
    }

    /// The next piece, at most 256 KiB and 21 bytes; nil after the last.
    public func next(from records: Records) throws(ExportError) -> [UInt8]? {
        while plain.count < ExportChunk.largestText, case .records(let cursor) = stage {
            do throws(RecordsError) {
                let next = try records.ready().walk(from: cursor) { name, value in
                    add(name, value)
                    return plain.count < ExportChunk.largestText ? .goOn : .stop
                } damaged: { record in
                    add(record)
                    return plain.count < ExportChunk.largestText ? .goOn : .stop
                }
                stage = next == 0 ? .lastRecords : .records(cursor: next)
            } catch {
                throw .records(error)
            }
        }
        if case .finished = stage { return nil }
        let count = min(plain.count, ExportChunk.largestText)
        var tag = SecretStream.Tag.message
        if case .lastRecords = stage, count == plain.count {
            tag = .final
            stage = .finished
        }
        let piece = try seal(count, tag)
        plain.dropFirst(count)
        return piece
    }

    /// What is damaged was met since the last call, and is not in the file.
    public func takeDamaged() -> [DamagedRecord] {
        defer { damaged = [] }
        return damaged
    }

    /// The file says what is not in it.
    private func add(_ record: DamagedRecord) {
        plain.append(0)
        plain.append(record.kind.rawValue)
        for shift in stride(from: 0, to: 64, by: 8) {
            plain.append(UInt8(truncatingIfNeeded: record.id >> UInt64(shift)))
        }
        plain.append(UInt8(record.name.count))
        plain.append(record.name.span)
        damaged.append(record)
    }

    private func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        plain.append(UInt8(name.count))
        plain.append(name)
        for shift in [0, 8, 16, 24] {
            plain.append(UInt8(truncatingIfNeeded: value.count >> shift))
        }
        plain.append(value)
        done += 1
    }

    private func seal(_ count: Int, _ tag: SecretStream.Tag) throws(ExportError) -> [UInt8] {
        let header = header
        let size = count + SecretStream.overhead
        var piece = [UInt8](repeating: 0, count: 4 + size)
        for index in 0..<4 { piece[index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
        do throws(SecretsError) {
            var span = piece.mutableSpan
            var sealed = span._mutatingExtracting(4...)
            try plain.withBytes { (text) throws(SecretsError) in
                try stream.push(
                    text.extracting(..<count), aad: header.span, tag: tag, into: &sealed)
            }
        } catch {
            throw ExportError(error)
        }
        return piece
    }
}
