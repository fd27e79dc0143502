/// `get`, `set` (the value follows as the payload) and `delete`, told apart by the frame's type.
public struct Record: Body, Equatable {
    public var store: [UInt8]
    public var name: [UInt8]

    public init(store: [UInt8] = [], name: [UInt8]) {
        self.store = store
        self.name = name
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        store = try reader.text(body, limit: Limits.name)
        name = try reader.bytes(body, limit: Limits.name)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(text: store)
        sink.put(text: name)
    }
}

public struct List: Body, Equatable {
    public var store: [UInt8]
    public var prefix: [UInt8]
    /// 0 at first, then what the page before gave.
    public var cursor: UInt64

    public init(store: [UInt8] = [], prefix: [UInt8], cursor: UInt64) {
        self.store = store
        self.prefix = prefix
        self.cursor = cursor
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        store = try reader.text(body, limit: Limits.name)
        prefix = try reader.bytes(body, limit: Limits.name)
        cursor = try reader.u64(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(text: store)
        sink.put(text: prefix)
        sink.put64(cursor)
    }
}

/// One page of a listing, in no order that means anything; cursor 0 ends it.
public struct Names: Body, Equatable {
    public var cursor: UInt64
    public var names: [[UInt8]]

    public init(cursor: UInt64, names: [[UInt8]]) {
        self.cursor = cursor
        self.names = names
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        cursor = try reader.u64(body)
        let count = Int(try reader.u16(body))
        guard count <= Limits.page else { throw .fieldTooLong }
        names = []
        var index = 0
        while index < count {
            names.append(try reader.bytes(body, limit: Limits.name))
            index += 1
        }
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put64(cursor)
        let count = min(names.count, Limits.page)
        sink.put16(UInt16(truncatingIfNeeded: count))
        for name in names.prefix(count) { sink.put(text: name) }
    }
}

/// `import`: the export file's header follows as the payload.
public struct ImportBegin: Body, Equatable {
    public var target: Target
    /// Records whose names exist already are replaced; otherwise the import is refused.
    public var replace: Bool

    public init(target: Target, replace: Bool) {
        self.target = target
        self.replace = replace
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        target = try Target(&reader, body)
        replace = try reader.flag(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        target.write(to: &sink)
        sink.put(flag: replace)
    }
}

/// A piece of an export file, in either direction, as the payload. The whole file is sent twice at
/// import: once to be checked to its end, once to be stored, so that a file cut short changes
/// nothing.
public struct Chunk: Body, Equatable {
    public var done: UInt64
    public var total: UInt64
    public var last: Bool

    public init(done: UInt64, total: UInt64, last: Bool) {
        self.done = done
        self.total = total
        self.last = last
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        done = try reader.u64(body)
        total = try reader.u64(body)
        last = try reader.flag(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put64(done)
        sink.put64(total)
        sink.put(flag: last)
    }
}
