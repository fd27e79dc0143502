public import Secrets

/// What went wrong with an export file or with making one.
public enum ExportError: Error, Equatable, Sendable {
    /// The passphrase is a wrong one, or bytes were changed.
    case notAuthentic
    /// The file ends before its last chunk.
    case cutShort
    /// The file is not an export file of this version, or its bytes do not follow the format.
    case malformed(FormatError)
    /// A record of the file could not be stored.
    case refused(name: [UInt8], because: ChangeResult)
    case records(RecordsError)
    case outOfMemory
}

/// The first bytes of an export file: all that is needed to derive its key from the passphrase.
public struct ExportHeader: Equatable, Sendable {
    public static let size = 60
    static let magic: StaticString = "AVEXPORT"
    static let version: UInt16 = 1

    public let cost: KeyDerivation.Cost
    public let salt: [UInt8]
    let stream: [UInt8]

    init(cost: KeyDerivation.Cost, salt: [UInt8], stream: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.stream = stream
    }

    /// Refuses costs beyond the caps, because an attacker may have made the file.
    public init(decoding bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count == Self.size else { throw .wrongSize }
        var reader = ByteReader()
        let magic = try reader.bytes(bytes, Self.magic.utf8CodeUnitCount)
        let isOurs = Self.magic.withUTF8Buffer { text in
            // SAFETY: the range has as many bytes as the literal.
            magic.allSatisfy { unsafe bytes[$0] == text[$0 - magic.lowerBound] }
        }
        guard isOurs, try reader.number(bytes, UInt16.self) == Self.version else { throw .foreign }
        guard try reader.number(bytes, UInt16.self) == 0 else { throw .notCanonical }
        let memory = try reader.number(bytes, UInt32.self)
        let passes = try reader.number(bytes, UInt32.self)
        do throws(SecretsError) {
            cost = try KeyDerivation.Cost(memoryKiB: memory, passes: passes)
        } catch {
            throw .outOfBounds
        }
        salt = [UInt8](copying: bytes.extracting(try reader.bytes(bytes, KeyDerivation.saltSize)))
        stream = [UInt8](
            copying: bytes.extracting(try reader.bytes(bytes, SecretStream.headerSize)))
    }

    public var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var span = bytes.mutableSpan
        var writer = ByteWriter()
        Self.magic.withUTF8Buffer { text in
            // SAFETY: the literal's own bytes.
            for index in 0..<text.count { writer.put(unsafe text[index], &span) }
        }
        writer.put(Self.version, &span)
        writer.put(UInt16(0), &span)
        writer.put(cost.memoryKiB, &span)
        writer.put(cost.passes, &span)
        writer.put(salt.span, &span)
        writer.put(stream.span, &span)
        return bytes
    }
}

/// What follows the header: chunks, each a length and one message of the stream.
enum ExportChunk {
    static let largestText = 262_144
    static let largest = largestText + SecretStream.overhead
}

extension ExportError {
    init(_ error: SecretsError) {
        switch error {
        case .outOfMemory, .libraryUnavailable: self = .outOfMemory
        case .notAuthentic: self = .notAuthentic
        case .wrongSize, .costOutOfBounds: self = .malformed(.wrongSize)
        }
    }
}
