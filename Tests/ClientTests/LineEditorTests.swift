import Posix
import Testing

@testable import Client

private func typed(_ keys: [UInt8], limit: Int = 64) -> (line: [UInt8], last: LineEditor.Effect) {
    var editor = LineEditor(limit: limit)
    var line = SecretBuffer()
    var last = LineEditor.Effect.nothing
    for key in keys { last = editor.take(key, into: &line) }
    return (line.withSpan { span in (0..<span.count).map { span[$0] } }, last)
}

struct LineEditorTests {
    static let lines: [(keys: String, line: String)] = [
        ("abc", "abc"),
        ("a\u{7F}b", "b"),
        ("\u{7F}\u{08}a", "a"),
        ("a\u{E9}\u{7F}", "a"),
        ("a\u{20AC}\u{7F}b", "ab"),
        ("\u{1F511}\u{7F}", ""),
        ("one two \u{17}", "one "),
        ("one\u{17}", ""),
        ("\u{17}", ""),
        ("abc\u{15}d", "d"),
        ("a\u{1B}[Db", "ab"),
        ("a\u{1B}[1;5Cb", "ab"),
        ("a\u{1B}OPb", "ab"),
        ("a\u{1B}xb", "ab"),
        ("a\u{01}\u{09}b", "ab"),
    ]

    @Test("keys make the line that a person means", arguments: lines)
    func edits(keys: String, line: String) {
        #expect(typed(Array(keys.utf8)).line == Array(line.utf8))
    }

    @Test("a rubbed-out byte that is no UTF-8 takes nothing else along")
    func rubsOutStrayBytes() {
        #expect(typed([0x61, 0xFF, 0x7F]).line == [0x61])
        #expect(typed([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F]).line.count == 2)
    }

    @Test("Enter ends the line, Ctrl-D only an empty one, and a full line takes no more")
    func ends() {
        #expect(typed([0x61, 0x0A]).last == .enter)
        #expect(typed([0x0D]).last == .enter)
        #expect(typed([0x04]).last == .end)
        #expect(typed([0x61, 0x04]).last == .nothing)
        #expect(typed([0x61, 0x62], limit: 2).last == .changed)
        let full = typed([0x61, 0x62, 0x63], limit: 2)
        #expect(full.last == .full)
        #expect(full.line == [0x61, 0x62])
    }

    @Test("a character counts once and is whole with its last byte")
    func characters() {
        let text = Array("a\u{E9}\u{20AC}\u{1F511}".utf8)
        let whole: Set = [0, 1, 3, 6, 10]
        for count in 0...text.count {
            var line = SecretBuffer()
            line.append(Array(text.prefix(count)))
            #expect(LineEditor.isWhole(line) == whole.contains(count), "\(count) bytes")
        }
        var line = SecretBuffer()
        line.append(text)
        #expect(LineEditor.characters(line) == 4)
    }
}
