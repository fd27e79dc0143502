/// Fills the fields of a body from the bytes of a frame. The first thing that is wrong is kept, and
/// nothing is read behind it.
///
/// It holds a pointer, because what a body is generic over cannot hold a span: `fill` alone makes a
/// `Reading`, and its span is alive for as long.
@safe
struct Reading: Coder {
    private var reader: Reader
    private let bytes: UnsafeBufferPointer<UInt8>
    private var wrong: WireError?

    static func fill<F: Fields>(
        _ blank: inout F, _ reader: inout Reader, _ body: Span<UInt8>
    ) throws(WireError) {
        // SAFETY: the Reading ends with the closure, and the pointer is good until then.
        let wrong = unsafe body.withUnsafeBufferPointer { bytes in
            var reading = unsafe Reading(reader: reader, bytes: bytes)
            blank.fields(&reading)
            reader = reading.reader
            return reading.wrong
        }
        if let wrong { throw wrong }
    }

    private mutating func take<T>(
        _ field: inout T, _ read: (inout Reader, Span<UInt8>) throws(WireError) -> T
    ) {
        guard wrong == nil else { return }
        do throws(WireError) {
            // SAFETY: `fill` holds the span that these bytes are of.
            field = try read(&reader, unsafe bytes.span)
        } catch {
            wrong = error
        }
    }

    // Those that the module reads are out of line: each field would bring all of it along.
    @inline(never)
    mutating func u8(_ field: inout UInt8) {
        take(&field) { (reader, body) throws(WireError) in try reader.u8(body) }
    }

    mutating func u16(_ field: inout UInt16) {
        take(&field) { (reader, body) throws(WireError) in try reader.u16(body) }
    }

    @inline(never)
    mutating func u32(_ field: inout UInt32) {
        take(&field) { (reader, body) throws(WireError) in try reader.u32(body) }
    }

    mutating func u64(_ field: inout UInt64) {
        take(&field) { (reader, body) throws(WireError) in try reader.u64(body) }
    }

    @inline(never)
    mutating func flag(_ field: inout Bool) {
        take(&field) { (reader, body) throws(WireError) in try reader.flag(body) }
    }

    mutating func value<V: RawRepresentable>(_ field: inout V) where V.RawValue == UInt8 {
        var number = field.rawValue
        u8(&number)
        if let value = V(rawValue: number) { field = value } else { require(false) }
    }

    mutating func fixed(_ field: inout [UInt8], _ count: Int) {
        take(&field) { (reader, body) throws(WireError) in try reader.fixed(count, body) }
    }

    @inline(never)
    mutating func text(_ field: inout [UInt8], limit: Int) {
        take(&field) { (reader, body) throws(WireError) in try reader.text(body, limit: limit) }
    }

    mutating func bytes(_ field: inout [UInt8], limit: Int) {
        take(&field) { (reader, body) throws(WireError) in try reader.bytes(body, limit: limit) }
    }

    mutating func each<Element>(
        _ list: inout [Element], _ length: ListLength, blank: Element,
        _ fields: (inout Reading, inout Element) -> Void
    ) {
        var count = 0
        take(&count) { (reader, body) throws(WireError) in
            length.isWide ? Int(try reader.u16(body)) : Int(try reader.u8(body))
        }
        require(length.allowed.contains(count), else: .fieldTooLong)
        while wrong == nil, list.count < count {
            var entry = blank
            fields(&self, &entry)
            list.append(entry)
        }
    }

    mutating func require(_ holds: Bool, else error: WireError = .unknownValue) {
        if !holds, wrong == nil { wrong = error }
    }
}
