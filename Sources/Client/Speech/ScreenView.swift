import Posix
import ToolTexts
import Wire

/// A screen, line by line: it works over ssh, and for whoever has it read aloud.
struct ScreenTalk {
    let voice: Voice
    let words: OwnWords
    let answers: Answers
    let marks: Marks
    /// Whoever leaves a new passcode empty wants none.
    var emptyDeclines = false
    /// Asks for a login password until it was proven. Nil if nothing can prove it.
    var login: LoginQuestion?

    /// Why a screen got no answer.
    enum End: Error {
        case cancelled
        /// Ctrl-C, or no more input.
        case interrupted
        case tooLong
        case declined
        case nobody(prompt: [UInt8])
        case broken(ClientError)
    }

    /// What the rules say of what stands in a field.
    typealias Judge = (
        _ answer: borrowing SecretBuffer, _ field: UInt8
    ) throws(ClientError) -> [Checklist.Entry]

    /// What the person does, by its place among the choices, and with which item, from 1 on.
    struct Chosen {
        var choice: Int
        var item = 0
    }

    /// What they typed is put behind `typed`, as an answer has it.
    func run(
        _ screen: Screen, into typed: inout SecretBuffer, judge: Judge
    ) throws(End) -> Chosen {
        voice.screen(screen, words)
        voice.checklist(screen.rules, marks)
        var rounds = ScreenRounds()
        try read(screen)
        if !screen.formFields.isEmpty, !Self.others(screen).isEmpty {
            voice.info(words(.screenInstead))
        }
        let needed = Self.needed(screen)
        for (place, field) in screen.formFields.enumerated() {
            let isFilled = try fill(field, UInt8(place), &rounds, into: &typed, judge)
            guard !isFilled, needed.isEmpty || needed.contains(place) else { continue }
            // Enter alone is an answer, too: nothing more is asked.
            for _ in screen.formFields[(place + 1)...] { typed.put16(0) }
            if place == needed.first ?? 0, let other = try instead(screen) {
                return Chosen(choice: other)
            }
            break
        }
        if !screen.items.isEmpty { return try pick(screen) }
        return Chosen(choice: try choose(screen))
    }

    /// The fields without which Enter does nothing. None where it can be done with all of them empty.
    private static func needed(_ screen: Screen) -> [Int] {
        let needs = screen.choices.first { $0.role != .cancel }?.needs ?? 0
        return screen.formFields.indices.filter { needs & 1 << UInt16($0) != 0 }
    }

    /// What else can be done on a form that was left empty. Nil where there is nothing: then that is the
    /// answer.
    private func instead(_ screen: Screen) throws(End) -> Int? {
        let others = Self.others(screen)
        return others.isEmpty ? nil : try choose(among: others, of: screen, usual: nil)
    }

    /// What can be done besides what Enter does. Empty where that is to cancel, and nothing else.
    private static func others(_ screen: Screen) -> [Int] {
        let taking = screen.choices.firstIndex { $0.role != .cancel }
        let others = screen.choices.indices.filter { $0 != taking }
        return others.contains { screen.choices[$0].role != .cancel } ? others : []
    }

    /// One of the items, by its number, or one of the ways that need none; these are numbered behind
    /// them. Where there are many, a part of a name shows those that have it.
    private func pick(_ screen: Screen) throws(End) -> Chosen {
        guard let first = screen.choices.firstIndex(where: \.needsItem) else {
            throw .broken(.protocolBroken(.undecodable(.unknownValue)))
        }
        // What Enter does in a window is done here by the item's number alone.
        let others = screen.choices.indices.filter { $0 != first }
        let count = screen.items.count
        var shown = Array(screen.items.indices)
        show(screen, shown, others)
        var answer = SecretBuffer(capacity: 64)
        while true {
            answer.removeAll()
            let one = shown.count == 1 && count > 1 ? shown.first : nil
            let prompt =
                one.map { words(.screenChoose, $0 + 1) }
                ?? words(.screenChooseOne, count + others.count)
            try ask(.choice, prompt, echo: true, into: &answer)
            if let number = Self.number(answer, one, of: count + others.count) {
                if number < count { return Chosen(choice: first, item: number + 1) }
                return try take(others[number - count], screen)
            }
            guard count > ItemSearch.few else {
                voice.error(words(.screenChooseNumber, count + others.count))
                continue
            }
            shown = ItemSearch.places(of: Self.text(answer), among: screen.items.map(\.title))
            if shown.isEmpty {
                voice.error(words(.screenFoundNone))
                shown = Array(screen.items.indices)
            } else {
                show(screen, shown, others)
            }
        }
    }

    private func show(_ screen: Screen, _ shown: [Int], _ others: [Int]) {
        for place in shown { voice.screenItem(place + 1, screen.items[place], marks) }
        for (place, choice) in others.enumerated() {
            voice.screenChoice(screen.items.count + place + 1, screen.choices[choice])
        }
        if screen.items.count > ItemSearch.few { voice.info(words(.screenSearch)) }
    }

    /// One that is not what Enter does; where it needs an item, that is asked for.
    private func take(_ choice: Int, _ screen: Screen) throws(End) -> Chosen {
        let way = screen.choices[choice]
        guard way.role != .cancel else { throw .cancelled }
        guard way.needsItem else { return Chosen(choice: choice) }
        var answer = SecretBuffer(capacity: 64)
        while true {
            answer.removeAll()
            try ask(
                .choice, words(.screenWhich, way.label, screen.items.count), echo: true,
                into: &answer)
            if let number = Self.number(answer, nil, of: screen.items.count) {
                return Chosen(choice: choice, item: number + 1)
            }
            voice.error(words(.screenChooseNumber, screen.items.count))
        }
    }

    /// What was typed to search: no secret.
    private static func text(_ answer: borrowing SecretBuffer) -> [UInt8] {
        (0..<answer.count).map { answer[$0] }
    }

    /// What is to be read, page by page.
    private func read(_ screen: Screen) throws(End) {
        guard !screen.document.isEmpty else { return }
        voice.printError([0x0A])
        for text in screen.document {
            switch text.role {
            case .page:
                var nothing = SecretBuffer(capacity: 16)
                try ask(.acknowledge, words(.screenNext), echo: true, into: &nothing)
            case .heading, .paragraph, .item, .link, .hint, .error: voice.screen(text)
            }
        }
        voice.printError([0x0A])
    }

    /// Asks until what was typed meets the rules, as far as a draft tells; then the daemon decides. False
    /// where nothing was typed.
    private func fill(
        _ field: Screen.Field, _ place: UInt8, _ rounds: inout ScreenRounds,
        into typed: inout SecretBuffer, _ judge: Judge
    ) throws(End) -> Bool {
        while true {
            var answer = SecretBuffer(capacity: Limits.secret + 1)
            let prompt =
                field.prefill.isEmpty
                ? field.label : words(.screenPrefilled, field.label, field.prefill)
            try ask(field.purpose, prompt, echo: field.kind != .secret, into: &answer)
            if answer.isEmpty { answer.append(field.prefill) }
            if emptyDeclines, field.isJudged, answer.count == 0 { throw .declined }
            if field.isJudged, answer.count > 0, rounds.isNext {
                let findings: [Checklist.Entry]
                do throws(ClientError) {
                    findings = try judge(answer, place)
                } catch {
                    throw .broken(error)
                }
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

    private func choose(_ screen: Screen) throws(End) -> Int {
        let ways = screen.choices.indices.filter { screen.choices[$0].role != .cancel }
        guard let first = ways.first else {
            throw .broken(.protocolBroken(.undecodable(.unknownValue)))
        }
        if !screen.formFields.isEmpty { return first }
        var answer = SecretBuffer(capacity: 64)
        if ways.count == 1, screen.choices[first].role == .primary {
            let prompt = words(.screenGoOn, screen.choices[first].label)
            try ask(.acknowledge, prompt, echo: true, into: &answer)
            return first
        }
        // Nobody agrees to something by a key that they press to go on, nor removes anything.
        let isHeedless = screen.kind == .document || screen.choices[first].role != .primary
        return try choose(
            among: Array(screen.choices.indices), of: screen, usual: isHeedless ? nil : first)
    }

    private func choose(
        among places: [Int], of screen: Screen, usual: Int?
    ) throws(End) -> Int {
        for (number, place) in places.enumerated() {
            voice.screenChoice(number + 1, screen.choices[place])
        }
        let prompt =
            usual.map { words(.screenChoose, $0 + 1) } ?? words(.screenChooseOne, places.count)
        var answer = SecretBuffer(capacity: 64)
        while true {
            answer.removeAll()
            try ask(.choice, prompt, echo: true, into: &answer)
            guard let number = Self.number(answer, usual, of: places.count) else {
                voice.error(words(.screenChooseNumber, places.count))
                continue
            }
            guard screen.choices[places[number]].role != .cancel else { throw .cancelled }
            return places[number]
        }
    }

    /// Enter alone takes the usual one.
    private static func number(
        _ answer: borrowing SecretBuffer, _ usual: Int?, of count: Int
    ) -> Int? {
        guard answer.count > 0 else { return usual }
        guard answer.count <= 3 else { return nil }
        var number = 0
        for place in 0..<answer.count {
            guard 0x30...0x39 ~= answer[place] else { return nil }
            number = number * 10 + Int(answer[place] - 0x30)
        }
        return 1...count ~= number ? number - 1 : nil
    }

    private func ask(
        _ purpose: Ask.Purpose, _ prompt: [UInt8], echo: Bool, into answer: inout SecretBuffer
    ) throws(End) {
        let outcome: Answers.Outcome
        if purpose == .loginPassword, let login {
            do throws(ClientError) {
                outcome = try login.answer(prompt, into: &answer)
            } catch {
                throw .broken(error)
            }
        } else {
            outcome = answers.answer(purpose, prompt: prompt, echo: echo, into: &answer)
        }
        switch outcome {
        case .answered: return
        case .cancelled: throw .interrupted
        case .tooLong: throw .tooLong
        case .nobody, .overtaken, .busy, .notShown, .exhausted, .notTaken:
            throw .nobody(prompt: prompt)
        }
    }
}

extension Conversation {
    func draw(_ screen: Screen) throws(ClientError) {
        let talk = ScreenTalk(
            voice: voice, words: words, answers: answers, marks: marks,
            emptyDeclines: emptyDeclines, login: login(screen.question))
        var typed = SecretBuffer(capacity: Limits.answers)
        let chosen: ScreenTalk.Chosen
        do throws(ScreenTalk.End) {
            chosen = try talk.run(screen, into: &typed) { (answer, field) throws(ClientError) in
                try judge(answer, Draft(question: screen.question, field: field))
            }
        } catch .cancelled {
            // The daemon may have more to say.
            return try connection.send(Abort(question: screen.question, reason: .cancelled))
        } catch {
            throw try ended(error, screen.question)
        }
        try typed.withSpan { span throws(ClientError) in
            try connection.send(
                Answer(
                    question: screen.question, choice: UInt8(chosen.choice),
                    item: UInt8(chosen.item)), payload: span)
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

    private func ended(_ end: ScreenTalk.End, _ question: UInt32) throws(ClientError) -> ClientError
    {
        switch end {
        case .cancelled, .interrupted: return .refused(try cancel(question))
        case .tooLong: return try tooLong(question)
        case .declined:
            try abort(question, .cancelled)
            return .refused(Refused(.skipped, []))
        case .nobody(let prompt):
            try abort(question, .conversationFailed)
            return .refused(Refused(.passcodeRequired, words(.answerNobody, prompt)))
        case .broken(let error): return error
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

extension Voice {
    func screen(_ screen: Screen, _ words: OwnWords) {
        if screen.kind == .document { printError([0x0A]) }
        if screen.steps > 1 { info(words(.screenStep, Int(screen.step), Int(screen.steps))) }
        // One question says by itself what is asked.
        let isQuestion =
            screen.kind == .form && screen.formFields.count == 1
            && screen.lines.count == 1
        for line in screen.lines where !(isQuestion && line.role == .heading) { self.screen(line) }
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

    func screenItem(_ number: Int, _ item: Screen.Item, _ marks: Marks) {
        let mark = item.mark == .current ? Array("* ".utf8) : Array("  ".utf8)
        let rest = item.subtitle.isEmpty ? [] : Array("  ".utf8) + item.subtitle
        info(mark + Array("\(number)  ".utf8) + item.title + rest)
    }

    func screenChoice(_ number: Int, _ choice: Screen.Choice) {
        info(Array("  \(number)  ".utf8) + choice.label)
    }
}
