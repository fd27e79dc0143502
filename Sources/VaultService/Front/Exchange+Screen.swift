import Posix
import Secrets
import Wire
import Words

/// A screen as a front end draws it.
extension Exchange {
    var drawsScreens: Bool { caller.hello.version >= Limits.versionWithScreens }

    func present(
        _ sheet: Sheet, judging judge: SheetJudge?
    ) async throws(Interruption) -> SheetAnswer {
        guard drawsScreens else { return try await presentByLines(sheet) }
        let question = newQuestion()
        let isSecret = sheet.fields.contains { $0.kind == .secret }
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
                    guard drafts <= Limits.drafts, let judge,
                        sheet.fields.indices.contains(Int(draft.field)),
                        sheet.fields[Int(draft.field)].isJudged
                    else { throw .gone(.notUnderstood(.unknownValue)) }
                    // As many as the screen has.
                    let findings = Findings(
                        question: question, entries: Array(judge(typed).prefix(Limits.screenRules)))
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
    /// What came back, if it can be an answer to this.
    fileprivate func answer(
        _ answer: Answer, _ typed: SecretBox
    ) throws(Interruption) -> SheetAnswer {
        guard ways.indices.contains(Int(answer.choice)) else {
            throw .gone(.notUnderstood(.unknownValue))
        }
        let way = ways[Int(answer.choice)]
        guard way.role != .cancel else { throw .refused(.cancelled) }
        var found = SheetAnswer(button: way.button)
        // One of the items where the way needs one, and none elsewhere.
        if way.needsItem {
            guard answer.item > 0, items.indices.contains(Int(answer.item) - 1) else {
                throw .gone(.notUnderstood(.unknownValue))
            }
            found.item = Int(answer.item) - 1
        } else if answer.item > 0 {
            throw .gone(.notUnderstood(.unknownValue))
        }
        guard way.takesFields else { return found }
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
