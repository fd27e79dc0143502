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
public struct RuleQuestion: Body, Equatable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The pattern has to be found in the candidate.
        case matches = 1
        /// It must not be found.
        case rejects = 2
        /// libpwquality has to take it; the pattern is empty.
        case dictionary = 3
    }

    public struct Rule: Equatable, Sendable {
        public var kind: Kind
        public var pattern: [UInt8]

        public init(kind: Kind, pattern: [UInt8]) {
            self.kind = kind
            self.pattern = pattern
        }
    }

    public var nonce: [UInt8]
    public var rules: [Rule]

    public init(nonce: [UInt8], rules: [Rule]) {
        self.nonce = nonce
        self.rules = rules
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        nonce = try reader.fixed(RuleLink.nonce, body)
        let count = Int(try reader.u8(body))
        guard count >= 1, count <= RuleLink.rules else { throw .fieldTooLong }
        rules = []
        while rules.count < count {
            guard let kind = Kind(rawValue: try reader.u8(body)) else { throw .unknownValue }
            let pattern = try reader.text(body, limit: RuleLink.pattern)
            rules.append(Rule(kind: kind, pattern: pattern))
        }
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(fixed: nonce)
        sink.put(UInt8(truncatingIfNeeded: rules.count))
        for rule in rules {
            sink.put(rule.kind.rawValue)
            sink.put(text: rule.pattern)
        }
    }
}

/// What one rule says.
public struct RuleAnswer: Body, Equatable {
    public enum Outcome: UInt8, CaseIterable, Sendable {
        case satisfied = 0
        case unmet = 1
        case cannotRun = 2
    }

    /// The question's own.
    public var nonce: [UInt8]
    /// The rule's place in the question, from 0.
    public var place: UInt8
    public var outcome: Outcome
    /// libpwquality's words; else empty.
    public var reason: [UInt8]

    public init(nonce: [UInt8], place: UInt8, outcome: Outcome, reason: [UInt8]) {
        self.nonce = nonce
        self.place = place
        self.outcome = outcome
        self.reason = reason
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        nonce = try reader.fixed(RuleLink.nonce, body)
        place = try reader.u8(body)
        guard let outcome = Outcome(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.outcome = outcome
        reason = try reader.text(body, limit: RuleLink.reason)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(fixed: nonce)
        sink.put(place)
        sink.put(outcome.rawValue)
        sink.put(text: reason)
    }
}
