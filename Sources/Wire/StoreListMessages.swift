// For programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// Which stores there are: a person's, or, for root, everybody's.
    public struct Stores: Body, Fields, Equatable {
        public var subject = Subject()
        /// Root alone: of all people.
        public var all = false
        /// 0 at first, then what the page before gave.
        public var cursor: UInt32 = 0

        public init(subject: Subject, all: Bool, cursor: UInt32) {
            self.subject = subject
            self.all = all
            self.cursor = cursor
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&subject)
            coder.flag(&all)
            coder.u32(&cursor)
        }
    }

    /// One page of them, by owner and name; cursor 0 ends it. Of no store more is told than `status`
    /// tells, and of none what it holds.
    public struct StoreList: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            /// 16 bytes.
            public var store = [UInt8](repeating: 0, count: 16)
            public var name: [UInt8] = []
            public var owner = Subject()
            public var kind = StoreKind.own
            /// The name of the store that it follows; empty where it follows none, or that one is
            /// gone.
            public var parent: [UInt8] = []
            public var lock = State.Lock.locked
            public var passcode = State.Passcode.unknown
            public var policyKey: [UInt8] = []
            public var createdAt: UInt64 = 0
            /// Where it is open; else 0.
            public var records: UInt64 = 0
            /// On the disk.
            public var bytes: UInt64 = 0
            /// What the peer may do with it; for root, nothing of another person's.
            public var role = StoreRole.owner
            /// How many it is shared with, its owner among them; 0 where it is not shared.
            public var members: UInt16 = 0

            public init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.fixed(&store, 16)
                coder.text(&name, limit: Limits.name)
                coder.part(&owner)
                coder.value(&kind)
                coder.text(&parent, limit: Limits.name)
                coder.value(&lock)
                coder.value(&passcode)
                coder.text(&policyKey, limit: Limits.policyKey)
                coder.u64(&createdAt)
                coder.u64(&records)
                coder.u64(&bytes)
                coder.value(&role)
                coder.u16(&members)
            }
        }

        public var cursor: UInt32 = 0
        public var stores: [Entry] = []

        public init(cursor: UInt32, stores: [Entry]) {
            self.cursor = cursor
            self.stores = stores
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u32(&cursor)
            coder.list(&stores, .page)
        }
    }

#endif
