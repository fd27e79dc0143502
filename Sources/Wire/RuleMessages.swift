/// What appvaultd and appvault-rules say to each other: one question, one answer for each rule in
/// its order, the end. Neither believes a length or a number of the other's.
public enum RuleLink {
    public static let question: UInt16 = 0x60
    public static let answer: UInt16 = 0x61

    public static let rules = 255
    public static let pattern = 1024
    public static let reason = 200
    public static let nonce = 16
    /// The longest body of a question, and of an answer.
    public static let questionFrame = nonce + 1 + rules * (3 + pattern) + 4 + Limits.secret
    public static let answerFrame = nonce + 2 + 2 + reason
    /// Milliseconds from connecting to the last answer.
    public static let wait: UInt64 = 1_000
}

/// The rules of one candidate, which follows as the payload.
public struct RuleQuestion: Body, Fields, Equatable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The pattern has to be found in the candidate.
        case matches = 1
        /// It must not be found.
        case rejects = 2
        /// libpwquality has to take it; the pattern is empty.
        case dictionary = 3
    }

    public struct Rule: Fields, Equatable, Sendable {
        public var kind = Kind.matches
        public var pattern: [UInt8] = []

        public init(kind: Kind, pattern: [UInt8]) {
            self.kind = kind
            self.pattern = pattern
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.value(&kind)
            coder.text(&pattern, limit: RuleLink.pattern)
        }
    }

    public var nonce: [UInt8] = []
    public var rules: [Rule] = []

    public init(nonce: [UInt8], rules: [Rule]) {
        self.nonce = nonce
        self.rules = rules
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.fixed(&nonce, RuleLink.nonce)
        coder.list(&rules, .u8(1...RuleLink.rules))
    }
}

/// What one rule says.
public struct RuleAnswer: Body, Fields, Equatable {
    public enum Outcome: UInt8, CaseIterable, Sendable {
        case satisfied = 0
        case unmet = 1
        case cannotRun = 2
    }

    /// The question's own.
    public var nonce: [UInt8] = []
    /// The rule's place in the question, from 0.
    public var place: UInt8 = 0
    public var outcome = Outcome.cannotRun
    /// libpwquality's words; else empty.
    public var reason: [UInt8] = []

    public init(nonce: [UInt8], place: UInt8, outcome: Outcome, reason: [UInt8]) {
        self.nonce = nonce
        self.place = place
        self.outcome = outcome
        self.reason = reason
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.fixed(&nonce, RuleLink.nonce)
        coder.u8(&place)
        coder.value(&outcome)
        coder.text(&reason, limit: RuleLink.reason)
    }
}
