/// `get`, `set` (the value follows as the payload) and `delete`, told apart by the frame's type.
public struct Record: Body, Fields, Equatable {
    public var store: [UInt8] = []
    public var name: [UInt8] = []

    public init(store: [UInt8] = [], name: [UInt8]) {
        self.store = store
        self.name = name
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.text(&store, limit: Limits.storeText)
        coder.bytes(&name, limit: Limits.name)
    }
}

public struct List: Body, Fields, Equatable {
    public var store: [UInt8] = []
    public var prefix: [UInt8] = []
    /// 0 at first, then what the page before gave.
    public var cursor: UInt64 = 0

    public init(store: [UInt8] = [], prefix: [UInt8], cursor: UInt64) {
        self.store = store
        self.prefix = prefix
        self.cursor = cursor
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.text(&store, limit: Limits.storeText)
        coder.bytes(&prefix, limit: Limits.name)
        coder.u64(&cursor)
    }
}

/// One page of a listing, in no order that means anything; cursor 0 ends it.
public struct Names: Body, Fields, Equatable {
    public var cursor: UInt64 = 0
    public var names: [[UInt8]] = []

    public init(cursor: UInt64, names: [[UInt8]]) {
        self.cursor = cursor
        self.names = names
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u64(&cursor)
        coder.each(&names, .page, blank: []) { coder, name in
            coder.bytes(&name, limit: Limits.name)
        }
    }
}

/// Before a page of a listing, or a piece of an export: what could not be given.
public struct DamagedRecords: Body, Fields, Equatable {
    public struct Entry: Fields, Equatable, Sendable {
        public enum Kind: UInt8, CaseIterable, Sendable {
            /// It does not open.
            case broken = 1
            /// It opens, but nothing shows any more that it is what was stored last.
            case unproven = 2
            /// Records are missing, or were replaced by older ones; nobody knows which.
            case missing = 3
        }

        public var kind = Kind.broken
        public var id: UInt64 = 0
        /// Empty where it cannot be read.
        public var name: [UInt8] = []

        public init(kind: Kind, id: UInt64, name: [UInt8]) {
            self.kind = kind
            self.id = id
            self.name = name
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.value(&kind)
            coder.u64(&id)
            coder.bytes(&name, limit: Limits.name)
        }
    }

    public var records: [Entry] = []

    public init(records: [Entry]) {
        self.records = records
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.list(&records, .page)
    }
}

/// `import`: the export file's header follows as the payload.
public struct ImportBegin: Body, Fields, Equatable {
    public var target = Target()
    /// Records whose names exist already are replaced; otherwise the import is refused.
    public var replace = false

    public init(target: Target, replace: Bool) {
        self.target = target
        self.replace = replace
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&target)
        coder.flag(&replace)
    }
}

/// A piece of an export file, in either direction, as the payload. The whole file is sent twice at
/// import: once to be checked to its end, once to be stored, so that a file cut short changes
/// nothing.
public struct Chunk: Body, Fields, Equatable {
    public var done: UInt64 = 0
    public var total: UInt64 = 0
    public var last = false

    public init(done: UInt64, total: UInt64, last: Bool) {
        self.done = done
        self.total = total
        self.last = last
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u64(&done)
        coder.u64(&total)
        coder.flag(&last)
    }
}
