import ToolTexts
import Wire

/// What the rules say about a candidate: for a person, and for programs.
struct ChecklistView {
    let marks: Marks
    let paint: Voice.Paint
    let words: OwnWords

    enum Verdict: Equatable {
        case met
        case unmet(Int)
        /// No rule could check it, because it is no text that can be a passcode.
        case unfit(reason: [UInt8])
    }

    static func verdict(_ list: Checklist) -> Verdict {
        let unmet = list.entries.count { $0.finding == .unmet }
        if unmet > 0 { return .unmet(unmet) }
        guard let first = list.entries.first, list.entries.allSatisfy({ $0.finding == .notChecked })
        else { return .met }
        return .unfit(reason: first.reason)
    }

    static func isMet(_ list: Checklist) -> Bool { verdict(list) == .met }

    func lines(_ entry: Checklist.Entry, isBlank: Bool, columns: Int) -> [[UInt8]] {
        RuleLines(marks: marks, paint: paint).lines(entry, isBlank: isBlank, columns: columns)
    }

    /// The line that sums up the list.
    func verdict(_ list: Checklist) -> [UInt8] {
        switch ChecklistView.verdict(list) {
        case .met: Text(paint.painted(words.string(.checkMet), .green)).bytes
        case .unmet(1): Text(paint.painted(words.string(.checkUnmetOne), .red)).bytes
        case .unmet(let count):
            Text(paint.painted(words.string(.checkUnmet, count), .red)).bytes
        case .unfit(let reason):
            Text(
                paint.painted(words.string(.checkUnfit), .red), reason.isEmpty ? "" : ": ",
                Printable.escaped(reason)
            ).bytes
        }
    }

    func text(_ list: Checklist, columns: Int) -> [UInt8] {
        list.entries.flatMap { lines($0, isBlank: false, columns: columns) }.flatMap { $0 + [0x0A] }
            + verdict(list) + [0x0A]
    }

    static func fields(_ list: Checklist) -> [UInt8] {
        list.entries.flatMap { entry in
            Layout.fields([entry.id, Array(name(entry.finding).utf8), entry.wants, entry.reason])
        }
    }

    static func write(_ list: Checklist, to json: inout JSON) {
        json.field("met", isMet(list))
        json.objects("rules", list.entries) { json, entry in
            json.field("id", entry.id)
            json.field(
                "finding", entry.finding == .notChecked ? "not-checked" : name(entry.finding))
            json.field("wants", entry.wants)
            json.field("reason", entry.reason)
        }
    }

    private static func name(_ finding: Checklist.Entry.Finding) -> String {
        switch finding {
        case .satisfied: "met"
        case .unmet: "unmet"
        case .notChecked: "not checked"
        }
    }
}
