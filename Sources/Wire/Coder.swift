/// Goes through the fields of a body in the order of their bytes. `Reading` fills them, a sink is
/// given them, and the tests have one that tries the ends of each. So a body names a field once.
public protocol Coder: ~Copyable {
    mutating func u8(_ field: inout UInt8)
    mutating func u16(_ field: inout UInt16)
    mutating func u32(_ field: inout UInt32)
    mutating func u64(_ field: inout UInt64)
    mutating func flag(_ field: inout Bool)
    mutating func value<V: RawRepresentable>(_ field: inout V) where V.RawValue == UInt8
    /// So many bytes, without a length.
    mutating func fixed(_ field: inout [UInt8], _ count: Int)
    /// UTF-8 without NUL, behind a 16-bit length.
    mutating func text(_ field: inout [UInt8], limit: Int)
    /// Any bytes behind a 16-bit length.
    mutating func bytes(_ field: inout [UInt8], limit: Int)
    /// A list, whose entries begin as `blank` where they are read.
    mutating func each<Element>(
        _ list: inout [Element], _ length: ListLength, blank: Element,
        _ fields: (inout Self, inout Element) -> Void)
    /// What a reader refuses although each field alone would do.
    mutating func require(_ holds: Bool, else error: WireError)
}

/// How a list says its length, and which lengths are refused.
public struct ListLength: Sendable {
    /// It stands in two bytes, otherwise in one.
    public var isWide: Bool
    public var allowed: ClosedRange<Int>
    /// A list for people: what is over the limit is not written. Others are written whole.
    public var isCut = false

    /// Names of one page, and whatever else is listed.
    static var page: ListLength {
        ListLength(isWide: true, allowed: 0...Limits.page, isCut: true)
    }
    static var texts: ListLength {
        ListLength(isWide: true, allowed: 0...Limits.texts, isCut: true)
    }
    static var parameters: ListLength {
        ListLength(isWide: false, allowed: 0...Limits.parameters, isCut: true)
    }
    static func u8(_ allowed: ClosedRange<Int>) -> ListLength {
        ListLength(isWide: false, allowed: allowed)
    }
    static func u16(_ allowed: ClosedRange<Int>) -> ListLength {
        ListLength(isWide: true, allowed: allowed)
    }
}

/// A body, or a part of one, that names its fields once; what reads it and what writes it follow.
protocol Fields {
    /// A blank one, which a reader fills.
    init()
    /// All fields in the order of their bytes, each with what a reader demands of it. A sink goes
    /// through a copy, and changes nothing.
    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C)
}

extension Coder where Self: ~Copyable {
    mutating func text(_ field: inout [UInt8]) {
        text(&field, limit: Limits.text)
    }

    mutating func i32(_ field: inout Int32) {
        var bits = UInt32(bitPattern: field)
        u32(&bits)
        field = Int32(bitPattern: bits)
    }

    // Out of line: each part would stand in the module once for each body that has it.
    @inline(never)
    mutating func part<F: Fields>(_ field: inout F) {
        field.fields(&self)
    }

    mutating func list<Element: Fields>(_ list: inout [Element], _ length: ListLength) {
        each(&list, length, blank: Element()) { coder, entry in entry.fields(&coder) }
    }
}
