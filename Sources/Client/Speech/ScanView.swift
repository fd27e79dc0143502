import Posix
import ToolTexts
import Wire

/// Shows that a reader waits: one line that is drawn again on a terminal, plain lines elsewhere.
final class ScanView {
    private let voice: Voice
    private let words: OwnWords
    private var line: [UInt8] = []
    private var stage = 0
    private var stages = 0
    private var isOpen = false
    private var isDrawn = false

    init(_ voice: Voice, _ words: OwnWords) {
        self.voice = voice
        self.words = words
    }

    func show(_ scan: Scan) {
        let text = Printable.escaped(scan.line.text)
        stage = Int(scan.stage)
        stages = Int(scan.stages)
        guard voice.redrawnColumns != nil else { return voice.info(plain(scan)) }
        switch scan.event {
        case .place, .stage, .retry:
            isOpen = true
            if !text.isEmpty {
                line = text
            } else if scan.event == .stage {
                line = words(.scanStage, stage, stages)
            }
            draw()
        case .ended:
            clear()
            isOpen = false
            voice.info(scan.line.text)
        }
    }

    func draw() {
        guard isOpen, let columns = voice.redrawnColumns else { return }
        isDrawn = true
        voice.printError(
            Text("\r", ScanView.line(line, stage, stages, columns: columns), "\u{1B}[K").bytes)
    }

    /// Clears the line, so that another text does not stand behind it.
    func clear() {
        guard isDrawn else { return }
        isDrawn = false
        voice.printError(Array("\r\u{1B}[K".utf8))
    }

    func end() {
        clear()
        isOpen = false
    }

    private func plain(_ scan: Scan) -> [UInt8] {
        if !scan.line.text.isEmpty || scan.event != .stage { return scan.line.text }
        return words(.scanStage, stage, stages)
    }

    /// Never more than one line, because only one line can be drawn again: the bar goes where both
    /// do not fit, and a text that does not fit is cut between two words.
    static func line(_ text: [UInt8], _ stage: Int, _ stages: Int, columns: Int) -> [UInt8] {
        let room = columns - 1
        if stages > 0, stages <= 20 {
            let done = min(stage, stages)
            let bar =
                "[" + String(repeating: "#", count: done)
                + String(repeating: ".", count: stages - done) + "] "
            let line = Array(bar.utf8) + text
            if Layout.width(line) <= room { return line }
        }
        if Layout.width(text) <= room { return text }
        var shown: [UInt8] = []
        for word in text.split(separator: UInt8(ascii: " ")) {
            let longer = shown.isEmpty ? Array(word) : shown + [UInt8(ascii: " ")] + word
            guard Layout.width(longer) <= room - 3 else { break }
            shown = longer
        }
        return Layout.width(shown) <= room - 3 ? shown + Array("...".utf8) : []
    }
}
