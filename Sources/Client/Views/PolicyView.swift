import Posix
import ToolTexts
import Wire

/// `policy show`.
enum PolicyView {
    private static let keyWidth = 24
    private static let valueWidth = 10

    static func text(
        _ policy: PolicyValues, heldUntil: UInt64, _ paint: Voice.Paint, _ columns: Int,
        _ words: OwnWords
    ) -> [UInt8] {
        var text = Text()
        if !policy.problem.isEmpty {
            let problem = Layout.hanging(
                Printable.escaped(policy.problem), indent: 2, columns: columns)
            text += Text(
                paint.painted(words.string(.policyBroken), .red), "\n  ", problem,
                "\n\n")
        }
        text += Text(paint.painted(words.string(self.text(policy.mode)), .bold), "\n\n")
        if heldUntil > 0 {
            let held = words(.policyHeld, ToolIO.localTime(heldUntil))
            text += Text(Layout.hanging(held, indent: 0, columns: columns), "\n\n")
        }
        for value in policy.values { add(value, to: &text, paint, columns, words) }
        if !policy.rules.isEmpty {
            text += Text("\n", paint.painted(words.string(.policyRules), .bold), "\n")
        }
        for rule in policy.rules {
            let place = place(rule.file, rule.line, words)
            add(
                Printable.escaped(rule.name),
                Text(Printable.escaped(rule.display), " [", name(rule.kind), "]").bytes,
                place, to: &text, paint, columns)
        }
        return text.bytes
    }

    private static func add(
        _ value: PolicyValues.Value, to text: inout Text, _ paint: Voice.Paint, _ columns: Int,
        _ words: OwnWords
    ) {
        let origin = place(value.file, value.line, words)
        let place = value.actedOn ? origin : words.string(.policyNotYet, origin)
        add(
            Printable.escaped(value.key), Printable.escaped(value.value), place, to: &text, paint,
            columns)
    }

    // The place stands behind the value if there is room, otherwise below it.
    private static func add(
        _ key: [UInt8], _ value: [UInt8], _ place: String, to text: inout Text,
        _ paint: Voice.Paint, _ columns: Int
    ) {
        let lines = Layout.wrapped(value, max(20, columns - keyWidth - 1))
        text += Layout.padded(key, keyWidth - 1) + [0x20]
        let room = columns - keyWidth - max(valueWidth, Layout.width(lines[0])) - 3
        if lines.count == 1, Layout.width(Array(place.utf8)) <= room {
            text += Text(Layout.padded(lines[0], valueWidth), "  ", paint.painted(place, .faint))
        } else {
            let indent = [0x0A] + Layout.spaces(keyWidth)
            text += Text(
                Array(lines.joined(separator: indent)), indent, paint.painted(place, .faint))
        }
        text += "\n"
    }

    /// For programs: a line that is no key begins with a #.
    static func fields(_ policy: PolicyValues, heldUntil: UInt64) -> [UInt8] {
        let english = OwnWords.english
        var text = Text("# ", english(self.text(policy.mode)), "\n")
        if !policy.problem.isEmpty {
            text += Text("# broken: ", Printable.escaped(policy.problem), "\n")
        }
        if heldUntil > 0 { text += Text("# held until ", heldUntil, "\n") }
        for value in policy.values {
            text += Layout.fields([
                value.key, value.value, Array(place(value.file, value.line, english).utf8),
                Array((value.actedOn ? "" : "not acted on yet").utf8),
            ])
        }
        for rule in policy.rules {
            text += Layout.fields([
                Text("rule.", rule.name).bytes, rule.display,
                Array(place(rule.file, rule.line, english).utf8), Array(name(rule.kind).utf8),
            ])
        }
        return text.bytes
    }

    static func write(_ policy: PolicyValues, heldUntil: UInt64, to json: inout JSON) {
        json.field("mode", name(policy.mode))
        if policy.problem.isEmpty {
            json.null("problem")
        } else {
            json.field("problem", policy.problem)
        }
        json.field("heldUntil", heldUntil)
        json.objects("values", policy.values) { json, value in
            json.field("key", value.key)
            json.field("value", value.value)
            write(value.file, value.line, to: &json)
            json.field("actedOn", value.actedOn)
        }
        json.objects("rules", policy.rules) { json, rule in
            json.field("name", rule.name)
            json.field("display", rule.display)
            json.field("kind", name(rule.kind))
            write(rule.file, rule.line, to: &json)
        }
    }

    private static func write(_ file: [UInt8], _ line: UInt32, to json: inout JSON) {
        if file.isEmpty {
            json.null("file")
            json.null("line")
        } else {
            json.field("file", file)
            json.field("line", Int(line))
        }
    }

    private static func place(_ file: [UInt8], _ line: UInt32, _ words: OwnWords) -> String {
        file.isEmpty
            ? words.string(.policyBuiltIn)
            : String(decoding: Printable.escaped(file), as: UTF8.self) + ":\(line)"
    }

    private static func text(_ mode: PolicyValues.Mode) -> ToolText {
        switch mode {
        case .administrators: .modeAdministrators
        case .standard: .modeStandard
        case .noPasscodeMode: .modeNoPasscode
        }
    }

    private static func name(_ mode: PolicyValues.Mode) -> String {
        switch mode {
        case .administrators: "administrators"
        case .standard: "standard"
        case .noPasscodeMode: "no-passcode"
        }
    }

    private static func name(_ kind: PolicyValues.Rule.Kind) -> String {
        switch kind {
        case .match: "match"
        case .reject: "reject"
        case .dictionary: "dictionary"
        }
    }
}
