import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// What a flow sees of a front end: *show this*, *ask this*. Every flow is written against it once,
/// and reaches every face on that day; a test plays the face.
@LoopActor
protocol Conversation: AnyObject {
    var caller: Caller { get }
    var voice: Voice { get }
    /// Who may hear what depends on a store.
    var audience: Audience { get set }
    /// New passcodes that were held against former ones.
    var candidates: Int { get set }
    /// In a flow that somebody has to go through at a front end that shows no lines (sudo), they
    /// stand in front of the next question.
    var carriesLines: Bool { get set }

    func show(_ message: Message, _ style: Show.Style) async throws(Interruption)
    /// What has to be heard also where no lines are shown: in front of the next question.
    func say(_ message: Message, _ style: Show.Style) async throws(Interruption)
    func ask(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox
    /// A question that is answered with yes, in the person's language or in English, or with
    /// anything else, which is no.
    func choose(_ message: Message) async throws(Interruption) -> Bool
    func reveal(_ message: Message, _ secret: borrowing SecretBytes) async throws(Interruption)
    /// What becomes the stack's token, if the verdict lets the person in: this, or, where it is
    /// nothing, what they answered last.
    func give(token: SecretBox?) async throws(Interruption)
    /// Shows what the reader says until the scan has ended; the person may end it at any time.
    func follow(
        _ run: FingerRun, _ words: (FingerRun.Step) -> Message?
    ) async throws(Interruption) -> FingerEnd
}

extension Conversation {
    func show(_ message: Message) async throws(Interruption) { try await show(message, .info) }
    func say(_ message: Message) async throws(Interruption) { try await say(message, .info) }

    /// An answer that is a passcode or a password.
    func askPasscode(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption)
        -> TypedPasscode
    {
        let answer = try await ask(message, purpose)
        return try refusing { () throws(Refusal) in try TypedPasscode(answer) }
    }
}

/// Why a conversation stops in the middle: the person's no, or the connection's end.
enum Interruption: Error, Equatable {
    case refused(Refusal)
    case gone(ConnectionEnd)
}

/// Whether a front end may be told what depends on a store.
enum Audience: Equatable, Sendable {
    case person
    /// Whoever it is hears the same of a store with no tries left, of an erased one and of none.
    case stranger
}

/// What is refused below ends the conversation.
func refusing<R>(_ body: () throws(Refusal) -> R) throws(Interruption) -> R {
    do throws(Refusal) { return try body() } catch { throw .refused(error) }
}

@LoopActor
func refusingAsync<R>(_ body: () async throws(Refusal) -> R) async throws(Interruption) -> R {
    do throws(Refusal) { return try await body() } catch { throw .refused(error) }
}

extension Verdict {
    /// To a stranger a limit or a throttle looks like any wrong passcode.
    init(refusing refusal: Refusal, to audience: Audience, handle: Handle = .none) {
        let code: Code =
            switch (refusal, audience) {
            case (.throttled, .stranger), (.retryLimitReached, .stranger): .invalidPasscode
            case (_, .person), (_, .stranger): refusal.code
            }
        self.init(outcome: code.outcome, code: code.rawValue, handle: handle)
    }
}
