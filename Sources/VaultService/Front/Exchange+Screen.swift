import Posix
import Secrets
import Wire
import Words

/// A screen as a front end draws it.
extension Exchange {
    var drawsScreens: Bool { caller.hello.version >= Limits.versionWithScreens }

    func present(_ sheet: Sheet) async throws(Interruption) -> Sheet.Answer {
        guard drawsScreens else { return try await presentByLines(sheet) }
        let question = newQuestion()
        let isSecret = !sheet.fields.isEmpty
        return try await whileAsking { () async throws(Interruption) in
            do throws(ConnectionEnd) {
                try await connection.send(sheet.screen(question, voice), .screen, tag: tag)
            } catch {
                throw .gone(error)
            }
            var drafts = 0
            while true {
                switch try await receiveAnswer(until: deadline(after: sheet.wait)) {
                case .answer(let answer, let typed) where answer.question == question:
                    if isSecret { noteAnswered() }
                    return try sheet.answer(answer, typed)
                case .draft(let draft, let typed) where draft.question == question:
                    drafts += 1
                    guard drafts <= Limits.drafts, let judge = sheet.judge,
                        sheet.fields.indices.contains(Int(draft.field)),
                        sheet.fields[Int(draft.field)].isJudged
                    else { throw .gone(.notUnderstood(.unknownValue)) }
                    let findings = Findings(question: question, entries: judge(typed))
                    do throws(ConnectionEnd) {
                        try await connection.send(findings, .findings, tag: tag)
                    } catch {
                        throw .gone(error)
                    }
                case .abort(let abort) where abort.question == question:
                    throw Self.interruption(abort)
                case .reply, .abort, .answer, .draft, .hello, .pam, .flow, .record, .item, .query,
                    .fleet, .transfer, .exportNext, .importChunk, .watch:
                    throw .gone(.notUnderstood(.unknownValue))
                }
            }
        }
    }
}

extension Sheet {
    fileprivate func screen(_ question: UInt32, _ voice: Voice) -> Screen {
        var screen = Screen(question: question, kind: kind, id: Array(id.rawValue.utf8))
        screen.picture = picture
        (screen.step, screen.steps) = step
        screen.lines = lines.prefix(Limits.screenLines).map {
            Screen.Text($0.role, voice.line($0.message).text)
        }
        screen.formFields = fields.map { field in
            let label = voice.line(field.label)
            return Screen.Field(
                .secret, id: label.id, label: label.text, isJudged: field.isJudged)
        }
        screen.rules = Array(rules.prefix(Limits.screenRules))
        let all = (UInt16(1) << UInt16(fields.count)) - 1
        screen.choices = ways.map { way in
            Screen.Choice(
                way.role, id: Array(way.button.rawValue.utf8),
                label: voice.line(way.label).text,
                needs: way.role == .primary ? all : 0)
        }
        screen.document = Array(document.prefix(Limits.documentTexts))
        return screen
    }

    /// What came back, if it can be an answer to this.
    fileprivate func answer(
        _ answer: Wire.Answer, _ typed: SecretBox
    ) throws(Interruption) -> Answer {
        guard ways.indices.contains(Int(answer.choice)), answer.item == 0 else {
            throw .gone(.notUnderstood(.unknownValue))
        }
        let way = ways[Int(answer.choice)]
        guard way.role != .cancel else { throw .refused(.cancelled) }
        var found = Answer(button: way.button)
        guard way.role == .primary else { return found }
        guard let secret = typed.take(), let values = secret.values, values.count == fields.count
        else {
            if fields.isEmpty { return found }
            throw .gone(.notUnderstood(.unknownValue))
        }
        found.values = values
        return found
    }
}

extension SecretBytes {
    /// The values of an answer: each behind its 16-bit length. Nil where they are no such row.
    fileprivate var values: [SecretBox]? {
        withBytes { bytes in
            var values: [SecretBox] = []
            var place = 0
            while place < bytes.count {
                guard place + 2 <= bytes.count else { return nil }
                let count = Int(bytes[place]) | Int(bytes[place + 1]) << 8
                place += 2
                guard count <= Limits.secret, place + count <= bytes.count,
                    let value = try? SecretBytes(
                        copying: bytes.extracting(place..<(place + count)))
                else { return nil }
                values.append(SecretBox(value))
                place += count
            }
            return values
        }
    }
}
