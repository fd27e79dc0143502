/// The name of one PAM transaction, kept in its pam_data: 16 random bytes, or none.
public struct Handle: Fields, Equatable, Hashable, Sendable {
    public static let size = 16

    public var bytes: [UInt8] = []

    /// No transaction.
    public static var none: Handle { Handle(bytes: [UInt8](repeating: 0, count: size)) }

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.fixed(&bytes, Handle.size)
    }

    public var isNone: Bool {
        for byte in bytes where byte != 0 { return false }
        return true
    }
}

/// When a finger is asked for.
public enum FingerUse: UInt8, CaseIterable, Sendable {
    /// As it suits the service.
    case byService = 0
    case first = 1
    /// After an empty answer to the passcode's question.
    case onEmpty = 2
    case only = 3
    case off = 4
}

/// Whether the conversation is held with a person, as far as the module sees: a claim, by which a finger is asked for
/// less often and never more.
public enum Presence: UInt8, CaseIterable, Sendable {
    /// Neither a terminal nor a display.
    case unseen = 0
    /// A terminal, while the program's input is something else: the answers may be another program's.
    case aside = 1
    /// The program's input is its terminal, or the terminal's name is a display's.
    case inFront = 2
}

/// pam_sm_authenticate as an authenticator. A token of the stack follows as the payload (empty:
/// none).
public struct Authenticate: Body, Fields, Equatable {
    public var subject = Subject()
    /// The answer to the one prompt may be the login password.
    public var orPassword = false
    /// Nothing may be asked: the stack's token decides.
    public var tokenOnly = false
    /// A flow that is due and could not run denies the login.
    public var enforce = false
    public var finger = FingerUse.byService
    /// Seconds that a finger is waited for; 0: as long as usual.
    public var fingerSeconds: UInt8 = 0
    public var presence = Presence.unseen
    /// The login password that a store keeps for this may become the stack's token, after a finger.
    public var setsToken = false

    public init(subject: Subject) {
        self.subject = subject
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
        coder.flag(&orPassword)
        coder.flag(&tokenOnly)
        coder.flag(&enforce)
        coder.value(&finger)
        coder.u8(&fingerSeconds)
        coder.value(&presence)
        coder.flag(&setsToken)
    }
}

/// pam_sm_authenticate with `unlock`: the stack's token follows as the payload.
public struct Unlock: Body, Fields, Equatable {
    public var subject = Subject()
    /// The transaction of an `or_password` line before us, so that the daemon can see that the
    /// token is the same.
    public var handle = Handle()

    public init(subject: Subject, handle: Handle = .none) {
        self.subject = subject
        self.handle = handle
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
        coder.part(&handle)
    }
}

/// pam_sm_setcred: `auth` as a whole succeeded.
public struct Confirm: Body, Fields, Equatable {
    public var handle = Handle()

    public init(handle: Handle) {
        self.handle = handle
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&handle)
    }
}

/// pam_sm_open_session and, with another type, pam_sm_close_session.
public struct Session: Body, Fields, Equatable {
    public var subject = Subject()
    /// logind's id and class of the session; empty where there is no logind.
    public var id: [UInt8] = []
    public var sessionClass: [UInt8] = []

    public init(subject: Subject, id: [UInt8], sessionClass: [UInt8]) {
        self.subject = subject
        self.id = id
        self.sessionClass = sessionClass
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
        coder.text(&id)
        coder.text(&sessionClass)
    }
}

/// pam_sm_chauthtok behind pam_unix: the former and the new login password follow as two payloads.
public struct Password: Body, Fields, Equatable {
    public var subject = Subject()

    public init(subject: Subject) {
        self.subject = subject
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
    }
}

/// pam_sm_chauthtok in front of pam_unix, with `password_rules`: the person is asked for a new login
/// password until it meets the rules. The former one and, where the stack has it already, the new one
/// follow as two payloads; a new one that is there is judged, and nothing is asked. After a success
/// the last answer to a question for a new passcode is the stack's new token.
public struct PasswordRules: Body, Fields, Equatable {
    public var subject = Subject()

    public init(subject: Subject) {
        self.subject = subject
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
    }
}

/// The end of every exchange with the module.
public struct Verdict: Body, Fields, Equatable {
    public var outcome = Outcome.unavailable
    /// The code of a refusal, 0 with success or ignore; for the module's `debug` line only.
    public var code: UInt16 = 0
    /// The transaction to confirm at setcred, or none.
    public var handle = Handle()

    public init(outcome: Outcome, code: UInt16 = 0, handle: Handle = .none) {
        self.outcome = outcome
        self.code = code
        self.handle = handle
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.value(&outcome)
        coder.u16(&code)
        coder.part(&handle)
    }
}
