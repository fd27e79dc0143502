// Between the daemon and one of its workers; the module in other people's processes has no use for it.
#if !hasFeature(Embedded)

    /// What appvaultd and appvault-fetch say to each other: a question, its answer, and so on until the
    /// daemon closes. The daemon believes nothing of an answer: a bundle says itself whether it is good.
    public enum FetchLink {
        public static let question: UInt16 = 0x80
        public static let answer: UInt16 = 0x81

        public static let nonce = 16
        /// What a server calls one state of a file.
        public static let tag = 256
        /// A bundle, and what a server says to a report.
        public static let content = 1 << 20
        public static let report = 16 << 10
        /// An invitation, and a join file.
        public static let found = 32 << 10
        /// What a server says to whoever signs in: a line.
        public static let said = 200
        /// The longest body of a question, and of an answer.
        public static let questionFrame = nonce + 1 + 2 + 2 + Limits.url + 2 + tag + 4 + report
        public static let answerFrame = nonce + 1 + 2 + 2 + tag + 4 + content
    }

    /// One transfer. What is handed in follows as the payload; it is empty where something is fetched.
    public struct FetchQuestion: Body, Fields, Equatable {
        public enum Method: UInt8, CaseIterable, Sendable {
            case get = 1
            case post = 2
            /// A get of what no organisation stands for yet: without this machine's certificate, of
            /// `found` bytes at most, and only from the very server that is asked.
            case find = 3
            /// Hands in what a person has typed, and brings the first bytes of what the server says to it
            /// as plain text, whatever the status.
            case signIn = 4
        }

        public var nonce: [UInt8] = []
        public var method = Method.get
        /// How long it may take.
        public var seconds: UInt16 = 0
        public var url: [UInt8] = []
        /// The tag of what is here already; empty: none.
        public var tag: [UInt8] = []

        public init(
            nonce: [UInt8], method: Method, seconds: UInt16, url: [UInt8], tag: [UInt8] = []
        ) {
            (self.nonce, self.method, self.seconds) = (nonce, method, seconds)
            (self.url, self.tag) = (url, tag)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FetchLink.nonce)
            coder.value(&method)
            coder.u16(&seconds)
            coder.text(&url, limit: Limits.url)
            coder.text(&tag, limit: FetchLink.tag)
        }
    }

    /// What came of it. What the server sent follows as the payload.
    public struct FetchAnswer: Body, Fields, Equatable {
        public enum Outcome: UInt8, CaseIterable, Sendable {
            /// The server has answered: `status` says how.
            case answered = 0
            /// Nobody knows the server's name.
            case noName = 1
            case noWay = 2
            case refused = 3
            /// The server's certificate: of no CA that counts here, over or not yet valid, another name's.
            case untrusted = 4
            case notValidNow = 5
            case otherName = 6
            /// No encrypted connection came about.
            case noTLS = 7
            /// The machine's own certificate or its file of CAs cannot be used.
            case ownFiles = 8
            case proxy = 9
            /// Too often, or to something that is not https.
            case redirected = 10
            case tooLarge = 11
            case tooSlow = 12
            case cut = 13
            case failed = 14
        }

        /// The question's own.
        public var nonce: [UInt8] = []
        public var outcome = Outcome.failed
        /// HTTP's; 0 where there is none.
        public var status: UInt16 = 0
        /// Of what was sent; empty where the server has none.
        public var tag: [UInt8] = []

        public init(nonce: [UInt8], outcome: Outcome, status: UInt16, tag: [UInt8]) {
            (self.nonce, self.outcome) = (nonce, outcome)
            (self.status, self.tag) = (status, tag)
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&nonce, FetchLink.nonce)
            coder.value(&outcome)
            coder.u16(&status)
            coder.text(&tag, limit: FetchLink.tag)
        }
    }

#endif
