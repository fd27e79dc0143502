/// One manual page in man(7), made from plain text: `code` in backquotes is set bold, and so is
/// page(8).
package struct Page {
    package let name: String
    package let section: Int
    private var lines: [String] = []

    package var fileName: String { "\(name).\(section)" }
    package var text: String { lines.joined(separator: "\n") + "\n" }

    init(_ name: String, _ section: Int, _ summary: String, version: String) {
        self.name = name
        self.section = section
        let manual =
            section == 1 ? "User Commands" : section == 5 ? "File Formats" : "System Administration"
        lines = [
            #".\" Made by `make man` from the tables of the programs: change those."#,
            #".TH \#(name.uppercased()) \#(section) "" "AppVault \#(version)" "\#(manual)""#,
            ".ad l", ".hy 0", ".SH NAME",
            Page.escaped(name, isCode: true) + #" \- "# + Page.escaped(summary),
        ]
    }

    mutating func heading(_ title: String) { lines.append(".SH \(title.uppercased())") }

    mutating func subheading(_ title: String) { lines.append(".SS " + Page.escaped(title)) }

    mutating func paragraph(_ text: String) {
        beginParagraph()
        prose(text)
    }

    // A heading begins a paragraph by itself.
    private mutating func beginParagraph() {
        let last = lines.last ?? ""
        if !last.hasPrefix(".SH"), !last.hasPrefix(".SS") { lines.append(".PP") }
    }

    /// A term and what it means; further paragraphs stand below it.
    mutating func item(_ term: String, _ texts: String...) { item(term, texts) }

    mutating func item(_ term: String, _ texts: [String]) {
        lines += [".TP", Page.marked(term)]
        if texts.isEmpty { lines.append(#"\&"#) }
        for (index, text) in texts.enumerated() {
            if index > 0 { lines.append(".IP") }
            prose(text)
        }
    }

    /// A term inside the item before it.
    mutating func nested(_ term: String, _ text: String) {
        lines += [".RS 7n", ".PD 0", ".TP", Page.marked(term)]
        prose(text)
        lines += [".PD", ".RE"]
    }

    /// Lines that are shown as they are.
    mutating func verbatim(_ text: [String]) {
        beginParagraph()
        lines +=
            [".in +4n", ".nf"] + text.map { Page.escaped($0, isCode: true) } + [
                ".fi", ".in",
            ]
    }

    mutating func example(_ command: String, _ meaning: String) {
        lines += [".TP", #"\fB"# + Page.escaped(command, isCode: true) + #"\fR"#]
        prose(meaning)
    }

    /// Makes a sentence of some words. The name of a program keeps its small first letter.
    static func sentence(_ words: String) -> String {
        (words.hasPrefix("appvault") ? words : words.prefix(1).uppercased() + words.dropFirst())
            + "."
    }

    // A sentence begins a line, as man(7) wants it, and no line is longer than 80 bytes.
    private mutating func prose(_ text: String) {
        var line = ""
        for word in Page.words(text) {
            let wanted = Page.marked(word)
            if !line.isEmpty, line.utf8.count + 1 + wanted.utf8.count > 79 {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + wanted
            if word.hasSuffix(".") || word.hasSuffix(".)"), !word.hasSuffix("...") {
                lines.append(line)
                line = ""
            }
        }
        if !line.isEmpty { lines.append(line) }
    }

    /// Splits at spaces, but not inside backquotes.
    private static func words(_ text: String) -> [String] {
        var words = [""]
        var isCode = false
        for character in text {
            if character == "`" { isCode.toggle() }
            if character == " ", !isCode {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }

    /// Makes backquoted text and references to pages bold. A word that begins with a dash is an
    /// option, so its dashes are written as plain ASCII hyphens.
    static func marked(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            index % 2 == 1
                ? #"\fB"# + escaped(String(part), isCode: true) + #"\fR"#
                : part.split(separator: " ", omittingEmptySubsequences: false).map { word in
                    plain(String(word))
                }.joined(separator: " ")
        }.joined()
    }

    private static func plain(_ word: String) -> String {
        if let open = word.firstIndex(of: "("), open != word.startIndex,
            let digit = word[word.index(after: open)...].first, ("1"..."8").contains(digit),
            word[word.index(open, offsetBy: 2)...].first == ")"
        {
            return #"\fB"# + escaped(String(word[..<open]), isCode: true) + #"\fR"#
                + escaped(String(word[open...]))
        }
        return escaped(word, isCode: word.hasPrefix("-") && word.utf8.count > 1)
    }

    static func escaped(_ text: String, isCode: Bool = false) -> String {
        var result = text.hasPrefix(".") || text.hasPrefix("'") ? #"\&"# : ""
        for character in text {
            switch character {
            case "\\": result += #"\e"#
            case "-": result += isCode ? #"\-"# : "-"
            case "'": result += #"\(aq"#
            case "`": result += #"\(ga"#
            case "^": result += #"\(ha"#
            case "~": result += #"\(ti"#
            default: result.append(character)
            }
        }
        return result
    }
}
