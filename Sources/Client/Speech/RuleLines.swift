import Wire

/// A rule as it stands in a checklist: whether it is met, and what it wants.
struct RuleLines {
    let marks: Marks
    let paint: Voice.Paint

    /// As many lines as are needed: first what the rule wants, then why it was not checked or is
    /// not met.
    func lines(_ entry: Checklist.Entry, isBlank: Bool, columns: Int) -> [[UInt8]] {
        let finding = isBlank ? Checklist.Entry.Finding.notChecked : entry.finding
        let mark = marks.mark(finding)
        let wants = Printable.escaped(entry.wants.isEmpty ? entry.id : entry.wants)
        let hasReason = !entry.reason.isEmpty && (!isBlank || entry.finding == .notChecked)
        let reason = hasReason ? Text(" (", Printable.escaped(entry.reason), ")").bytes : []
        let indent = 2 + Layout.width(Array(mark.utf8)) + 1
        let wrapped = Layout.wrapped(wants + reason, max(20, columns - indent - 1))
        // The reason is painted after the lines were broken, because colour codes take no columns.
        var left = wants.count
        return wrapped.enumerated().map { number, line in
            let head = Array(line.prefix(max(0, left)))
            left -= line.count + 1
            let begin =
                number == 0
                ? Text("  ", paint.painted(mark, colour(finding)), " ").bytes
                : Layout.spaces(indent)
            return begin + head + painted(Array(line.dropFirst(head.count)))
        }
    }

    private func painted(_ reason: [UInt8]) -> [UInt8] {
        reason.isEmpty
            ? [] : Array(paint.painted(String(decoding: reason, as: UTF8.self), .faint).utf8)
    }

    private func colour(_ finding: Checklist.Entry.Finding) -> Voice.Colour {
        switch finding {
        case .satisfied: .green
        case .unmet: .red
        case .notChecked: .faint
        }
    }
}
