import Policy
import Posix
import ToolTexts
import Wire

/// What is done with policy files that are not installed yet.
extension Run {
    func policyLint(_ files: [Command.File]) throws(ClientError) -> ExitStatus {
        var read: [PolicyFile] = []
        for file in files {
            let (name, text) = try policyText(file)
            read.append(PolicyFile(name: String(decoding: name, as: UTF8.self), text: text))
        }
        let problems = PolicyLint.problems(in: read, texts: knownTexts())
        let errors = problems.count { $0.severity == .error }
        switch settings.form {
        case .plain: voice.print(problems.flatMap { lintLine($0) })
        case .json:
            var json = JSON()
            json.field("errors", errors)
            json.field("warnings", problems.count - errors)
            json.objects("problems", problems) { json, problem in
                json.field("severity", problem.severity == .error ? "error" : "warning")
                json.field("file", problem.file)
                json.field("line", problem.line)
                json.field("key", problem.key)
                json.field("wrong", problem.wrong)
                json.field("right", problem.right)
            }
            voice.print(json.finish())
        }
        return errors == 0 ? .success : .refused
    }

    /// Where a daemon runs it knows the ids of all texts; where none does they are not looked at.
    private func knownTexts() -> Set<String> {
        guard let list = try? connect().texts() else { return [] }
        return Set(list.texts.map { String(decoding: $0.id, as: UTF8.self) })
    }

    private func lintLine(_ problem: PolicyProblem) -> [UInt8] {
        let mark =
            switch problem.severity {
            case .error: ""
            case .warning: voice.outputPaint.painted("warning: ", .yellow)
            }
        let line = Array(problem.description.utf8)
        let isTerminal = environment.output.isTerminal
        return Text(mark, isTerminal ? Printable.escaped(line) : line, "\n").bytes
    }

    func policyPreview(_ file: Command.File) throws(ClientError) {
        let (name, text) = try policyText(file)
        // Nobody named: root asks about all, everybody else can only ask about themselves.
        let subject = try target().subject
        let shown = name.count <= Limits.line ? name : Array(name.suffix(Limits.line))
        let preview = try connect().preview(subject, file: shown, text)
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.field("total", Int(preview.total))
            json.objects("stores", preview.stores) { json, store in
                json.field("store", StoreIDText.text(store.store))
                json.field("owner", store.owner)
                json.field("name", store.name.isEmpty ? Array("default".utf8) : store.name)
                json.objects("flows", store.flows) { json, flow in
                    json.field("number", Int(flow))
                    json.field("name", FlowWords.name(flow))
                }
                json.field("certainty", store.certainty == .certain ? "certain" : "if-short")
                json.field("reason", store.reason)
            }
            voice.print(json.finish())
        case (.plain, true): voice.print(previewLines(preview))
        case (.plain, false):
            voice.print(
                preview.stores.flatMap { store in
                    let flows = store.flows.map { FlowWords.name($0) }.joined(separator: " ")
                    let certainty = store.certainty == .certain ? "certain" : "if-short"
                    return Layout.fields([
                        store.owner, store.name.isEmpty ? Array("default".utf8) : store.name,
                        Array(flows.utf8), Array(certainty.utf8), store.reason,
                    ])
                })
        }
        let missing = Int(preview.total) - preview.stores.count
        if missing > 0, settings.form == .plain {
            voice.info(words(.previewMore, missing))
        }
    }

    private func previewLines(_ preview: Preview) -> [UInt8] {
        guard !preview.stores.isEmpty else { return words(.previewNone) + [0x0A] }
        var text = Text()
        let names = preview.stores.map { store in
            let name = store.name.isEmpty ? Array("default".utf8) : store.name
            return Text(Printable.escaped(store.owner), " (", Printable.escaped(name), ")").bytes
        }
        let width = min(32, names.map(Layout.width).max() ?? 0) + 2
        for (name, store) in zip(names, preview.stores) {
            var flows = FlowWords.words(store.flows, words)
            if store.certainty == .ifFallsShort, !store.flows.isEmpty {
                flows = words(.previewIfShort, flows)
            }
            text += Text(
                Layout.padded(name, width - 2), "  ",
                Layout.hanging(flows, indent: width, columns: columns), "\n")
            if !store.reason.isEmpty {
                let reason = Layout.wrapped(
                    Printable.escaped(store.reason), max(20, columns - width))
                for line in reason {
                    let shown = String(decoding: line, as: UTF8.self)
                    text += Text(
                        Layout.spaces(width), voice.outputPaint.painted(shown, .faint), "\n")
                }
            }
        }
        return text.bytes
    }

    /// The file's name for error lines, and what is in it.
    private func policyText(_ file: Command.File) throws(ClientError) -> ([UInt8], [UInt8]) {
        var text = SecretBuffer()
        let name: [UInt8]
        do throws(PosixError) {
            switch file {
            case .standardStream:
                name = Array("-".utf8)
                while text.count <= Limits.value {
                    let got = try text.read(
                        from: environment.input.descriptor, atMost: 65_536)
                    if got == 0 { break }
                }
            case .path(let path):
                name = path
                let source = try SourceFile(path: path)
                try source.read(into: &text, upTo: Limits.value + 1)
            }
        } catch {
            let name: [UInt8] =
                switch file {
                case .standardStream: words(.standardInput)
                case .path(let path): path
                }
            let code: Code = error.isMissing ? .doesNotExist : .invalidArgument
            throw .refused(
                Refused(code, words(.cannotRead, name, ToolIO.reason(error))))
        }
        guard text.count <= Limits.value else {
            throw .refused(
                Refused(
                    .tooLarge, words(.policyLarge, name), hint: words(.policyLargeHint),
                    parameters: [
                        .init(
                            name: Array("limit".utf8), value: Array(String(Limits.value).utf8))
                    ]))
        }
        return (name, text.withSpan { span in (0..<span.count).map { span[$0] } })
    }
}
