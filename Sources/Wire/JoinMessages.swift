// Asked for by the command line; the module in other people's processes has no use for it.
#if !hasFeature(Embedded)

    /// Whether this machine is to join an organisation: the person is shown which one, and asked.
    public struct JoinAsk: Body, Fields, Equatable {
        /// A link, or an e-mail address; empty: the person is asked for one.
        public var invitation: [UInt8] = []

        public init(invitation: [UInt8] = []) {
            self.invitation = invitation
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&invitation, limit: Limits.url)
        }
    }

#endif
