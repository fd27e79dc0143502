import Posix
import Testing
import ToolTexts
import Wire

@testable import Client

struct OwnWordsTests {
    private func list(_ texts: (String, String)...) -> OwnWords.Texts {
        OwnWords.texts(
            TextList(
                texts: texts.map { id, text in
                    TextList.Entry(
                        id: Array(id.utf8), text: Array(text.utf8), origin: .catalogue)
                }))
    }

    private func shown(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("the daemon's text goes before the built-in one, with the arguments in their places")
    func replaced() {
        let words = OwnWords { list(("tool.store.of", "{2}: {1}"), ("tool.state.locked", "zu")) }
        #expect(shown(words(.storeOf, "default", "alice")) == "alice: default")
        #expect(words.string(.stateLocked) == "zu")
        #expect(shown(words(.stateOpen)) == "open")
    }

    @Test("an argument is never taken for a text with positions, nor a text for a control sequence")
    func hostile() {
        #expect(shown(OwnWords.english(.storeOf, "{2}", "{1}")) == "{2} of {1}")
        let words = OwnWords { list(("tool.state.locked", "\u{1B}[2Jzu")) }
        #expect(shown(words(.stateLocked)) == "\\x1b[2Jzu")
    }

    @Test("titles have a column of their own, wider where a language needs it")
    func block() {
        let words = OwnWords { list(("tool.title.records", "Eintr\u{E4}ge insgesamt")) }
        for (words, expected) in [
            (OwnWords.english, "state      open\nrecords    7\n"),
            (words, "state              open\nEintr\u{E4}ge insgesamt 7\n"),
        ] {
            var block = TitledBlock(.plain, words)
            block.add(.titleState, words(.stateOpen))
            block.add(.titleRecords, Array("7".utf8))
            #expect(shown(block.bytes) == expected)
        }
    }

    @Test("it asks once, and not before there is something to say")
    func once() {
        var asked = 0
        let words = OwnWords {
            asked += 1
            return [:]
        }
        #expect(asked == 0)
        _ = words(.stateLocked)
        _ = words(.stateOpen)
        #expect(asked == 1)
    }

    @Test("every text is said somewhere, with as many arguments as it has positions")
    func said() throws {
        let all = try Sources.all().uses()
        for text in ToolText.allCases {
            let uses = all["\(text)"] ?? []
            #expect(!uses.isEmpty, "\(text)")
            let positions = Positions.of(text.english)
            #expect(positions == (positions.isEmpty ? [] : Set(1...positions.count)))
            // If the text comes directly after `words(`, what follows are its arguments.
            for use in uses where use.isCall {
                #expect(use.arguments == positions.count, "\(text): \(use.arguments)")
            }
        }
    }

    @Test("each row has an id and English, and says what its positions stand for")
    func rows() {
        for text in ToolText.allCases {
            #expect(text.id.hasPrefix("tool.") && !text.english.isEmpty, "\(text)")
            #expect(text.row.positions.count == Positions.of(text.english).count, "\(text)")
            #expect(text.row.positions.allSatisfy { !$0.isEmpty }, "\(text)")
            #expect(ToolText(id: text.id) == text)
        }
    }

    @Test("English as it was, for those who read it by a program")
    func plain() {
        #expect(
            shown(OwnWords.english(.triesApart, "2 left", "none left"))
                == "2 left at this machine, none left from elsewhere")
    }
}

/// The tool's sources: for what no test can call.
private struct Sources {
    struct Use {
        var isCall: Bool
        var arguments: Int
    }

    var text: [UInt8] = []

    static func all(file: String = #filePath) throws -> Sources {
        let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
        var sources = Sources()
        for front in ["Client", "Desktop"] { try sources.add("/\(root)/Sources/\(front)") }
        return sources
    }

    private mutating func add(_ folder: String) throws {
        for name in try Folder(path: folder).names() {
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") {
                text += try TextFile.read(at: path, limit: 1 << 20)
            } else {
                try add(path)
            }
        }
    }

    /// Of each name behind a dot.
    func uses() -> [String: [Use]] {
        var uses: [String: [Use]] = [:]
        var index = 0
        while index < text.count {
            defer { index += 1 }
            guard text[index] == UInt8(ascii: ".") else { continue }
            var end = index + 1
            while end < text.count, isLetter(text[end]) { end += 1 }
            guard end > index + 1 else { continue }
            let name = String(decoding: text[index + 1..<end], as: UTF8.self)
            uses[name, default: []].append(
                Use(isCall: isCall(before: index), arguments: arguments(at: end)))
        }
        return uses
    }

    /// `words(` or `words.string(`, wherever the line was broken.
    private func isCall(before index: Int) -> Bool {
        let before = text[max(0, index - 80)..<index].filter { $0 != 0x20 && $0 != 0x0A }
        return before.ends(with: "words(") || before.ends(with: "words.string(")
    }

    /// Counts the commas up to the closing parenthesis, without those of inner calls.
    private func arguments(at start: Int) -> Int {
        var depth = 0
        var count = 0
        for byte in text[start...].prefix(4096) {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")") where depth == 0: return count
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 0: count += 1
            default: break
            }
        }
        return count
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
