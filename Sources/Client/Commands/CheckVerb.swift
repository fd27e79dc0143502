import Posix
import ToolTexts
import Wire

/// `policy check`.
extension Run {
    func policyCheck(_ source: Command.CandidateSource) throws(ClientError) -> ExitStatus {
        let target = try target()
        let isTyped: Bool =
            switch source {
            case .input: false
            case .whateverIsThere:
                environment.input.isTerminal || settings.passcodeDescriptor != nil
            }
        let connection = try connect()
        var candidate = SecretBuffer(capacity: 8192)
        if !isTyped {
            try candidateLine(into: &candidate)
        } else if draws, let terminal = Terminal() {
            return try checkLive(connection, target, terminal)
        } else {
            try askCandidate(into: &candidate)
        }
        let list = try connection.check(target, custom: true, candidate)
        let view = ChecklistView(
            marks: environment.marks, paint: voice.outputPaint, words: words)
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            ChecklistView.write(list, to: &json)
            voice.print(json.finish())
        case (.plain, true): voice.print(view.text(list, columns: columns))
        case (.plain, false): voice.print(ChecklistView.fields(list))
        }
        return ChecklistView.isMet(list) ? .success : .refused
    }

    /// Whether there is a person before a terminal that can move its cursor.
    private var draws: Bool {
        settings.form == .plain && settings.passcodeDescriptor == nil
            && environment.output.isTerminal && environment.variable("TERM") != Array("dumb".utf8)
    }

    private func checkLive(
        _ connection: Connection, _ target: Target, _ terminal: borrowing Terminal
    ) throws(ClientError) -> ExitStatus {
        let view = ChecklistView(
            marks: environment.marks, paint: voice.outputPaint, words: words)
        var live = LiveChecklist(view) { candidate, custom throws(ClientError) in
            try connection.check(target, custom: custom, candidate)
        }
        switch try live.run(terminal) {
        case .judged(let list):
            voice.print(view.verdict(list) + [0x0A])
            return ChecklistView.isMet(list) ? .success : .refused
        case .cancelled: throw .refused(Refused(.cancelled, words(.checkCancelled)))
        case .tooLong: throw .refused(candidateTooLong)
        }
    }

    private func askCandidate(into candidate: inout SecretBuffer) throws(ClientError) {
        let prompt = words(.checkPrompt)
        switch answers.answer(.newPasscode, prompt: prompt, echo: false, into: &candidate) {
        case .answered: return
        case .cancelled: throw .refused(Refused(.cancelled, words(.checkCancelled)))
        case .tooLong: throw .refused(candidateTooLong)
        case .nobody, .exhausted, .notTaken: throw .refused(noCandidate)
        }
    }

    private func candidateLine(into candidate: inout SecretBuffer) throws(ClientError) {
        var hasEnd = false
        while !hasEnd, candidate.count <= Limits.secret {
            let got: Int
            do throws(PosixError) {
                got = try candidate.read(from: environment.input.descriptor, atMost: 1024)
            } catch {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        words(.cannotRead, words(.standardInput), ToolIO.reason(error))))
            }
            if got == 0 { break }
            for index in (candidate.count - got)..<candidate.count
            where !hasEnd && candidate[index] == 0x0A {
                hasEnd = true
                candidate.truncate(to: index)
            }
        }
        guard hasEnd || !candidate.isEmpty else { throw .refused(noCandidate) }
        guard candidate.count <= Limits.secret else { throw .refused(candidateTooLong) }
    }

    private var noCandidate: Refused {
        Refused(.invalidArgument, words(.checkNone), hint: words(.checkNoneHint))
    }

    private var candidateTooLong: Refused {
        Refused(
            .tooLarge, words(.checkLong), hint: words(.limitBytes, Limits.secret),
            parameters: [
                .init(name: Array("limit".utf8), value: Array(String(Limits.secret).utf8))
            ])
    }
}
