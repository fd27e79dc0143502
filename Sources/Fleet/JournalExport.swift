/// Reads the journal's export format, piece by piece. What the fields hold was sent by machines, and
/// may be anything.
public struct JournalExport {
    public typealias Fields = [String: [UInt8]]

    private enum State {
        case line
        /// Eight bytes, the lowest first, say how long a value is that has line feeds.
        case size(field: [UInt8])
        case value(field: [UInt8], left: UInt64)
        /// Behind such a value stands one more line feed.
        case afterValue
    }

    /// What is longer counts as nothing; the longest that is looked for is much shorter.
    private static let most = 4096
    /// The fields of one entry that are kept.
    private let wanted: Set<String>
    private var state = State.line
    private var piece: [UInt8] = []
    private var isTooLong = false
    private var fields: Fields = [:]
    /// A field came twice, so nobody knows which one is meant.
    private var isAmbiguous = false

    public init(_ wanted: Set<String>) {
        self.wanted = wanted
    }

    /// Calls `found` with each entry that ends in these bytes; with none of its fields, where it is not
    /// clear which they are.
    public mutating func take(_ bytes: Span<UInt8>, _ found: (Fields) -> Void) {
        for index in bytes.indices { take(bytes[index], found) }
    }

    private mutating func take(_ byte: UInt8, _ found: (Fields) -> Void) {
        switch state {
        case .line:
            guard byte == 0x0A else { return keep(byte) }
            endLine(found)
        case .size(let field):
            piece.append(byte)
            guard piece.count == 8 else { return }
            let size = piece.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            piece = []
            state = size == 0 ? .afterValue : .value(field: field, left: size)
            if size == 0 { set(field, []) }
        case .value(let field, let left):
            keep(byte)
            state = .value(field: field, left: left - 1)
            guard left == 1 else { return }
            if !isTooLong { set(field, piece) }
            clear()
            state = .afterValue
        case .afterValue: state = .line
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if piece.count < Self.most { piece.append(byte) } else { isTooLong = true }
    }

    private mutating func clear() {
        piece = []
        isTooLong = false
    }

    private mutating func endLine(_ found: (Fields) -> Void) {
        defer { clear() }
        guard !piece.isEmpty else {
            if isAmbiguous || !fields.isEmpty { found(isAmbiguous ? [:] : fields) }
            fields = [:]
            isAmbiguous = false
            return
        }
        if let equals = piece.firstIndex(of: UInt8(ascii: "=")) {
            if !isTooLong { set(Array(piece[..<equals]), Array(piece[(equals + 1)...])) }
        } else if !isTooLong {
            state = .size(field: piece)
        }
    }

    private mutating func set(_ field: [UInt8], _ value: [UInt8]) {
        let name = String(decoding: field, as: UTF8.self)
        guard wanted.contains(name) else { return }
        if fields.updateValue(value, forKey: name) != nil { isAmbiguous = true }
    }
}
