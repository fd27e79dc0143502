@testable import Wire

/// Writes a body with one of its fields at an end of what it may hold, or past it, and knows what
/// must become of the bytes. The fuzz target begins with all of them.
struct Extremes: Coder {
    private(set) var bytes: [UInt8] = []
    /// What a reader says of the bytes, and how many of them it has seen by then.
    private(set) var wrong: WireError?
    private(set) var shows = 0
    /// How many choices there are for each field; the first is an ordinary one.
    private var choices: [Int] = []
    private let field: Int
    private let choice: Int

    /// Each choice of each field that the body names, with the message that the bytes are where
    /// nothing is wrong with them. The first is ordinary in all fields.
    static func all<B: Fields>(of kind: B.Type) -> [(message: B, written: Extremes)] {
        func write(field: Int, choice: Int) -> (message: B, written: Extremes) {
            var message = B()
            var written = Extremes(field: field, choice: choice)
            message.fields(&written)
            return (message, written)
        }
        let ordinary = write(field: 0, choice: 0)
        return ordinary.written.choices.enumerated().reduce(into: [ordinary]) { all, field in
            for choice in 1..<field.element {
                all.append(write(field: field.offset, choice: choice))
            }
        }
    }

    private init(field: Int, choice: Int) {
        self.field = field
        self.choice = choice
    }

    private mutating func choose<T>(_ from: [T]) -> T {
        choices.append(from.count)
        return from[choices.count - 1 == field ? choice : 0]
    }

    mutating func u8(_ field: inout UInt8) {
        field = choose([1, 0, .max])
        bytes.put(field)
    }

    mutating func u16(_ field: inout UInt16) {
        field = choose([0x0102, 0, .max])
        bytes.put16(field)
    }

    mutating func u32(_ field: inout UInt32) {
        field = choose([0x0102, 0, .max])
        bytes.put32(field)
    }

    mutating func u64(_ field: inout UInt64) {
        field = choose([0x0102_0304_0506_0708, 0, .max])
        bytes.put64(field)
    }

    mutating func flag(_ field: inout Bool) {
        let byte: UInt8 = choose([0, 1, 2, .max])
        field = byte == 1
        bytes.put(byte)
        require(byte <= 1, else: .unknownValue)
    }

    mutating func value<V: RawRepresentable>(_ field: inout V) where V.RawValue == UInt8 {
        let known = (UInt8.min...UInt8.max).filter { V(rawValue: $0) != nil }
        let byte = choose(known + (UInt8.min...UInt8.max).filter { !known.contains($0) }.prefix(1))
        field = V(rawValue: byte) ?? field
        bytes.put(byte)
        require(known.contains(byte), else: .unknownValue)
    }

    mutating func fixed(_ field: inout [UInt8], _ count: Int) {
        field = [UInt8](repeating: choose([0x66, 0, .max]), count: count)
        bytes += field
    }

    mutating func text(_ field: inout [UInt8], limit: Int) {
        run(
            &field, limit, of: 0x61,
            others: [
                (Array("\u{E9}\u{20AC}\u{10FFFF}".utf8.prefix(limit)), nil), ([0x61, 0], .notText),
                ([0xFF], .notText),
            ])
    }

    mutating func bytes(_ field: inout [UInt8], limit: Int) {
        run(&field, limit, of: 0xFF, others: [([0x61, 0], nil)])
    }

    private mutating func run(
        _ field: inout [UInt8], _ limit: Int, of byte: UInt8, others: [([UInt8], WireError?)]
    ) {
        let lengths: [([UInt8], WireError?)] = [
            ([byte], nil), ([], nil), ([UInt8](repeating: byte, count: limit), nil),
            ([UInt8](repeating: byte, count: limit + 1), .fieldTooLong),
        ]
        let (chosen, error) = choose(lengths + others)
        bytes.put16(UInt16(chosen.count))
        // A length over the limit is refused before anything behind it is looked at.
        if error == .fieldTooLong { require(false, else: .fieldTooLong) }
        bytes += chosen
        if let error { require(false, else: error) } else { field = chosen }
    }

    mutating func each<Entry>(
        _ list: inout [Entry], _ length: ListLength, blank: Entry,
        _ fields: (inout Extremes, inout Entry) -> Void
    ) {
        let counts = [0, length.allowed.upperBound, length.allowed.upperBound + 1]
        let count = choose([1] + counts.filter { $0 <= (length.isWide ? 0xFFFF : 0xFF) })
        if length.isWide { bytes.put16(UInt16(count)) } else { bytes.put(UInt8(count)) }
        require(length.allowed.contains(count), else: .fieldTooLong)
        guard count > 0 else { return }
        var entry = blank
        let start = bytes.count
        fields(&self, &entry)
        let written = bytes[start...]
        list = [Entry](repeating: entry, count: count)
        for _ in 1..<count { bytes += written }
    }

    mutating func require(_ holds: Bool, else error: WireError) {
        if !holds, wrong == nil { (wrong, shows) = (error, bytes.count) }
    }
}
