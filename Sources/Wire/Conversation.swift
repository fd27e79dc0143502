/// A line for the person: its id, its arguments, and the finished sentence in the person's
/// language.
public struct Line: Equatable, Sendable {
    public var id: [UInt8]
    public var arguments: [[UInt8]]
    public var text: [UInt8]

    public init(id: [UInt8] = [], arguments: [[UInt8]] = [], text: [UInt8] = []) {
        self.id = id
        self.arguments = arguments
        self.text = text
    }

    init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        id = try reader.text(body, limit: Limits.messageID)
        let count = Int(try reader.u8(body))
        guard count <= Limits.parameters else { throw .fieldTooLong }
        arguments = []
        var index = 0
        while index < count {
            arguments.append(try reader.text(body, limit: Limits.line))
            index += 1
        }
        text = try reader.text(body, limit: Limits.line)
    }

    func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(text: id)
        let count = min(arguments.count, Limits.parameters)
        sink.put(UInt8(truncatingIfNeeded: count))
        for argument in arguments.prefix(count) { sink.put(text: argument) }
        sink.put(text: text)
    }
}

public struct Show: Body, Equatable {
    public enum Style: UInt8, CaseIterable, Sendable {
        case info = 0
        case error = 1
    }

    public var style: Style
    public var line: Line

    public init(style: Style, line: Line) {
        self.style = style
        self.line = line
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        guard let style = Style(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.style = style
        line = try Line(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(style.rawValue)
        line.write(to: &sink)
    }
}

public struct Ask: Body, Equatable {
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

    public var question: UInt32
    public var purpose: Purpose
    public var echo: Bool
    public var line: Line

    public init(question: UInt32, purpose: Purpose, echo: Bool, line: Line) {
        self.question = question
        self.purpose = purpose
        self.echo = echo
        self.line = line
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        question = try reader.u32(body)
        guard let purpose = Purpose(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.purpose = purpose
        echo = try reader.flag(body)
        line = try Line(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put32(question)
        sink.put(purpose.rawValue)
        sink.put(flag: echo)
        line.write(to: &sink)
    }
}

/// A secret that the person is to write down, once, on a terminal: it follows as the payload, and
/// the front end shows the line and then the secret on a line of its own. Never sent to a PAM
/// conversation.
public struct Reveal: Body, Equatable {
    public var line: Line

    public init(line: Line) {
        self.line = line
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        line = try Line(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        line.write(to: &sink)
    }
}

/// A reader waits for a finger. From `place` to `ended` the person may go on without one: an abort
/// with the same number. One that crosses with `ended` is no answer to anything.
public struct Scan: Body, Equatable {
    public enum Event: UInt8, CaseIterable, Sendable {
        case place = 1
        /// A part of an enrolment is done.
        case stage = 2
        /// Not read: the line says what helps.
        case retry = 3
        case ended = 4
    }

    public var question: UInt32
    public var event: Event
    /// Parts done, of how many; 0 of 0 where it is no enrolment.
    public var stage: UInt8
    public var stages: UInt8
    /// Empty: nothing to be shown.
    public var line: Line

    public init(
        question: UInt32, event: Event, stage: UInt8 = 0, stages: UInt8 = 0, line: Line = Line()
    ) {
        self.question = question
        self.event = event
        self.stage = stage
        self.stages = stages
        self.line = line
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        question = try reader.u32(body)
        guard let event = Event(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.event = event
        stage = try reader.u8(body)
        stages = try reader.u8(body)
        line = try Line(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put32(question)
        sink.put(event.rawValue)
        sink.put(stage)
        sink.put(stages)
        line.write(to: &sink)
    }
}

/// The answer to one question; the secret follows as the payload.
public struct Reply: Body, Equatable {
    public var question: UInt32

    public init(question: UInt32) {
        self.question = question
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        question = try reader.u32(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put32(question)
    }
}

/// No answer will come. Nothing was tried with it.
public struct Abort: Body, Equatable {
    public enum Reason: UInt8, CaseIterable, Sendable {
        case cancelled = 0
        case conversationFailed = 1
        case answerTooLong = 2
    }

    public var question: UInt32
    public var reason: Reason

    public init(question: UInt32, reason: Reason) {
        self.question = question
        self.reason = reason
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        question = try reader.u32(body)
        guard let reason = Reason(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.reason = reason
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put32(question)
        sink.put(reason.rawValue)
    }
}

/// The end of an exchange that did what was asked; the line may be empty.
public struct Done: Body, Equatable {
    public var line: Line

    public init(line: Line = Line()) {
        self.line = line
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        line = try Line(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        line.write(to: &sink)
    }
}

/// The end of an exchange that did not: the code, its parameters by name, what happened, and what
/// to do.
public struct Refused: Body, Equatable {
    public struct Parameter: Equatable, Sendable {
        public var name: [UInt8]
        public var value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// Kept as a number: a newer daemon may know codes that this front end does not.
    public var code: UInt16
    public var parameters: [Parameter]
    public var message: [UInt8]
    public var hint: [UInt8]

    public init(
        code: UInt16, parameters: [Parameter] = [], message: [UInt8] = [], hint: [UInt8] = []
    ) {
        self.code = code
        self.parameters = parameters
        self.message = message
        self.hint = hint
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        code = try reader.u16(body)
        let count = Int(try reader.u8(body))
        guard count <= Limits.parameters else { throw .fieldTooLong }
        parameters = []
        var index = 0
        while index < count {
            let name = try reader.text(body, limit: Limits.messageID)
            parameters.append(
                Parameter(name: name, value: try reader.text(body, limit: Limits.line)))
            index += 1
        }
        message = try reader.text(body, limit: Limits.line)
        hint = try reader.text(body, limit: Limits.line)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put16(code)
        let count = min(parameters.count, Limits.parameters)
        sink.put(UInt8(truncatingIfNeeded: count))
        for parameter in parameters.prefix(count) {
            sink.put(text: parameter.name)
            sink.put(text: parameter.value)
        }
        sink.put(text: message)
        sink.put(text: hint)
    }
}
