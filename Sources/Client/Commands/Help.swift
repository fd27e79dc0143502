/// Help, made from the verbs' entries.
enum Help {
    static func overview(_ verbs: [VerbEntry], _ paint: Voice.Paint) -> [UInt8] {
        var text = "appvault keeps secrets in a store that your login opens\n\n"
        text += "\(paint.painted("usage:", .bold)) appvault VERB [OPTIONS] [ARGUMENTS]\n"
        let width = verbs.map { usage($0).utf8.count }.max() ?? 0
        for group in VerbEntry.Group.allCases {
            text += "\n\(paint.painted(group.rawValue, .bold))\n"
            for verb in verbs where verb.group == group {
                text += row(usage(verb), verb.summary, width)
            }
        }
        text += "\n\(paint.painted("everywhere", .bold))\n"
        text += options(Option.allCases.filter { $0.entry.reach == .everywhere })
        text += "\nwithout a terminal it asks in a dialog, if there is a display and pinentry\n"
        text += "`appvault help VERB` says more about one of them\n"
        return Array(text.utf8)
    }

    static func pages(
        _ topic: [VerbEntry], of verbs: [VerbEntry], _ paint: Voice.Paint
    ) -> [UInt8] {
        topic.isEmpty
            ? overview(verbs, paint)
            : Array(topic.map { page($0, paint) }.joined(separator: [0x0A]))
    }

    static func page(_ entry: VerbEntry, _ paint: Voice.Paint) -> [UInt8] {
        var text = "\(paint.painted("appvault " + entry.name, .bold)): \(entry.summary)\n\n"
        let usage = wrapped(entry.synopsis, 72).split(separator: "\n").joined(
            separator: "\n         ")
        text += "\(paint.painted("usage:", .bold)) \(usage)\n"
        for paragraph in entry.text { text += "\n" + wrapped(paragraph, 76) }
        if !entry.options.isEmpty {
            text += "\n\(paint.painted("options", .bold))\n" + options(entry.options)
        }
        if !entry.examples.isEmpty {
            text += "\n\(paint.painted("for example", .bold))\n"
            for example in entry.examples {
                text += "  \(example.command)\n      \(example.meaning)\n"
            }
        }
        return Array(text.utf8)
    }

    private static func usage(_ verb: VerbEntry) -> String {
        ([verb.name] + verb.operands).joined(separator: " ")
    }

    private static func options(_ options: [Option]) -> String {
        let flags = options.map { option in
            let entry = option.entry
            let short = entry.short.map { $0 + ", " } ?? ""
            return short + entry.usage
        }
        let width = max(18, flags.map(\.utf8.count).max() ?? 0)
        return zip(flags, options).map { row($0, $1.entry.summary, width) }.joined()
    }

    private static func row(_ left: String, _ right: String, _ width: Int) -> String {
        let indent = "\n" + String(repeating: " ", count: width + 4)
        let lines = wrapped(right, 76 - width).split(separator: "\n")
        return "  " + left + String(repeating: " ", count: max(0, width - left.utf8.count) + 2)
            + lines.joined(separator: indent) + "\n"
    }

    static func wrapped(_ paragraph: String, _ width: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in paragraph.split(separator: " ") {
            if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines.joined(separator: "\n") + "\n"
    }
}
