import Wire

/// What the rules say about a candidate: for a person, and for programs.
struct ChecklistView {
    let marks: Marks
    let paint: Voice.Paint

    static func isMet(_ list: Checklist) -> Bool {
        list.entries.allSatisfy { $0.finding != .unmet }
    }

    /// One line an entry. `columns` cuts it to fit; without, a reason stands behind it in full.
    func line(_ entry: Checklist.Entry, isBlank: Bool, columns: Int?) -> [UInt8] {
        let finding = isBlank ? Checklist.Entry.Finding.notChecked : entry.finding
        let mark = marks.mark(finding)
        let wants = Printable.escaped(entry.wants.isEmpty ? entry.id : entry.wants)
        var reason: [UInt8] = []
        if !entry.reason.isEmpty, !isBlank || entry.finding == .notChecked {
            reason = Text(" (", Printable.escaped(entry.reason), ")").bytes
        }
        let indent = 2 + Layout.width(Array(mark.utf8)) + 1
        var words = wants + reason
        if let columns { words = Layout.cut(words, columns - indent - 1) }
        // Painted when its length is known.
        let shown = words.count > wants.count ? Array(words[wants.count...]) : []
        let cut = Array(words.prefix(wants.count))
        return Text(
            "  ", paint.painted(mark, colour(finding)), " ", cut, painted(shown)
        ).bytes
    }

    private func painted(_ reason: [UInt8]) -> String {
        reason.isEmpty ? "" : paint.painted(String(decoding: reason, as: UTF8.self), .faint)
    }

    private func colour(_ finding: Checklist.Entry.Finding) -> Voice.Colour {
        switch finding {
        case .satisfied: .green
        case .unmet: .red
        case .notChecked: .faint
        }
    }

    /// What it comes to.
    func verdict(_ list: Checklist) -> [UInt8] {
        let unmet = list.entries.count { $0.finding == .unmet }
        return switch unmet {
        case 0: Text(paint.painted("it meets the rules", .green)).bytes
        case 1: Text(paint.painted("it does not meet one of the rules", .red)).bytes
        default: Text(paint.painted("it does not meet \(unmet) of the rules", .red)).bytes
        }
    }

    func text(_ list: Checklist) -> [UInt8] {
        list.entries.flatMap { line($0, isBlank: false, columns: nil) + [0x0A] }
            + verdict(list) + [0x0A]
    }

    static func fields(_ list: Checklist) -> [UInt8] {
        list.entries.flatMap { entry in
            Layout.fields([entry.id, Array(words(entry.finding).utf8), entry.wants, entry.reason])
        }
    }

    static func write(_ list: Checklist, to json: inout JSON) {
        json.field("met", isMet(list))
        json.objects("rules", list.entries) { json, entry in
            json.field("id", entry.id)
            json.field(
                "finding", entry.finding == .notChecked ? "not-checked" : words(entry.finding))
            json.field("wants", entry.wants)
            json.field("reason", entry.reason)
        }
    }

    private static func words(_ finding: Checklist.Entry.Finding) -> String {
        switch finding {
        case .satisfied: "met"
        case .unmet: "unmet"
        case .notChecked: "not checked"
        }
    }
}
