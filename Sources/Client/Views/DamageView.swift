import ToolTexts
import Wire

/// The records that could not be given: lines for a person or a script, objects for a program.
enum DamageView {
    /// A store that has more is beyond reading line by line.
    private static let most = 100

    static func lines(_ damaged: [DamagedRecords.Entry], _ words: OwnWords) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        let shown = damaged.filter { $0.kind != .missing }
        for entry in shown.prefix(most) { lines.append(line(entry, words)) }
        if shown.count > most { lines.append(words(.damagedMore, shown.count - most)) }
        if shown.count < damaged.count { lines.append(words(.damagedMissing)) }
        return lines
    }

    private static func line(_ entry: DamagedRecords.Entry, _ words: OwnWords) -> [UInt8] {
        if entry.name.isEmpty { return words(.damagedNameless, id(entry)) }
        let name = Printable.escaped(entry.name)
        switch entry.kind {
        case .broken: return words(.damagedBroken, name)
        case .unproven, .missing: return words(.damagedUnproven, name)
        }
    }

    private static func id(_ entry: DamagedRecords.Entry) -> String {
        let digits = String(entry.id, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func write(_ damaged: [DamagedRecords.Entry], to json: inout JSON) {
        json.objects("damaged", damaged) { json, entry in
            json.field("what", what(entry.kind))
            if entry.name.isEmpty { json.null("name") } else { json.field("name", entry.name) }
            json.field("id", id(entry))
        }
    }

    private static func what(_ kind: DamagedRecords.Entry.Kind) -> String {
        switch kind {
        case .broken: "broken"
        case .unproven: "unproven"
        case .missing: "missing"
        }
    }
}
