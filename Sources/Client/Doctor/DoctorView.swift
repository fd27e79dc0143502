import Posix
import ToolTexts
import Wire

/// How the findings are shown: aligned for a person, a line of fields for a pipe, an object for a
/// program.
struct DoctorView {
    let findings: [Finding]
    let isRoot: Bool

    func count(_ state: Finding.State) -> Int { findings.count { $0.state == state } }

    var exitStatus: ExitStatus { count(.broken) > 0 ? .refused : .success }

    // MARK: for a person

    /// Services with the same finding share a line.
    private var joined: [(finding: Finding, names: [String])] {
        var rows: [(finding: Finding, names: [String])] = []
        for finding in findings {
            var bare = finding
            bare.name = ""
            let same = rows.firstIndex { row in
                row.finding == bare && !finding.name.isEmpty && finding.link == .pam
            }
            if let same {
                rows[same].names.append(finding.name)
            } else {
                rows.append((bare, finding.name.isEmpty ? [] : [finding.name]))
            }
        }
        return rows
    }

    func text(_ voice: Voice, _ marks: Marks, _ columns: Int, _ words: OwnWords) -> [UInt8] {
        let paint = voice.outputPaint
        let titles = Finding.Link.allCases.map { words($0.title) }
        let width = (titles.map { Layout.width($0) }.max() ?? 0) + 2
        let markWidth =
            (Finding.State.allCases.map { Layout.width(Array(mark($0, marks).utf8)) }.max() ?? 1)
            + 1
        let indent = markWidth + width
        var text = Text()
        for (finding, names) in joined {
            let (mark, colour) = (mark(finding.state, marks), Self.colour(finding.state))
            let said =
                names.isEmpty ? finding.text : names.joined(separator: ", ") + ": " + finding.text
            let title = String(decoding: words(finding.link.title), as: UTF8.self)
            text += Text(
                paint.painted(mark, colour),
                Layout.spaces(markWidth - Layout.width(Array(mark.utf8))),
                paint.painted(title, .bold), Layout.spaces(width - Layout.width(Array(title.utf8))),
                Layout.hanging(
                    Printable.escaped(Array(said.utf8)), indent: indent, columns: columns), "\n")
            if !finding.mend.isEmpty {
                let hint = Printable.escaped(Array(finding.mend.utf8))
                text += Text(
                    Layout.spaces(indent), paint.painted("hint:", .cyan), " ",
                    Layout.hanging(hint, indent: indent + 6, columns: columns), "\n")
            }
            if !finding.paste.isEmpty {
                text += Text(Layout.spaces(indent), words(.doctorPaste), "\n")
                for line in finding.paste { text += Text(Layout.spaces(indent + 2), line, "\n") }
            }
        }
        text += Text("\n", summary(paint, words), "\n")
        if !isRoot, count(.unseen) > 0 {
            text += Text(paint.painted(words.string(.doctorRoot), .faint), "\n")
        }
        return text.bytes
    }

    private func summary(_ paint: Voice.Paint, _ words: OwnWords) -> String {
        var parts: [String] = []
        if count(.broken) > 0 {
            parts.append(paint.painted(words.string(.doctorBroken, count(.broken)), .red))
        }
        if count(.warning) > 0 {
            parts.append(paint.painted(words.string(.doctorWarnings, count(.warning)), .yellow))
        }
        return parts.isEmpty
            ? paint.painted(words.string(.doctorWell), .green) : parts.joined(separator: ", ")
    }

    private func mark(_ state: Finding.State, _ marks: Marks) -> String {
        switch (state, marks) {
        case (.ok, _): marks.mark(.satisfied)
        case (.broken, _): marks.mark(.unmet)
        case (.unseen, _): marks.neutral
        case (.warning, .unicode): "!"
        case (.warning, .ascii): "!!"
        }
    }

    private static func colour(_ state: Finding.State) -> Voice.Colour {
        switch state {
        case .ok: .green
        case .warning: .yellow
        case .broken: .red
        case .unseen: .faint
        }
    }

    // MARK: for programs

    /// One line for each finding: state, link, service, text, what to do. Lines to paste begin with
    /// a #.
    var fields: [UInt8] {
        findings.flatMap { finding in
            let line = Layout.fields([
                Array(finding.state.rawValue.utf8), Array(finding.link.rawValue.utf8),
                Array(finding.name.utf8),
                Array(finding.text.utf8), Array(finding.mend.utf8),
            ])
            return line + finding.paste.flatMap { Array("# \($0)\n".utf8) }
        }
    }

    func write(to json: inout JSON) {
        json.field("broken", count(.broken))
        json.field("warnings", count(.warning))
        json.objects("checks", findings) { json, finding in
            json.field("state", finding.state.rawValue)
            json.field("link", finding.link.rawValue)
            json.field("service", finding.name)
            json.field("text", Array(finding.text.utf8))
            json.field("mend", Array(finding.mend.utf8))
            json.field("paste", finding.paste.joined(separator: "\n"))
        }
    }
}
