import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

@testable import VaultService

/// Plays the person in a flow: answers each question by its id.
@LoopActor
final class Script: Conversation {
    /// What happens instead of an answer, or before it.
    enum Turn {
        case cancels
        /// The front end sends nothing more.
        case leaves
        /// The front end is found gone once the scan has ended.
        case leavesBehind
        /// No finger comes, and nobody presses a key.
        case waits
        case first(@LoopActor () async -> Void)
    }

    /// What is asked of a finger instead of a question.
    nonisolated static let finger = "finger"

    let caller: Caller
    let voice = Voice.english
    var audience = Audience.person
    var candidates = 0
    var carriesLines = false
    /// The answers, by the id of the question.
    var answers: [String: String]
    /// What no text is, likewise.
    var typed: [String: [UInt8]] = [:]
    /// Each is given once, before those of `answers`.
    var once: [String: String] = [:]
    /// Answers that are others once the turn was played.
    var afterwards: [String: String] = [:]
    /// At the question of that number, the first is 0; a finger that is asked for counts as one.
    private let turn: (question: Int, Turn)?
    private let reader: PlayedReader
    /// What touches come to, one after the other; then no finger comes.
    var touches: [FingerEnd] = []
    private(set) var asked: [String] = []
    private(set) var shown: [String] = []
    /// Of these, what is shown even where no lines are.
    private(set) var insisted: [String] = []
    private(set) var revealed = ""
    /// What was typed as a passcode: the stack's token from then on.
    private(set) var token: String?
    /// What the daemon gave to be the stack's token.
    private(set) var given: String?

    init(
        _ caller: Caller, _ reader: PlayedReader, _ answers: [String: String],
        at turn: (Int, Turn)? = nil
    ) {
        self.caller = caller
        self.reader = reader
        self.answers = answers
        self.turn = turn
    }

    func show(_ message: Message, _ style: Show.Style) { shown.append(message.phrase.id.id) }
    func say(_ message: Message, _ style: Show.Style) { shown.append(message.phrase.id.id) }

    func insist(_ message: Message) {
        shown.append(message.phrase.id.id)
        insisted.append(message.phrase.id.id)
    }

    func ask(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox {
        try await ask(message.phrase.id.id, purpose)
    }

    private func ask(_ id: String, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox {
        let text = once.removeValue(forKey: id) ?? answers[id]
        switch turn(at: id) {
        case .cancels: throw .refused(.cancelled)
        case .leaves, .leavesBehind: throw .gone(.closed)
        case .first(let body):
            await body()
            answers.merge(afterwards) { $1 }
        case .waits, nil: break
        }
        // To what no test expects there is no answer.
        guard let bytes = typed[id] ?? text.map({ Array($0.utf8) }),
            let secret = try? SecretBytes(copying: bytes.span)
        else { throw .gone(.timedOut) }
        if purpose == .passcode { token = text }
        return SecretBox(secret)
    }

    private func turn(at id: String) -> Turn? {
        defer { asked.append(id) }
        guard let turn, turn.question == asked.count else { return nil }
        return turn.1
    }

    func choose(_ message: Message) async throws(Interruption) -> Choice {
        guard let typed = try await ask(message, .choice).take() else { return .neither }
        return typed.withBytes { voice.choice($0) }
    }

    /// Whether this front end draws screens, and what it was given to draw.
    var drawsScreens = false
    private(set) var drawn: [String] = []
    /// What stood in the fields of the last one.
    private(set) var prefilled: [String] = []
    /// What could be done on these, by the names of the buttons.
    private(set) var offered: [String] = []
    /// What was wrong with what was typed so far.
    private(set) var findings: [String] = []

    func present(
        _ sheet: Sheet, judging judge: SheetJudge?
    ) async throws(Interruption) -> SheetAnswer {
        guard drawsScreens else { return try await presentByLines(sheet) }
        drawn.append(sheet.id.rawValue)
        prefilled = sheet.fields.map { String(decoding: $0.prefill, as: UTF8.self) }
        shown += sheet.lines.map(\.message.phrase.id.id)
        var answer = SheetAnswer(button: sheet.ways[0].button)
        offered += sheet.ways.map(\.button.rawValue)
        if !sheet.fields.isEmpty,
            let wanted = once.removeValue(forKey: sheet.id.rawValue) ?? answers[sheet.id.rawValue],
            let way = sheet.ways.first(where: { $0.button.rawValue == wanted })
        {
            return SheetAnswer(button: way.button)
        }
        for field in sheet.fields {
            // A label that is no text of ours has an id of its own.
            let id = String(decoding: field.id, as: UTF8.self)
            let typed =
                id.isEmpty
                ? try await ask(field.label, field.purpose) : try await ask(id, field.purpose)
            if field.isJudged, let judge, let draft = Self.copy(typed) {
                findings = judge(draft).filter { $0.finding == .unmet }.map {
                    String(decoding: $0.id, as: UTF8.self)
                }
            }
            answer.values.append(typed)
        }
        guard sheet.fields.isEmpty else { return answer }
        if !sheet.items.isEmpty {
            // By the name of the button, under that of the screen, as below.
            let wanted = answers[sheet.id.rawValue]
            let way = sheet.ways.first { $0.button.rawValue == wanted } ?? sheet.ways[0]
            answer = SheetAnswer(button: way.button)
            let typed = try await ask(sheet.question, .choice)
            guard way.needsItem else { return answer }
            let bytes = typed.take()?.withBytes { bytes in bytes.indices.map { bytes[$0] } } ?? []
            answer.item = Int(String(decoding: bytes, as: UTF8.self)).map { $0 - 1 }
            return answer
        }
        // By the name of the button, under that of the screen; or as the question is answered.
        let usual = sheet.ways.filter { $0.role != .cancel }
        if usual.count > 1 || usual[0].role == .grave, answers[sheet.id.rawValue]?.count ?? 0 < 2 {
            switch try await choose(sheet.question) {
            case .yes: return answer
            case .no where usual.count > 1: return SheetAnswer(button: usual[1].button)
            // Enter.
            case .neither where usual[0].role == .primary: return answer
            case .no, .neither: throw .refused(.cancelled)
            }
        }
        _ = try await ask(sheet.question, .acknowledge)
        if let wanted = answers[sheet.id.rawValue],
            let way = sheet.ways.first(where: { $0.button.rawValue == wanted })
        {
            answer = SheetAnswer(button: way.button)
        }
        return answer
    }

    private static func copy(_ typed: SecretBox) -> SecretBox? {
        try? typed.read { (secret) throws(SecretsError) in
            let bytes = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            return SecretBox(try SecretBytes(copying: bytes.span))
        }
    }

    func reveal(_ message: Message, _ secret: borrowing SecretBytes) async throws(Interruption) {
        revealed = secret.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        _ = try await ask(message, .acknowledge)
    }

    func give(token: SecretBox?) {
        given = token?.take()?.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    func follow(
        _ run: FingerRun, _ words: (FingerRun.Step) -> Message?
    ) async throws(Interruption) -> FingerEnd {
        var isGone = false
        while true {
            let step = await run.next()
            if let message = words(step) { shown.append(message.phrase.id.id) }
            switch step {
            case .ended(let end):
                if isGone { throw .gone(.closed) }
                return end
            // The touch that comes next is asked for again.
            case .heard(let scan) where scan.event == .retry: break
            case .heard, .noMatch:
                switch turn(at: Self.finger) {
                case .cancels: run.stop(.person)
                case .leaves:
                    isGone = true
                    run.stop(.gone)
                case .leavesBehind: isGone = true
                case .waits: continue
                case .first(let body): await body()
                case nil: break
                }
                if touches.isEmpty {
                    run.stop(.person)
                } else if case .noMatch = step {
                    // Between two scans: the reader loses it.
                    touches.removeFirst()
                } else {
                    reader.touch(touches.removeFirst())
                }
            }
        }
    }
}
