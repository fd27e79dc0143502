#if !hasFeature(Embedded)
    /// The person is asked what their organisation wants them to agree to.
    public struct ConsentAsk: Body, Fields, Equatable {
        /// Everything, also what they have answered already; what opens their store is asked for
        /// first.
        public var again = false

        public init(again: Bool) {
            self.again = again
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.flag(&again)
        }
    }

    /// What an organisation asks, and what the person has answered.
    public struct ConsentList: Body, Fields, Equatable {
        public struct Item: Fields, Equatable, Sendable {
            public enum Kind: UInt8, CaseIterable, Sendable {
                case licence = 1
                case required = 2
                case optional = 3
            }

            public enum Answer: UInt8, CaseIterable, Sendable {
                case open = 0
                case yes = 1
                case no = 2
            }

            public var id: [UInt8] = []
            public var kind = Kind.licence
            public var title: [UInt8] = []
            public var version: UInt32 = 0
            public var answer = Answer.open
            /// Seconds since 1970; 0 where it is open.
            public var answeredAt: UInt64 = 0

            public init(
                id: [UInt8], kind: Kind, title: [UInt8], version: UInt32, answer: Answer,
                answeredAt: UInt64
            ) {
                (self.id, self.kind, self.title) = (id, kind, title)
                (self.version, self.answer, self.answeredAt) = (version, answer, answeredAt)
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&id, limit: Limits.messageID)
                coder.value(&kind)
                coder.text(&title, limit: Limits.line)
                coder.u32(&version)
                coder.value(&answer)
                coder.u64(&answeredAt)
            }
        }

        public var organisation: [UInt8] = []
        public var items: [Item] = []

        public init(organisation: [UInt8], items: [Item]) {
            (self.organisation, self.items) = (organisation, items)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&organisation, limit: Limits.fleetText)
            coder.list(&items, .u16(0...Limits.consents))
        }
    }
#endif
