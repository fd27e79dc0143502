/// PROTOCOL.md, as far as tests compare it with the code.
struct Document {
    struct Message {
        var number: UInt16
        var name: String
        var isRequest: Bool
        /// Field and type, in the order of the bytes.
        var fields: [(name: String, type: String)]
    }

    /// The tables of one section: a header's names and the rows below it.
    private var sections: [String: [[[String]]]] = [:]
    private(set) var messages: [Message] = []

    init() throws {
        var section = ""
        var kind = ""
        for line in try Repository.text("PROTOCOL.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
                kind = section
            } else if line.hasPrefix("### 0x"), kind == "Requests" || kind == "Answers" {
                section = String(line.dropFirst(4))
                let words = section.split(separator: " ")
                messages.append(
                    Message(
                        number: UInt16(words[0].dropFirst(2), radix: 16) ?? 0,
                        name: String(words[1]),
                        isRequest: kind == "Requests", fields: []))
            } else if line.hasPrefix("|") {
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
                    .dropLast()
                let row = cells.map { String($0.trimmed) }
                if sections[section] == nil { sections[section] = [] }
                if open {
                    sections[section]![sections[section]!.count - 1].append(row)
                } else {
                    sections[section]!.append([row])
                }
                open = true
                continue
            }
            open = false
        }
        for index in messages.indices {
            let message = messages[index]
            let digits = String(message.number, radix: 16, uppercase: true)
            let heading = "0x" + (digits.count == 1 ? "0" : "") + digits + " " + message.name
            messages[index].fields = table(heading).map { (name: $0[0], type: $0[1]) }
        }
    }

    private var open = false

    /// The rows of a section's table, without its head.
    func table(_ section: String, _ number: Int = 0) -> [[String]] {
        guard let tables = sections[section], tables.indices.contains(number) else { return [] }
        return Array(tables[number].dropFirst(2))
    }

    func head(_ section: String) -> [String] {
        sections[section]?.first?.first ?? []
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
