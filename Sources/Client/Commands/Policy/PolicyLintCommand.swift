import Policy
import Wire

struct PolicyLintCommand: Command {
    static let entry = VerbEntry(
        words: ["policy", "lint"], group: .policy, operands: ["FILE..."],
        summary: "look for mistakes in policy files",
        text: [
            "It reads the files as one policy, in the order given, as the daemon reads policy.conf and then policy.d; - is "
                + "standard input. It needs no daemon.",
            "It prints a line for each mistake: FILE:LINE: KEY: what is wrong: what would be right. It also finds "
                + "contradictions, keys without an effect and policies that nobody can meet. It ends with status 1 if "
                + "there is an error, and with 0 if there are only warnings.",
        ],
        json: [
            .init("errors", "how many"),
            .init("warnings", "how many"),
            .init("problems[].severity", "`error` or `warning`"),
            .init("problems[].file", "the file as it was given"),
            .init("problems[].line", "counted from 1"),
            .init("problems[].key", "may be empty"),
            .init("problems[].wrong", "what is wrong"),
            .init("problems[].right", "what would be right"),
        ],
        examples: [
            .init(
                command:
                    "cd /etc/appvault && appvault policy lint policy.conf policy.d/*.conf",
                meaning: "what is installed")
        ])
    static let offer = RecoveryOffer.never

    var files: [FileOperand]

    static func parse(_ arguments: Arguments) throws(UsageError) -> PolicyLintCommand {
        let files = arguments.operands.map(FileOperand.init)
        guard files.count(where: { $0 == .standardStream }) < 2 else {
            throw UsageError(
                Text("- is given twice"), hint: Text("standard input can be read once"))
        }
        return PolicyLintCommand(files: files)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var read: [PolicyFile] = []
        for file in files {
            let (name, text) = try run.text(of: file)
            read.append(PolicyFile(name: String(decoding: name, as: UTF8.self), text: text))
        }
        let problems = PolicyLint.problems(in: read, texts: .all)
        let errors = problems.count { $0.severity == .error }
        switch run.settings.form {
        case .plain: run.voice.print(problems.flatMap { run.line($0) })
        case .json:
            var json = JSON()
            json.field("errors", errors)
            json.field("warnings", problems.count - errors)
            json.problems(problems)
            run.voice.print(json.finish())
        }
        return errors == 0 ? .success : .refused
    }
}

extension Run {
    func line(_ problem: PolicyProblem) -> [UInt8] {
        let mark =
            switch problem.severity {
            case .error: ""
            case .warning: voice.outputPaint.painted("warning: ", .yellow)
            }
        let line = Array(problem.description.utf8)
        let isTerminal = environment.output.isTerminal
        return Text(mark, isTerminal ? Printable.escaped(line) : line, "\n").bytes
    }
}

extension JSON {
    mutating func problems(_ problems: [PolicyProblem]) {
        objects("problems", problems) { json, problem in
            json.field("severity", problem.severity == .error ? "error" : "warning")
            json.field("file", problem.file)
            json.field("line", problem.line)
            json.field("key", problem.key)
            json.field("wrong", problem.wrong)
            json.field("right", problem.right)
        }
    }
}
