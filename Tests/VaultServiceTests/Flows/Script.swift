import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

@testable import VaultService

/// A person who answers by what is asked: whoever plays the face of a flow.
@LoopActor
final class Script: Conversation {
    /// What comes instead of an answer, or before it.
    enum Turn {
        case cancels
        /// The front end says nothing more.
        case leaves
        case first(@LoopActor () async -> Void)
    }

    let caller: Caller
    let voice = Voice.english
    var audience = Audience.person
    var candidates = 0
    var carriesLines = false
    /// By the id of the question.
    var answers: [String: String]
    /// At the question of that number, the first is 0.
    private let turn: (question: Int, Turn)?
    private(set) var asked: [String] = []
    private(set) var shown: [String] = []
    private(set) var revealed = ""

    init(_ caller: Caller, _ answers: [String: String], at turn: (Int, Turn)? = nil) {
        self.caller = caller
        self.answers = answers
        self.turn = turn
    }

    func show(_ message: Message, _ style: Show.Style) { shown.append(message.phrase.id.id) }
    func say(_ message: Message, _ style: Show.Style) { shown.append(message.phrase.id.id) }

    func ask(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox {
        let number = asked.count
        let id = message.phrase.id.id
        asked.append(id)
        if let (question, turn) = turn, question == number {
            switch turn {
            case .cancels: throw .refused(.cancelled)
            case .leaves: throw .gone(.closed)
            case .first(let body): await body()
            }
        }
        // Nobody has an answer to what no test expects.
        guard let text = answers[id], let secret = try? SecretBytes(copying: Array(text.utf8).span)
        else { throw .gone(.timedOut) }
        return SecretBox(secret)
    }

    func choose(_ message: Message) async throws(Interruption) -> Bool {
        guard let typed = try await ask(message, .choice).take() else { return false }
        return typed.withBytes { voice.isYes($0) }
    }

    func reveal(_ message: Message, _ secret: borrowing SecretBytes) async throws(Interruption) {
        revealed = secret.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        _ = try await ask(message, .acknowledge)
    }

    func give(token: SecretBox?) {}

    /// There is no reader.
    func follow(
        _ run: FingerRun, _ words: (FingerRun.Step) -> Message?
    ) async throws(Interruption) -> FingerEnd { .stopped(.nobody) }
}
