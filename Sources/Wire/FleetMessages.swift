// Asked for by the command line and the timer; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// Which organisation the machine has joined, and what of it holds.
    public struct FleetState: Body, Fields, Equatable {
        public struct Taken: Fields, Equatable, Sendable {
            /// 0 where none was taken.
            public var version: UInt64 = 0
            /// Seconds since 1970, both.
            public var signed: UInt64 = 0
            public var expires: UInt64 = 0
            /// Empty where bundles come by other ways alone.
            public var url: [UInt8] = []

            public init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.u64(&version)
                coder.u64(&signed)
                coder.u64(&expires)
                coder.text(&url, limit: Limits.url)
            }
        }

        /// Empty where it has joined none.
        public var organisation: [UInt8] = []
        /// Whom a person asks.
        public var contact: [UInt8] = []
        public var policy = Taken()
        /// Zero where orders come with the policy.
        public var orders = Taken()
        /// The machine's own files change nothing of this policy.
        public var isFinal = false
        /// Whole days in which the machine ran and heard nothing.
        public var offlineDays: UInt32 = 0
        /// After how many of these all is locked, and wiped; 0 where it never is.
        public var lockAfter: UInt32 = 0
        public var wipeAfter: UInt32 = 0
        /// What is wrong with what is kept of it; empty where all is well.
        public var problem: [UInt8] = []
        /// Where reports go; empty where none are handed in.
        public var reportURL: [UInt8] = []
        /// When something was fetched last, in seconds since 1970; 0: never.
        public var fetchedAt: UInt64 = 0
        /// Why nothing came of that; empty where all is well.
        public var fetchProblem: [UInt8] = []

        public init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&organisation, limit: Limits.fleetText)
            coder.text(&contact, limit: Limits.fleetText)
            coder.part(&policy)
            coder.part(&orders)
            coder.flag(&isFinal)
            coder.u32(&offlineDays)
            coder.u32(&lockAfter)
            coder.u32(&wipeAfter)
            coder.text(&problem, limit: Limits.line)
            coder.text(&reportURL, limit: Limits.url)
            coder.u64(&fetchedAt)
            coder.text(&fetchProblem, limit: Limits.line)
        }
    }

#endif
