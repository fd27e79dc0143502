import Wire

/// The rules of a screen, and what they say of what is being typed.
final class RuleList {
    let root: Widget
    private let entries: [Checklist.Entry]
    private var rows: [(mark: Widget, label: Widget)] = []

    init(_ entries: [Checklist.Entry], _ name: String) {
        self.entries = entries
        root = Widget.column(6).named("\(name)-rules").styled("appvault-rules")
        for (place, entry) in entries.enumerated() {
            let mark = Widget.frame()
            let label = Widget.label(Shown.text(entry.wants)).wide()
            rows.append((mark, label))
            root.append(Widget.row(10, [mark, label]).named("\(name)-rule-\(place + 1)"))
        }
        show(entries)
    }

    /// In their order. What was not checked says nothing.
    func show(_ findings: [Checklist.Entry]) {
        for (row, finding) in zip(rows, findings) {
            let text = Shown.text(finding.wants)
            let why = Shown.text(finding.reason)
            let shown = why.isEmpty ? text : "\(text) (\(why))"
            row.label.setText(shown)
            let (strokes, mark): (Strokes, String) =
                switch finding.finding {
                case .satisfied: (.check, "\u{2713}")
                case .unmet: (.cross, "\u{2717}")
                case .notChecked: (.dot, "")
                }
            row.mark.hold(Widget.picture(strokes, 16))
            row.mark.style("success", isOn: finding.finding == .satisfied)
            row.mark.style("error", isOn: finding.finding == .unmet)
            row.label.saying(mark.isEmpty ? shown : "\(mark) \(shown)")
        }
    }
}
