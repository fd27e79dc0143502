import Policy
import Testing
import Wire

@testable import Client

struct LayoutTests {
    @Test("lines break at spaces and keep words that are too long")
    func wraps() {
        let lines = Layout.wrapped(Array("one two three extraordinarily four".utf8), 9)
        #expect(
            lines.map { String(decoding: $0, as: UTF8.self) }
                == ["one two", "three", "extraordinarily", "four"])
        #expect(Layout.wrapped([], 9) == [[]])
    }

    @Test("wide characters take two columns, and marks none")
    func measures() {
        #expect(Layout.width(Array("e\u{301}".utf8)) == 1)
        #expect(Layout.width(Array("\u{6F22}\u{5B57}".utf8)) == 4)
    }

    @Test("a field for a program holds no tab and no newline")
    func fields() {
        let line = Layout.fields([Array("a\tb".utf8), Array("c\nd".utf8)])
        #expect(line == Array("a\\x09b\tc\\x0ad\n".utf8))
    }
}

struct FlowWordsTests {
    @Test("every flow has a name and words of its own, and an unknown one is told as such")
    func flows() {
        let numbers = Flow.allCases.map(\.rawValue)
        #expect(Set(numbers.map { FlowWords.name($0) }).count == numbers.count)
        let english = OwnWords.english
        #expect(Set(numbers.map { FlowWords.words($0, english) }).count == numbers.count)
        #expect(!numbers.contains { FlowWords.name($0) == "unknown" })
        #expect(FlowWords.name(99) == "unknown")
        #expect(String(decoding: FlowWords.words(99, english), as: UTF8.self).contains("99"))
        #expect(FlowWords.words([], english) == Array("nothing".utf8))
        #expect(
            FlowWords.words([6, 3], english)
                == Array("the fingerprints are removed; then a new passcode has to be chosen".utf8))
    }
}

struct ChecklistViewTests {
    private func list(_ findings: Checklist.Entry.Finding...) -> Checklist {
        Checklist(
            entries: findings.map { Checklist.Entry(id: [], finding: $0, wants: [], reason: []) })
    }

    @Test("one rule that is unmet is enough, and none that looked is no yes")
    func verdicts() {
        #expect(ChecklistView.verdict(list(.satisfied, .notChecked)) == .met)
        #expect(ChecklistView.verdict(list(.satisfied, .unmet, .unmet)) == .unmet(2))
        #expect(ChecklistView.verdict(list(.unmet, .notChecked)) == .unmet(1))
        #expect(ChecklistView.verdict(list(.notChecked, .notChecked)) == .unfit(reason: []))
        #expect(ChecklistView.verdict(list()) == .met)
    }

    @Test("an entry is broken between words, and its reason alone is faint")
    func lines() {
        let entry = Checklist.Entry(
            id: [], finding: .notChecked, wants: Array("one two three".utf8),
            reason: Array("four five six".utf8))
        let view = ChecklistView(marks: .ascii, paint: .plain, words: .english)
        let lines = view.lines(entry, isBlank: false, columns: 26)
        #expect(
            lines.map { String(decoding: $0, as: UTF8.self) }
                == ["  -- one two three (four", "     five six)"])
        let painted = ChecklistView(marks: .ascii, paint: .coloured, words: .english)
            .lines(entry, isBlank: false, columns: 26)
        #expect(
            String(decoding: painted[0], as: UTF8.self)
                == "  \u{1B}[2m--\u{1B}[0m one two three\u{1B}[2m (four\u{1B}[0m")
        #expect(String(decoding: painted[1], as: UTF8.self) == "     \u{1B}[2mfive six)\u{1B}[0m")
    }
}
