import Posix
import ToolTexts

/// How far a transfer is, on a terminal only.
final class ProgressBar {
    private let title: ToolText
    private let words: OwnWords
    private let descriptor: Int32?
    private var shown: Int?

    init(_ title: ToolText, _ words: OwnWords, _ environment: Environment) {
        self.title = title
        self.words = words
        let isWatched =
            environment.errors.isTerminal && environment.variable("TERM") != Array("dumb".utf8)
        descriptor = isWatched ? environment.errors.descriptor : nil
    }

    func show(done: UInt64, total: UInt64) {
        guard let descriptor, total > 0 else { return }
        let percent = Int(
            min(done, total).multipliedReportingOverflow(by: 100).overflow
                ? min(done, total) / (total / 100) : min(done, total) * 100 / total)
        guard percent != shown else { return }
        shown = percent
        let line = ProgressBar.line(
            words.string(title), percent, columns: ToolIO.columns(descriptor))
        try? ToolIO.write(descriptor, Array("\r\(line)\u{1B}[K".utf8).span)
    }

    static func line(_ title: String, _ percent: Int, columns: Int) -> String {
        let number = "\(percent)%"
        let head = title + " "
        let tail = " " + String(repeating: " ", count: 4 - number.utf8.count) + number
        let room = min(
            40,
            (columns > 0 ? columns : 80) - Layout.width(Array(head.utf8)) - tail.utf8.count - 3)
        guard room >= 8 else { return head + number }
        let filled = room * percent / 100
        return head + "[" + String(repeating: "#", count: filled)
            + String(repeating: ".", count: room - filled) + "]" + tail
    }

    func clear() {
        guard let descriptor, shown != nil else { return }
        shown = nil
        try? ToolIO.write(descriptor, Array("\r\u{1B}[K".utf8).span)
    }
}
