import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// What a flow sees of a front end: *show this*, *ask this*. Each flow is written once against this
/// protocol and then works in every front end. A test can play the front end.
@LoopActor
protocol Conversation: AnyObject {
    var caller: Caller { get }
    var voice: Voice { get }
    /// Whether the front end may be told what depends on a store.
    var audience: Audience { get set }
    /// How many new passcodes were compared with former ones.
    var candidates: Int { get set }
    /// Set in a flow that the person has to go through. At a front end that shows no lines (sudo)
    /// its lines are then put in front of the next question.
    var carriesLines: Bool { get set }

    func show(_ message: Message, _ style: Show.Style) async throws(Interruption)
    /// Shows a line that the person needs even where no lines are shown: there it is put in front
    /// of the next question.
    func say(_ message: Message, _ style: Show.Style) async throws(Interruption)
    /// Shows why no try can be made now: an error that is shown even where no lines are.
    func insist(_ message: Message) async throws(Interruption)
    func ask(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox
    /// Asks a yes-or-no question.
    func choose(_ message: Message) async throws(Interruption) -> Choice
    /// Whether the front end draws screens itself.
    var drawsScreens: Bool { get }
    /// Shows a screen until the person has answered it. Meanwhile drafts of it are judged, where there
    /// is something to judge.
    func present(
        _ sheet: Sheet, judging judge: SheetJudge?
    ) async throws(Interruption) -> SheetAnswer
    func reveal(_ message: Message, _ secret: borrowing SecretBytes) async throws(Interruption)
    /// Sets what becomes the stack's token: `token`, or, if that is nil, the person's last answer.
    func give(token: SecretBox?) async throws(Interruption)
    /// Shows what the reader reports until the scan has ended. The person may end it at any time.
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
        return try refusing { () throws(Refusal) in
            try TypedPasscode(answer, from: caller.source)
        }
    }
}

/// Why a conversation stops before its end: something was refused, or the connection is over.
enum Interruption: Error, Equatable {
    case refused(Refusal)
    case gone(ConnectionEnd)
}

/// Whether a front end may be told what depends on a store.
enum Audience: Equatable, Sendable {
    case person
    /// A stranger is told the same about a store with no tries left, about an erased one and about
    /// none.
    case stranger
}

/// A refusal inside `body` ends the conversation.
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
