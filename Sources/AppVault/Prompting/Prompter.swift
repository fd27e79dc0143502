/// Draws the screens on which a person answers AppVault's questions.
///
/// There are ready-made ones: ``TerminalPrompter``, ``AgentPrompter``, and ``ScriptedPrompter`` for
/// tests. An application with screens of its own writes one more; the article
/// <doc:OwnScreens> shows how.
///
/// At a prompter that can be asked again (``PrompterKind/terminal``, ``PrompterKind/windows``) a
/// wrong passcode, and one to be that is not taken, may be corrected twice. A notice says why it was
/// refused before the question comes again. The third refusal is thrown, and not shown: as
/// ``VaultError/Code/invalidPasscode`` for a wrong passcode. ``VaultError/Code/throttled`` or
/// ``VaultError/Code/retryLimitReached`` may be thrown earlier.
///
/// The calls come one after the other, from one task. ``answer(_:)`` is cancelled where the answer
/// is not needed any more, for example because a finger has opened the store meanwhile: it then
/// closes its screen and returns at once; what it returns is not looked at.
public protocol Prompter: Sendable {
    /// What kind of front end this is. It decides how often a wrong answer is asked for again, and
    /// whether a recovery key may be shown.
    var kind: PrompterKind { get }

    /// Whether it draws whole screens: then ``present(_:)`` gets what belongs together at once,
    /// where the daemon has a screen for it, and ``answer(_:)`` the rest. At a daemon of a former
    /// release all of it comes as questions.
    var drawsScreens: Bool { get }

    /// Draws a screen, and returns when the person has done something on it. It is cancelled as
    /// ``answer(_:)`` is. What was shown since the last screen belongs to this one.
    func present(_ screen: PromptScreen) async -> ScreenAnswer

    /// Asks, and returns when the person has answered.
    func answer(_ question: Question) async -> Answer

    /// Shows a line.
    func show(_ notice: Notice) async

    /// Shows a secret that the person is to write down, such as a recovery key; returns whether they
    /// have seen it. If they have not, the secret is withdrawn.
    func reveal(_ secret: borrowing SecretBytes, _ notice: Notice) async -> Bool

    /// Says what a fingerprint reader waits for.
    func show(_ scan: FingerScan) async

    /// Opens the store in another way than by questions, and returns true; the agent does. False
    /// where the questions are to be asked here.
    func opensByItself(_ store: StoreName) async throws(VaultError) -> Bool
}

/// What kind of front end a prompter is.
public enum PrompterKind: Sendable {
    /// Nobody is there: no question is asked again, and no secret is shown.
    case program
    /// Nobody is there, and the program answers with a passcode that it has made up itself. That is
    /// kept with a passcode that it sets (``StoreState/passcodeSource``).
    case device
    /// A terminal: wrong answers may be corrected, and a recovery key is shown.
    case terminal
    /// Windows: wrong answers may be corrected, and no secret is shown.
    case windows
}

extension Prompter {
    /// Windows.
    public var kind: PrompterKind { .windows }

    /// False.
    public var drawsScreens: Bool { false }

    /// Leaves.
    public func present(_ screen: PromptScreen) async -> ScreenAnswer { .cancel }

    /// Shows nothing, so the secret is withdrawn.
    public func reveal(_ secret: borrowing SecretBytes, _ notice: Notice) async -> Bool { false }

    /// Shows the text as a notice, where there is one.
    public func show(_ scan: FingerScan) async {
        if !scan.text.isEmpty { await show(Notice(id: "fingerprint", text: scan.text)) }
    }

    /// False.
    public func opensByItself(_ store: StoreName) async throws(VaultError) -> Bool { false }
}

/// Answers nothing: what needs an answer fails with ``VaultError/Code/passcodeRequired``.
public struct SilentPrompter: Prompter {
    /// A prompter that answers nothing.
    public init() {}

    /// A program.
    public var kind: PrompterKind { .program }

    /// Says that nobody can answer.
    public func answer(_ question: Question) async -> Answer { .nobody }

    /// Shows nothing.
    public func show(_ notice: Notice) async {}
}

extension Prompter where Self == SilentPrompter {
    /// Answers nothing: what needs an answer fails with ``VaultError/Code/passcodeRequired``.
    public static var silent: SilentPrompter { SilentPrompter() }
}
