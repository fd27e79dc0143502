// For programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// Somebody whom a store is shared with.
    public enum MemberKind: UInt8, CaseIterable, Sendable {
        case person = 1
        case group = 2
        /// Whoever has an account on this machine.
        case everybody = 3
    }

    /// Shares a store with somebody, changes what they may do, or makes them its owner.
    public struct ShareStore: Body, Fields, Equatable {
        public var target = Target()
        public var kind = MemberKind.person
        /// The account's or the group's; empty where it is everybody.
        public var name: [UInt8] = []
        public var role = StoreRole.writer

        public init(target: Target, kind: MemberKind, name: [UInt8], role: StoreRole) {
            self.target = target
            self.kind = kind
            self.name = name
            self.role = role
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&target)
            coder.value(&kind)
            coder.text(&name)
            coder.value(&role)
        }
    }

    /// Shares it with them no more.
    public struct UnshareStore: Body, Fields, Equatable {
        public var target = Target()
        public var kind = MemberKind.person
        public var name: [UInt8] = []

        public init(target: Target, kind: MemberKind, name: [UInt8]) {
            self.target = target
            self.kind = kind
            self.name = name
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.part(&target)
            coder.value(&kind)
            coder.text(&name)
        }
    }

    /// Whom a store is shared with.
    public struct MemberList: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public var kind = MemberKind.person
            public var name: [UInt8] = []
            /// uid or gid; 0 where it is everybody.
            public var number: UInt32 = 0
            public var role = StoreRole.reader
            /// They wait: nobody could give them their slot yet.
            public var isPending = false
            /// By a group that the store is shared with.
            public var isByGroup = false
            /// Seconds since 1970.
            public var addedAt: UInt64 = 0

            public init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.value(&kind)
                coder.text(&name)
                coder.u32(&number)
                coder.value(&role)
                coder.flag(&isPending)
                coder.flag(&isByGroup)
                coder.u64(&addedAt)
            }
        }

        public var members: [Entry] = []
        /// Somebody was removed, and the store has not got its new key yet.
        public var newKeyIsDue = false

        public init(members: [Entry], newKeyIsDue: Bool) {
            self.members = members
            self.newKeyIsDue = newKeyIsDue
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.list(&members, .page)
            coder.flag(&newKeyIsDue)
        }
    }

#endif
