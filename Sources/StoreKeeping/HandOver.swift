import KeySlots
import Policy
import Posix
import Secrets

/// What a daemon that ends leaves to the next one of this boot: what is open, and who is logged in.
/// It is written into an area that only these two can read, as records that each have a kind and a
/// length; keys go there from guarded memory, and from there into guarded memory.
package struct HandOver: Sendable {
    /// An open store.
    package struct Store: Sendable {
        package let id: StoreID
        /// By the boot clock.
        package let lastUse: UInt64
        package let shutAt: UInt64?
        package let times: Times
        /// What the slots must still say, or somebody has put another file there.
        package let ground: Ground
        /// Of the records alone: they open nothing else.
        package let keys: StoreKey
        /// Of the store key that these were made from.
        package let keyGeneration: UInt32
        /// What it opens besides; nil where it opens nothing.
        package let ring: StoreKey?
    }

    /// What keeps the owner away, and until when the owner has suspended locking.
    package struct Times: Equatable, Sendable {
        package let absences: [Away]
        package let heldSince: UInt64
        package let heldUntil: UInt64?
    }

    /// What a finger opens.
    package struct Resident: Sendable {
        package let id: StoreID
        package let made: ResidentTime
        package let times: Times
        package let ground: Ground
        package let key: StoreKey
    }

    /// A login session, and how often PAM has said that it began.
    package struct LoginSession: Equatable, Sendable {
        package let id: [UInt8]
        package let uid: UInt32
        package let times: UInt32
        package let isListed: Bool

        package init(id: [UInt8], uid: UInt32, times: UInt32, isListed: Bool) {
            self.id = id
            self.uid = uid
            self.times = times
            self.isListed = isListed
        }
    }

    package var stores: [Store] = []
    package var residents: [Resident] = []
    package var sessions: [LoginSession] = []
    /// The owners who were in front at this machine.
    package var inFront: [UInt32] = []
    /// For how long this boot had slept: if it has slept since, nothing stays open.
    package var slept: UInt64

    package init(slept: UInt64) {
        self.slept = slept
    }

    package var isEmpty: Bool { stores.isEmpty && residents.isEmpty }

    /// Why what was left cannot be used.
    package enum Fault: Error, Equatable {
        /// Another program's bytes, or those of an area that was read already.
        case unknown
        case otherVersion
        case otherBoot
        case cut
    }

    // MARK: the layout

    /// Any change of what follows is another version, a further kind of record too: a daemon that
    /// finds a version that it does not know opens nothing.
    package static let version: UInt64 = 2
    private static let magic = Array("AppVault: left to the next".utf8)

    /// A further kind is a case here, a list above, and a part of `records` and of `take`.
    private enum Kind: UInt8 {
        case store = 1
        case resident = 2
        case session = 3
        case personInFront = 4
    }

    private enum GroundKind: UInt8 {
        case device = 0
        case passcode = 1
        case parent = 2
        case member = 3
    }

    private enum Field {
        case byte(UInt8)
        case number(UInt64)
        /// With their length in front.
        case bytes([UInt8])
        case key(StoreKey)
        /// Without a key, its length is 0.
        case noKey

        var size: Int {
            switch self {
            case .byte: 1
            case .number: 8
            case .bytes(let bytes): 2 + bytes.count
            case .key(let key): 2 + key.bytes.count
            case .noKey: 2
            }
        }
    }

    private struct Record {
        let kind: Kind
        let fields: [Field]

        var size: Int { fields.reduce(0) { $0 + $1.size } }
        /// With its kind and its length.
        var whole: Int { 1 + 2 + size }
    }

    private var records: [Record] {
        stores.map { store in
            Record(
                kind: .store,
                fields: [
                    .bytes(store.id.bytes), .number(store.lastUse),
                    .number(store.shutAt ?? .max),
                ] + Self.fields(store.times) + Self.fields(store.ground)
                    + [
                        .key(store.keys), .number(UInt64(store.keyGeneration)),
                        store.ring.map { .key($0) } ?? .noKey,
                    ])
        }
            + residents.map { resident in
                Record(
                    kind: .resident,
                    fields: [
                        .bytes(resident.id.bytes), .number(resident.made.boot),
                        .number(resident.made.wall),
                    ] + Self.fields(resident.times) + Self.fields(resident.ground)
                        + [.key(resident.key)])
            }
            + sessions.map { session in
                Record(
                    kind: .session,
                    fields: [
                        .bytes(session.id), .number(UInt64(session.uid)),
                        .number(UInt64(session.times)), .byte(session.isListed ? 1 : 0),
                    ])
            }
            + inFront.map { Record(kind: .personInFront, fields: [.number(UInt64($0))]) }
    }

    private static func fields(_ times: Times) -> [Field] {
        [
            .number(times.heldSince), .number(times.heldUntil ?? .max),
            .byte(UInt8(times.absences.count)),
        ] + times.absences.flatMap { [.byte(number(of: $0.leave)), .number($0.since)] }
    }

    /// The order of these cases is part of the layout.
    private static func number(of leave: Leave) -> UInt8 {
        UInt8(Leave.allCases.firstIndex(of: leave) ?? 0)
    }

    /// What is left rests on a passcode slot, on there being none, or on another store.
    private static func fields(_ ground: Ground) -> [Field] {
        switch ground {
        case .passcode(let salt): [.byte(GroundKind.passcode.rawValue), .bytes(salt)]
        case .parent: [.byte(GroundKind.parent.rawValue), .bytes([])]
        case .member: [.byte(GroundKind.member.rawValue), .bytes([])]
        case .device, .recovery, .finger, .foreign:
            [.byte(GroundKind.device.rawValue), .bytes([])]
        }
    }

    private static var headSize: Int { magic.count + 8 + BootID.size + 8 + 8 }

    /// How many bytes `encode` writes.
    package var size: Int { records.reduce(Self.headSize) { $0 + $1.whole } }

    /// The target has at least `size` bytes. What is behind them stays as it is.
    package func encode(boot: BootID, into target: inout MutableSpan<UInt8>) {
        let records = records
        var writer = AreaWriter()
        writer.put(Self.magic.span, &target)
        writer.put(Self.version, &target)
        writer.put(boot.bytes.span, &target)
        writer.put(slept, &target)
        writer.put(UInt64(records.reduce(0) { $0 + $1.whole }), &target)
        for record in records {
            writer.put(record.kind.rawValue, &target)
            writer.put(UInt16(record.size), &target)
            for field in record.fields {
                switch field {
                case .byte(let byte): writer.put(byte, &target)
                case .number(let number): writer.put(number, &target)
                case .bytes(let bytes):
                    writer.put(UInt16(bytes.count), &target)
                    writer.put(bytes.span, &target)
                case .key(let key):
                    writer.put(UInt16(key.bytes.count), &target)
                    key.bytes.withBytes { writer.put($0, &target) }
                case .noKey: writer.put(UInt16(0), &target)
                }
            }
        }
    }

    package init(decoding source: Span<UInt8>, boot: BootID) throws(Fault) {
        var reader = AreaReader()
        // An area that is too short for these bytes is not of this program either.
        guard let magic = try? reader.bytes(source, Self.magic.count), magic == Self.magic
        else { throw .unknown }
        guard try reader.number(source, UInt64.self) == Self.version else { throw .otherVersion }
        guard BootID(try reader.bytes(source, BootID.size)) == boot else { throw .otherBoot }
        slept = try reader.number(source, UInt64.self)
        let length = try reader.number(source, UInt64.self)
        guard length <= UInt64(reader.left(source)) else { throw .cut }
        let end = reader.position + Int(length)
        while reader.position < end {
            // Kinds that this version does not have are of another version.
            guard let kind = Kind(rawValue: try reader.number(source, UInt8.self))
            else { throw .otherVersion }
            let size = Int(try reader.number(source, UInt16.self))
            let begin = reader.position
            guard size <= end - begin else { throw .cut }
            try take(kind, source.extracting(..<(begin + size)), &reader)
            guard reader.position == begin + size else { throw .cut }
        }
    }

    private mutating func take(
        _ kind: Kind, _ source: Span<UInt8>, _ reader: inout AreaReader
    ) throws(Fault) {
        switch kind {
        case .store:
            let id = try Self.id(source, &reader)
            let lastUse = try reader.number(source, UInt64.self)
            let shutAt = try reader.moment(source)
            let times = try Self.times(source, &reader)
            let ground = try Self.ground(source, &reader)
            stores.append(
                Store(
                    id: id, lastUse: lastUse, shutAt: shutAt, times: times,
                    ground: ground, keys: try reader.key(source),
                    keyGeneration: try Self.small(source, &reader),
                    ring: try reader.keyIfAny(source)))
        case .resident:
            let id = try Self.id(source, &reader)
            let boot = try reader.number(source, UInt64.self)
            let wall = try reader.number(source, UInt64.self)
            let times = try Self.times(source, &reader)
            let ground = try Self.ground(source, &reader)
            residents.append(
                Resident(
                    id: id, made: ResidentTime(boot: boot, wall: wall), times: times,
                    ground: ground,
                    key: try reader.key(source)))
        case .session:
            let id = try reader.counted(source)
            guard let uid = UInt32(exactly: try reader.number(source, UInt64.self)),
                let times = UInt32(exactly: try reader.number(source, UInt64.self)), times > 0
            else { throw .cut }
            let listed = try reader.number(source, UInt8.self)
            guard listed <= 1 else { throw .cut }
            sessions.append(
                LoginSession(id: id, uid: uid, times: times, isListed: listed == 1))
        case .personInFront:
            guard let uid = UInt32(exactly: try reader.number(source, UInt64.self))
            else { throw .cut }
            inFront.append(uid)
        }
    }

    private static func small(
        _ source: Span<UInt8>, _ reader: inout AreaReader
    ) throws(Fault) -> UInt32 {
        guard let number = UInt32(exactly: try reader.number(source, UInt64.self))
        else { throw .cut }
        return number
    }

    private static func times(
        _ source: Span<UInt8>, _ reader: inout AreaReader
    ) throws(Fault) -> Times {
        let since = try reader.number(source, UInt64.self)
        let until = try reader.moment(source)
        var absences: [Away] = []
        for _ in 0..<(try reader.number(source, UInt8.self)) {
            let leave = Int(try reader.number(source, UInt8.self))
            guard leave < Leave.allCases.count else { throw .cut }
            absences.append(
                Away(Leave.allCases[leave], since: try reader.number(source, UInt64.self)))
        }
        return Times(absences: absences, heldSince: since, heldUntil: until)
    }

    private static func id(
        _ source: Span<UInt8>, _ reader: inout AreaReader
    ) throws(Fault) -> StoreID {
        guard let id = StoreID(bytes: try reader.counted(source)) else { throw .cut }
        return id
    }

    private static func ground(
        _ source: Span<UInt8>, _ reader: inout AreaReader
    ) throws(Fault) -> Ground {
        let kind = GroundKind(rawValue: try reader.number(source, UInt8.self))
        let salt = try reader.counted(source)
        switch kind {
        case .device: return .device
        case .passcode: return .passcode(salt: salt)
        case .parent: return .parent(proven: nil)
        case .member: return .member(proven: nil)
        case nil: throw .cut
        }
    }
}

/// Writes into a buffer that is large enough. Numbers are little-endian.
private struct AreaWriter: ~Copyable {
    private var position = 0

    mutating func put<N: FixedWidthInteger & UnsignedInteger>(
        _ value: N, _ target: inout MutableSpan<UInt8>
    ) {
        var rest = value
        for _ in 0..<N.bitWidth / 8 {
            target[position] = UInt8(truncatingIfNeeded: rest)
            // One byte is shifted out whole.
            rest = N.bitWidth > 8 ? rest >> 8 : 0
            position += 1
        }
    }

    mutating func put(_ bytes: Span<UInt8>, _ target: inout MutableSpan<UInt8>) {
        for index in bytes.indices {
            target[position] = bytes[index]
            position += 1
        }
    }
}

/// Reads what may be cut anywhere.
private struct AreaReader: ~Copyable {
    private(set) var position = 0

    func left(_ source: Span<UInt8>) -> Int { source.count - position }

    private mutating func room(
        _ source: Span<UInt8>, _ count: Int
    ) throws(HandOver.Fault) -> Range<Int> {
        guard count <= left(source) else { throw .cut }
        defer { position += count }
        return position..<position + count
    }

    mutating func number<N: FixedWidthInteger & UnsignedInteger>(
        _ source: Span<UInt8>, _ type: N.Type
    ) throws(HandOver.Fault) -> N {
        var value: N = 0
        for index in try room(source, N.bitWidth / 8).reversed() {
            value = (N.bitWidth > 8 ? value << 8 : 0) | N(source[index])
        }
        return value
    }

    mutating func moment(_ source: Span<UInt8>) throws(HandOver.Fault) -> UInt64? {
        let moment = try number(source, UInt64.self)
        return moment == .max ? nil : moment
    }

    mutating func bytes(
        _ source: Span<UInt8>, _ count: Int
    ) throws(HandOver.Fault) -> [UInt8] {
        try room(source, count).map { source[$0] }
    }

    mutating func counted(_ source: Span<UInt8>) throws(HandOver.Fault) -> [UInt8] {
        try bytes(source, Int(try number(source, UInt16.self)))
    }

    mutating func keyIfAny(_ source: Span<UInt8>) throws(HandOver.Fault) -> StoreKey? {
        let begin = position
        guard try number(source, UInt16.self) > 0 else { return nil }
        position = begin
        return try key(source)
    }

    /// Straight into guarded memory.
    mutating func key(_ source: Span<UInt8>) throws(HandOver.Fault) -> StoreKey {
        let place = try room(source, Int(try number(source, UInt16.self)))
        guard let bytes = try? SecretBytes(copying: source.extracting(place)) else { throw .cut }
        return StoreKey(bytes)
    }
}
