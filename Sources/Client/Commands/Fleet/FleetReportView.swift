import Fleet
import Posix
import ToolTexts
import Wire

/// What machines have reported: a table for a person, lines or an object for a program.
struct FleetReportView {
    enum State: String {
        case missing, behind, absent, ahead, nonsense, problem

        var text: ToolText {
            switch self {
            case .missing: .reportMissing
            case .behind: .reportBehind
            case .absent: .reportAbsent
            case .ahead: .reportAhead
            case .nonsense: .reportNonsense
            case .problem: .reportProblem
            }
        }
    }

    struct Row {
        var name: [UInt8]
        var states: [State]
        /// Nil where it never came.
        var report: MachineReport?
    }

    static let numbers: [(number: MachineReport.Number, name: String, meaning: String)] = [
        (.policyVersion, "policyVersion", "of the policy in force there; 0: none"),
        (.ordersVersion, "ordersVersion", "of the orders in force there; 0: none"),
        (.signed, "signed", "when the newest of its bundles was signed"),
        (.stores, "stores", "how many there are"),
        (.due, "due", "of how many a new passcode or something else is due"),
        (.retryLocked, "retryLocked", "how many have reached the limit of tries"),
        (.locked, "locked", "how many are locked by an order"),
        (.wiped, "wiped", "how many were wiped by an order"),
        (.offlineDays, "offlineDays", "how many days it has heard nothing"),
        (.consentsDue, "consentsDue", "how many people have not answered, or denied"),
    ]

    let rows: [Row]
    private let strays: Int
    private let tooMany: Int

    init(
        _ reports: MachineReports, named: [(machine: OrderTarget, name: [UInt8])],
        published: [Manifest.Kind: UInt64], absentSince: UInt64
    ) {
        var names: [OrderTarget: [UInt8]] = [:]
        for each in named { names[each.machine] = each.name }
        var rows = reports.last.values.map { report in
            var states: [State] = []
            let kinds: [(Manifest.Kind, MachineReport.Number)] = [
                (.policy, .policyVersion), (.orders, .ordersVersion),
            ]
            if kinds.contains(where: { kind, number in
                published[kind].map { (report[number] ?? 0) < $0 } ?? false
            }) {
                states.append(.behind)
            }
            if report.at < absentSince { states.append(.absent) }
            if reports.isAhead(report) { states.append(.ahead) }
            if report.isNonsense { states.append(.nonsense) }
            if !report.problem.isEmpty { states.append(.problem) }
            return Row(
                name: names[report.machine] ?? Array(report.machine.text.utf8), states: states,
                report: report)
        }
        for (machine, name) in names where reports.last[machine] == nil {
            rows.append(Row(name: name, states: [.missing], report: nil))
        }
        // Those that somebody has to look after come first.
        self.rows = rows.sorted { left, right in
            left.states.isEmpty == right.states.isEmpty
                ? left.name.lexicographicallyPrecedes(right.name) : right.states.isEmpty
        }
        (strays, tooMany) = (reports.strays, reports.tooMany)
    }

    private func state(_ row: Row) -> String {
        row.states.isEmpty ? "ok" : row.states.map(\.rawValue).joined(separator: " ")
    }

    func lines() -> [UInt8] {
        rows.flatMap { row in
            Layout.fields(
                [
                    row.name, Array(state(row).utf8),
                    Array(String(row.report?.at ?? 0).utf8),
                ]
                    + Self.numbers.map { number, _, _ in
                        Array((row.report?[number].map { String($0) } ?? "-").utf8)
                    } + [row.report?.release ?? [], row.report?.problem ?? []])
        }
    }

    func json() -> SecretBuffer {
        var json = JSON()
        json.objects("machines", rows) { json, row in
            json.field("machine", row.name)
            json.field("state", state(row))
            json.field("at", row.report?.at ?? 0)
            for (number, name, _) in Self.numbers {
                if let value = row.report?[number] {
                    json.field(name, value)
                } else {
                    json.null(name)
                }
            }
            json.field("release", row.report?.release ?? [])
            json.field("problem", row.report?.problem ?? [])
        }
        json.field("strays", strays)
        json.field("tooMany", tooMany)
        return json.finish()
    }

    // MARK: For a person

    private static let shown: [(MachineReport.Number, ToolText)] = [
        (.policyVersion, .titlePolicyVersion), (.ordersVersion, .titleOrdersVersion),
        (.stores, .titleStores), (.due, .titleStoresDue), (.retryLocked, .titleRetryLocked),
        (.locked, .titleLocked), (.wiped, .titleWiped),
    ]

    func table(_ voice: Voice, _ words: OwnWords) -> [UInt8] {
        let heads =
            ([.titleMachine, .titleReported] + Self.shown.map(\.1) + [.titleMachineState])
            .map { (text: ToolText) in words(text) }
        let cells = rows.map { row in
            [
                Printable.escaped(row.name),
                row.report.map { ToolIO.localTime($0.at) } ?? [UInt8(ascii: "-")],
            ]
                + Self.shown.map { number, _ in
                    Array((row.report?[number].map { String($0) } ?? "-").utf8)
                } + [stateText(row, words)]
        }
        let widths = heads.indices.map { column in
            ([heads[column]] + cells.map { $0[column] }).map { Layout.width($0) }.max() ?? 0
        }
        func line(_ cells: [[UInt8]], _ colour: Voice.Colour?) -> [UInt8] {
            var line: [UInt8] = []
            for (column, cell) in cells.enumerated() {
                let isLast = column == cells.count - 1
                let shown = colour.map {
                    Array(
                        voice.outputPaint.painted(String(decoding: cell, as: UTF8.self), $0).utf8)
                }
                line += shown ?? cell
                if !isLast { line += Layout.spaces(widths[column] + 2 - Layout.width(cell)) }
            }
            return line + [0x0A]
        }
        let body = zip(rows, cells).flatMap { row, cells in
            line(cells, row.states.isEmpty ? nil : .yellow)
        }
        return line(heads, .faint) + body + summary(words).flatMap { $0 + [0x0A] }
    }

    private func stateText(_ row: Row, _ words: OwnWords) -> [UInt8] {
        guard !row.states.isEmpty else { return words(.reportFine) }
        let texts = row.states.map { state in
            state == .problem
                ? Printable.escaped(row.report?.problem ?? []) : words(state.text)
        }
        return Array(texts.joined(separator: Array(", ".utf8)))
    }

    private func summary(_ words: OwnWords) -> [[UInt8]] {
        func count(_ state: State) -> Int { rows.count { $0.states.contains(state) } }
        var lines = [
            words(
                .reportSummary, rows.count, count(.behind), count(.absent), count(.missing),
                rows.count { $0.states.isEmpty })
        ]
        if strays + tooMany > 0 { lines.append(words(.reportStrays, strays + tooMany)) }
        return lines
    }
}
