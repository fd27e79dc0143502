/// Something that a person is to answer.
public struct Question: Sendable {
    /// What is asked for.
    public enum Purpose: Sendable {
        /// The passcode that opens the store. Each answer is a try, and is counted.
        case passcode
        /// A passcode to be.
        case newPasscode
        /// The same once more.
        case confirmPasscode
        /// The login password.
        case loginPassword
        /// What opens an exported file.
        case passphrase
        /// A passphrase to be.
        case newPassphrase
        /// The same once more.
        case confirmPassphrase
        /// The recovery key.
        case recoveryKey
        /// The former login password, or the recovery key.
        case formerPassword
        /// Nothing: the person has read what was shown.
        case acknowledge
        /// Yes or no.
        case choice
    }

    /// What an entry of a passcode is for.
    public enum Mode: Sendable {
        /// A first passcode is made.
        case create
        /// A store is opened.
        case match
        /// The present passcode is shown before something is changed.
        case matchForChange
        /// The present passcode gets a successor.
        case change
    }

    /// The id of the text. An administrator may replace the text, and never changes its id.
    public var id: String
    /// What is asked for.
    public var purpose: Purpose
    /// What an entry of a passcode is for.
    public var mode: Mode
    /// What stands in the text, by position.
    public var arguments: [String]
    /// The finished text, in the person's language.
    public var text: String
    /// Whether what is typed may be seen.
    public var isVisible: Bool
    /// The store that the call is about. The passcode that is asked for may be another one's: a
    /// store that follows (``StoreState/Kind/follows``) opens with that of its
    /// ``StoreState/parent``, and a shared one (``StoreState/Kind/shared``) with that of the
    /// person's `default`. ``Store/state()`` tells which of them it is.
    public var store: StoreName
    /// What a new passcode has to fulfil, before a letter of it was typed; empty for every other
    /// purpose. ``judge`` says the same for what was typed so far. The notice `create.rules` has
    /// the same as a sentence: whoever shows the checklist leaves that out.
    public var checklist: [PasscodeRule]
    /// Judges a passcode to be by the rules, for a checklist that follows the keys. It is no try.
    public var judge: PasscodeJudge

    /// A question, for tests of a prompter.
    public init(
        id: String, purpose: Purpose, mode: Mode = .match, arguments: [String] = [],
        text: String = "", isVisible: Bool = false, store: StoreName = .default,
        checklist: [PasscodeRule] = [], judge: PasscodeJudge = PasscodeJudge { _ in [] }
    ) {
        self.id = id
        self.purpose = purpose
        self.mode = mode
        self.arguments = arguments
        self.text = text
        self.isVisible = isVisible
        self.store = store
        self.checklist = checklist
        self.judge = judge
    }
}

/// What a rule of the policy says of a passcode to be.
public struct PasscodeRule: Hashable, Sendable {
    /// Whether it is met.
    public enum Finding: Hashable, Sendable {
        /// It is.
        case satisfied
        /// It is not.
        case unmet
        /// It is judged later, when the passcode is set: ``Question/judge`` does not run rules that
        /// are programs, and does not compare with the present passcode or former ones. Show it as
        /// something that is not known yet; it stands in nobody's way.
        case notChecked
    }

    /// The id of the rule.
    public var id: String
    /// Whether it is met.
    public var finding: Finding
    /// What it wants, for people.
    public var wants: String
    /// Why it is not met, where there is more to say.
    public var reason: String

    /// A rule, for tests of a prompter.
    public init(id: String, finding: Finding, wants: String = "", reason: String = "") {
        self.id = id
        self.finding = finding
        self.wants = wants
        self.reason = reason
    }
}

/// Judges passcodes to be by the policy of a store.
public struct PasscodeJudge: Sendable {
    private let judge: @Sendable (borrowing SecretBytes) async throws -> [PasscodeRule]

    /// A judge of your own, for tests of a prompter.
    public init(
        _ judge: @escaping @Sendable (borrowing SecretBytes) async throws -> [PasscodeRule]
    ) {
        self.judge = judge
    }

    /// What each rule says of it, in the order of the rules.
    ///
    /// - Throws: ``VaultError/Code/notRunning``, ``VaultError/Code/busy`` and others where the
    ///   daemon cannot be asked now, ``VaultError/Code/tooLarge`` for more than can be a passcode.
    ///   Go on without the checklist then, and answer what was typed: the daemon judges it anyway,
    ///   and asks again.
    public func callAsFunction(
        _ candidate: borrowing SecretBytes
    ) async throws(VaultError) -> [PasscodeRule] {
        do {
            return try await judge(candidate)
        } catch {
            throw VaultError(error)
        }
    }
}

/// What a person has answered.
public enum Answer: ~Copyable, Sendable {
    /// A passcode, a password, a passphrase or a recovery key. An empty one is as ``cancel``: the
    /// whole call ends with ``VaultError/Code/cancelled``. Where an empty line is a slip, ask again
    /// before you answer. Only where a notice has said that one may go on without a passcode, an
    /// empty one does that, as ``skip``.
    case secret(SecretBytes)
    /// Yes, or: go on.
    case yes
    /// No.
    case no
    /// Goes on without a passcode, where a notice has said that this is possible.
    case skip
    /// Gives up. Nothing is tried, and nothing is changed.
    case cancel
    /// Somebody is there who has no store yet. Nothing is tried, and the call fails with
    /// ``VaultError/Code/addUser``: what comes then is the program's to do.
    case addUser
    /// Somebody else is there, whose store is this one. Likewise, with
    /// ``VaultError/Code/switchUser`` and the name as its parameter `to`.
    case switchUser(to: StoreName)
    /// There is nobody who could answer. The request fails with
    /// ``VaultError/Code/passcodeRequired``.
    case nobody

    /// A secret that is the UTF-8 of a text, for tests and for programs with a fixed passcode.
    public static func text(_ text: String) -> Answer { .secret(SecretBytes(copying: text)) }
}

/// A line that a person is to read.
public struct Notice: Hashable, Sendable {
    /// The id of the text. Some are for a terminal, and an application leaves them out by this id:
    /// `match.reset`, `match.reset.root` and `match.recover` name a command for who has forgotten
    /// the passcode (and `appvault reset`, typed as it stands there, is about `default`),
    /// `match.cancel` says that Enter cancels, and `create.rules` says what the checklist says.
    public var id: String
    /// What stands in it, by position.
    public var arguments: [String]
    /// The finished text, in the person's language.
    public var text: String
    /// Whether something went wrong, such as a try.
    public var isError: Bool

    /// A notice, for tests of a prompter.
    public init(id: String, arguments: [String] = [], text: String = "", isError: Bool = false) {
        self.id = id
        self.arguments = arguments
        self.text = text
        self.isError = isError
    }
}

/// A reader waits for a finger. Until it has ``Event/ended``, the person may
/// ``goOnWithoutFinger()``.
public struct FingerScan: Sendable {
    /// What has happened at the reader.
    public enum Event: Hashable, Sendable {
        /// It waits.
        case place
        /// A part of an enrolment is done.
        case stage
        /// It was not read: the text says what helps.
        case retry
        /// It waits no more.
        case ended
    }

    /// What has happened at the reader.
    public var event: Event
    /// Parts of an enrolment that are done; 0 where it is none.
    public var stage: Int
    /// How many parts an enrolment has; 0 where it is none.
    public var stages: Int
    /// What the person is to read; empty where there is nothing.
    public var text: String

    var skip: Skip?

    /// A scan, for tests of a prompter.
    public init(event: Event, stage: Int = 0, stages: Int = 0, text: String = "") {
        self.event = event
        self.stage = stage
        self.stages = stages
        self.text = text
    }
}
