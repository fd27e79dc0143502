import Posix
import ToolTexts
import Wire

/// A screen of the daemon's, line by line: it works over ssh and for whoever has it read aloud.
extension Conversation {
    func draw(_ screen: Screen) throws(ClientError) {
        voice.screen(screen, words)
        voice.checklist(screen.rules, marks)
        var rounds = ScreenRounds()
        try read(screen)
        var typed = SecretBuffer(capacity: Limits.answers)
        for (place, field) in screen.formFields.enumerated() {
            // Enter alone is an answer, too: nothing more is asked.
            guard try fill(field, UInt8(place), screen, &rounds, into: &typed) else {
                for _ in screen.formFields[(place + 1)...] { typed.put16(0) }
                break
            }
        }
        let choice = try choose(screen)
        try typed.withSpan { span throws(ClientError) in
            try connection.send(
                Answer(question: screen.question, choice: UInt8(choice)), payload: span)
        }
    }

    /// What is to be read, page by page.
    private func read(_ screen: Screen) throws(ClientError) {
        if !screen.document.isEmpty { voice.printError([0x0A]) }
        for text in screen.document {
            switch text.role {
            case .page:
                var nothing = SecretBuffer(capacity: 16)
                try require(
                    answers.answer(
                        .acknowledge, prompt: words(.screenNext), echo: true, into: &nothing),
                    screen, words(.screenNext))
            case .heading, .paragraph, .item, .link, .hint, .error: voice.screen(text)
            }
        }
        if !screen.document.isEmpty { voice.printError([0x0A]) }
    }

    /// Asks until what was typed meets the rules, as far as a draft tells; then the daemon decides. False
    /// where nothing was typed.
    private func fill(
        _ field: Screen.Field, _ place: UInt8, _ screen: Screen, _ rounds: inout ScreenRounds,
        into typed: inout SecretBuffer
    ) throws(ClientError) -> Bool {
        while true {
            var answer = SecretBuffer(capacity: Limits.secret + 1)
            try require(
                answers.answer(
                    field.purpose, prompt: field.label, echo: field.kind != .secret,
                    into: &answer),
                screen, field.label)
            if emptyDeclines, field.isJudged, answer.count == 0 {
                try abort(screen.question, .cancelled)
                throw .refused(Refused(.skipped, []))
            }
            if field.isJudged, answer.count > 0, rounds.isNext {
                let findings = try judge(answer, Draft(question: screen.question, field: place))
                guard findings.allSatisfy({ $0.finding != .unmet }) else {
                    voice.checklist(findings, marks)
                    continue
                }
            }
            typed.put16(UInt16(answer.count))
            typed.append(answer)
            return answer.count > 0
        }
    }

    private func judge(
        _ answer: borrowing SecretBuffer, _ draft: Draft
    ) throws(ClientError) -> [Checklist.Entry] {
        try answer.withSpan { span throws(ClientError) in
            try connection.send(draft, payload: span)
        }
        return try connection.expect(.findings, Findings.self).entries
    }

    /// Which way the person goes: by its place. Whoever cancels is gone.
    private func choose(_ screen: Screen) throws(ClientError) -> Int {
        let ways = screen.choices.indices.filter { screen.choices[$0].role != .cancel }
        guard let first = ways.first else { throw .protocolBroken(.undecodable(.unknownValue)) }
        if ways.count == 1, !screen.formFields.isEmpty { return first }
        var answer = SecretBuffer(capacity: 64)
        if ways.count == 1 {
            let prompt = words(.screenGoOn, screen.choices[first].label)
            try require(
                answers.answer(.acknowledge, prompt: prompt, echo: true, into: &answer), screen,
                prompt)
            return first
        }
        for (number, way) in screen.choices.enumerated() {
            voice.screenChoice(number + 1, way)
        }
        // Nobody agrees to something by a key that they press to go on.
        let usual = screen.kind == .document ? nil : first
        let prompt =
            usual.map { words(.screenChoose, $0 + 1) }
            ?? words(.screenChooseOne, screen.choices.count)
        while true {
            answer.removeAll()
            try require(
                answers.answer(.choice, prompt: prompt, echo: true, into: &answer), screen, prompt)
            guard let chosen = Self.number(answer, usual, of: screen.choices.count) else {
                tell(words(.screenChooseNumber, screen.choices.count), .error)
                continue
            }
            guard screen.choices[chosen].role != .cancel else {
                throw .refused(try cancel(screen.question))
            }
            return chosen
        }
    }

    /// Enter alone takes the usual one.
    private static func number(
        _ answer: borrowing SecretBuffer, _ usual: Int?, of count: Int
    ) -> Int? {
        guard answer.count > 0 else { return usual }
        guard answer.count == 1, 0x31...0x39 ~= answer[0], Int(answer[0] - 0x31) < count else {
            return nil
        }
        return Int(answer[0] - 0x31)
    }

    private func require(
        _ outcome: Answers.Outcome, _ screen: Screen, _ prompt: [UInt8]
    ) throws(ClientError) {
        switch outcome {
        case .answered: return
        case .cancelled: throw .refused(try cancel(screen.question))
        case .tooLong: throw try tooLong(screen.question)
        case .nobody, .overtaken, .busy, .notShown, .exhausted, .notTaken:
            try abort(screen.question, .conversationFailed)
            throw .refused(Refused(.passcodeRequired, words(.answerNobody, prompt)))
        }
    }
}

/// How often a draft is sent back before the daemon decides.
private struct ScreenRounds {
    private var left = 3

    var isNext: Bool {
        mutating get {
            left -= 1
            return left >= 0
        }
    }
}

extension Screen.Field {
    /// What it is for the terminal: nothing of a secret is shown.
    fileprivate var purpose: Ask.Purpose {
        switch kind {
        case .secret: isJudged ? .newPasscode : .confirmPasscode
        case .text, .name, .email, .number: .choice
        }
    }
}

extension Voice {
    func screen(_ screen: Screen, _ words: OwnWords) {
        if screen.kind == .document { printError([0x0A]) }
        if screen.steps > 1 { info(words(.screenStep, Int(screen.step), Int(screen.steps))) }
        for line in screen.lines { self.screen(line) }
    }

    func screen(_ text: Screen.Text) {
        switch text.role {
        case .heading: heading(text.text)
        case .paragraph, .hint, .link: info(text.text)
        case .item: info(Array("\u{2022} ".utf8) + text.text)
        case .error: error(text.text)
        case .page: break
        }
    }

    func screenChoice(_ number: Int, _ choice: Screen.Choice) {
        info(Array("  \(number)  ".utf8) + choice.label)
    }
}
