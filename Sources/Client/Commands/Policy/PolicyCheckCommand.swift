import Posix
import Wire

struct PolicyCheckCommand: Command {
    static let entry = VerbEntry(
        words: ["policy", "check"], group: .policy, operands: ["[-]"], options: [.user],
        summary: "test a passcode by the rules",
        text: [
            "On a terminal the list of rules changes while you type; what you type shows as dots. Enter also checks the "
                + "administrator's own rules. Ctrl-U begins anew, Ctrl-C ends.",
            "From a pipe, or with -, one line of standard input is the candidate. Into a pipe: id, `met`, "
                + "`unmet` or `not checked`, what the rule wants and the reason, with tabs between them.",
            "It does not check whether this is the current passcode or a former one: anybody at your open session could "
                + "guess them that way. It ends with status 1 if a rule is not met.",
        ],
        json: [
            .init("met", "whether no rule is unmet"),
            .init("rules[].id", "`minLength`, `rule.NAME`, `digitsOnly`, `digit` and so on"),
            .init("rules[].finding", "`met`, `unmet` or `not-checked`"),
            .init("rules[].wants", "what the rule wants, for a person"),
            .init("rules[].reason", "why it was not checked, or is not met; may be empty"),
        ],
        examples: [
            .init(command: "appvault policy check", meaning: "while you type"),
            .init(
                command: "pwgen -s 20 1 | appvault policy check",
                meaning: "what another program made"
            ),
        ])
    static let offer = RecoveryOffer.never

    enum Source: Equatable {
        /// `-`
        case input
        /// Asks on a terminal; reads a pipe.
        case whateverIsThere
    }

    var source: Source

    static func parse(_ arguments: Arguments) throws(UsageError) -> PolicyCheckCommand {
        guard let operand = arguments.operands.first else {
            return PolicyCheckCommand(source: .whateverIsThere)
        }
        guard operand == [0x2D] else {
            throw UsageError(
                Text("policy check takes no passcode from the command line"),
                hint: Text(
                    "other users could see it there; `appvault policy check` asks, and - reads "
                        + "standard input"))
        }
        return PolicyCheckCommand(source: .input)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        let isTyped: Bool =
            switch source {
            case .input: false
            case .whateverIsThere:
                run.environment.input.isTerminal || run.settings.passcodeDescriptor != nil
            }
        let connection = try run.connect()
        var candidate = SecretBuffer(capacity: 8192)
        if !isTyped {
            try candidateLine(run, into: &candidate)
        } else if draws(run), let terminal = Terminal() {
            return try checkLive(run, connection, target, terminal)
        } else {
            try askCandidate(run, into: &candidate)
        }
        let list = try judge(candidate, custom: true, target, connection)
        let view = ChecklistView(
            marks: run.environment.marks, paint: run.voice.outputPaint, words: run.words)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            ChecklistView.write(list, to: &json)
            run.voice.print(json.finish())
        case (.plain, true): run.voice.print(view.text(list, columns: run.columns))
        case (.plain, false): run.voice.print(ChecklistView.fields(list))
        }
        return ChecklistView.isMet(list) ? .success : .refused
    }

    private func judge(
        _ candidate: borrowing SecretBuffer, custom: Bool, _ target: Target,
        _ connection: Connection
    ) throws(ClientError) -> Checklist {
        try candidate.withSpan { span throws(ClientError) in
            try connection.send(
                .policyCheck, PolicyCheck(target: target, custom: custom), payload: span)
        }
        return try connection.expect(.checklist, Checklist.self)
    }

    /// Whether a person is at a terminal that can move its cursor.
    private func draws(_ run: Run) -> Bool {
        run.settings.form == .plain && run.settings.passcodeDescriptor == nil
            && run.environment.output.isTerminal
            && run.environment.variable("TERM") != Array("dumb".utf8)
    }

    private func checkLive(
        _ run: Run, _ connection: Connection, _ target: Target, _ terminal: borrowing Terminal
    ) throws(ClientError) -> ExitStatus {
        let view = ChecklistView(
            marks: run.environment.marks, paint: run.voice.outputPaint, words: run.words)
        var live = LiveChecklist(view) { candidate, custom throws(ClientError) in
            try judge(candidate, custom: custom, target, connection)
        }
        switch try live.run(terminal) {
        case .judged(let list):
            run.voice.print(view.verdict(list) + [0x0A])
            return ChecklistView.isMet(list) ? .success : .refused
        case .cancelled: throw .refused(Refused(.cancelled, run.words(.checkCancelled)))
        case .tooLong: throw .refused(tooLong(run))
        }
    }

    private func askCandidate(_ run: Run, into candidate: inout SecretBuffer) throws(ClientError) {
        let prompt = run.words(.checkPrompt)
        switch run.answers.answer(.newPasscode, prompt: prompt, echo: false, into: &candidate) {
        case .answered: return
        case .cancelled: throw .refused(Refused(.cancelled, run.words(.checkCancelled)))
        case .tooLong: throw .refused(tooLong(run))
        case .nobody, .exhausted, .notTaken, .busy, .notShown, .overtaken: throw .refused(none(run))
        }
    }

    private func candidateLine(_ run: Run, into candidate: inout SecretBuffer) throws(ClientError) {
        var hasEnd = false
        while !hasEnd, candidate.count <= Limits.secret {
            let got: Int
            do throws(PosixError) {
                got = try candidate.read(from: run.environment.input.descriptor, atMost: 1024)
            } catch {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        run.words(.cannotRead, run.words(.standardInput), ToolIO.reason(error))))
            }
            if got == 0 { break }
            for index in (candidate.count - got)..<candidate.count
            where !hasEnd && candidate[index] == 0x0A {
                hasEnd = true
                candidate.truncate(to: index)
            }
        }
        guard hasEnd || !candidate.isEmpty else { throw .refused(none(run)) }
        guard candidate.count <= Limits.secret else { throw .refused(tooLong(run)) }
    }

    private func none(_ run: Run) -> Refused {
        Refused(.invalidArgument, run.words(.checkNone), hint: run.words(.checkNoneHint))
    }

    private func tooLong(_ run: Run) -> Refused {
        Refused(
            .tooLarge, run.words(.checkLong), hint: run.words(.limitBytes, Limits.secret),
            parameters: [
                .init(name: Array("limit".utf8), value: Array(String(Limits.secret).utf8))
            ])
    }
}
