/// A line for the person: its id, its arguments, and the finished sentence in the person's
/// language.
public struct Line: Fields, Equatable, Sendable {
    public var id: [UInt8] = []
    public var arguments: [[UInt8]] = []
    public var text: [UInt8] = []

    public init(id: [UInt8] = [], arguments: [[UInt8]] = [], text: [UInt8] = []) {
        self.id = id
        self.arguments = arguments
        self.text = text
    }

    public init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.text(&id, limit: Limits.messageID)
        coder.each(&arguments, .parameters, blank: []) { coder, argument in
            coder.text(&argument, limit: Limits.line)
        }
        coder.text(&text, limit: Limits.line)
    }
}

public struct Show: Body, Fields, Equatable {
    public enum Style: UInt8, CaseIterable, Sendable {
        case info = 0
        case error = 1
    }

    public var style = Style.info
    public var line = Line()

    public init(style: Style, line: Line) {
        self.style = style
        self.line = line
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.value(&style)
        coder.part(&line)
    }
}

public struct Ask: Body, Fields, Equatable {
    /// What is asked for, so that a front end without a person can answer the right one.
    public enum Purpose: UInt8, CaseIterable, Sendable {
        case passcode = 1
        case newPasscode = 2
        case confirmPasscode = 3
        case loginPassword = 4
        case passphrase = 5
        case newPassphrase = 6
        case confirmPassphrase = 7
        case recoveryKey = 8
        /// The former login password or the recovery key, after the login password changed behind
        /// our back.
        case former = 9
        /// Enter, to go on.
        case acknowledge = 10
        /// Yes or no; whatever does not mean yes is no.
        case choice = 11
    }

    public var question: UInt32 = 0
    public var purpose = Purpose.passcode
    public var echo = false
    public var line = Line()

    public init(question: UInt32, purpose: Purpose, echo: Bool, line: Line) {
        self.question = question
        self.purpose = purpose
        self.echo = echo
        self.line = line
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u32(&question)
        coder.value(&purpose)
        coder.flag(&echo)
        coder.part(&line)
    }
}

/// A secret that the person is to write down, once, on a terminal: it follows as the payload, and
/// the front end shows the line and then the secret on a line of its own. Never sent to a PAM
/// conversation.
public struct Reveal: Body, Fields, Equatable {
    public var line = Line()

    public init(line: Line) {
        self.line = line
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&line)
    }
}

/// A reader waits for a finger. From `place` to `ended` the person may go on without one: an abort
/// with the same number. One that crosses with `ended` is no answer to anything.
public struct Scan: Body, Fields, Equatable {
    public enum Event: UInt8, CaseIterable, Sendable {
        case place = 1
        /// A part of an enrolment is done.
        case stage = 2
        /// Not read: the line says what helps.
        case retry = 3
        case ended = 4
    }

    public var question: UInt32 = 0
    public var event = Event.place
    /// Parts done, of how many; 0 of 0 where it is no enrolment.
    public var stage: UInt8 = 0
    public var stages: UInt8 = 0
    /// Empty: nothing to be shown.
    public var line = Line()

    public init(
        question: UInt32, event: Event, stage: UInt8 = 0, stages: UInt8 = 0, line: Line = Line()
    ) {
        self.question = question
        self.event = event
        self.stage = stage
        self.stages = stages
        self.line = line
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u32(&question)
        coder.value(&event)
        coder.u8(&stage)
        coder.u8(&stages)
        coder.part(&line)
    }
}

/// The answer to one question; the secret follows as the payload.
public struct Reply: Body, Fields, Equatable {
    public var question: UInt32 = 0

    public init(question: UInt32) {
        self.question = question
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u32(&question)
    }
}

/// No answer will come. Nothing was tried with it.
public struct Abort: Body, Fields, Equatable {
    public enum Reason: UInt8, CaseIterable, Sendable {
        case cancelled = 0
        case conversationFailed = 1
        case answerTooLong = 2
    }

    public var question: UInt32 = 0
    public var reason = Reason.cancelled

    public init(question: UInt32, reason: Reason) {
        self.question = question
        self.reason = reason
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u32(&question)
        coder.value(&reason)
    }
}

/// The end of an exchange that did what was asked; the line may be empty.
public struct Done: Body, Fields, Equatable {
    public var line = Line()

    public init(line: Line = Line()) {
        self.line = line
    }

    public init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&line)
    }
}

/// The end of an exchange that did not: the code, its parameters by name, what happened, and what
/// to do.
public struct Refused: Body, Fields, Equatable {
    public struct Parameter: Fields, Equatable, Sendable {
        public var name: [UInt8] = []
        public var value: [UInt8] = []

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&name, limit: Limits.messageID)
            coder.text(&value, limit: Limits.line)
        }
    }

    /// Kept as a number: a newer daemon may know codes that this front end does not.
    public var code: UInt16 = 0
    public var parameters: [Parameter] = []
    public var message: [UInt8] = []
    public var hint: [UInt8] = []

    public init(
        code: UInt16, parameters: [Parameter] = [], message: [UInt8] = [], hint: [UInt8] = []
    ) {
        self.code = code
        self.parameters = parameters
        self.message = message
        self.hint = hint
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.u16(&code)
        coder.list(&parameters, .parameters)
        coder.text(&message, limit: Limits.line)
        coder.text(&hint, limit: Limits.line)
    }
}
