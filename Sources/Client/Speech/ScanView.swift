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
            if !text.isEmpty { line = text }
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

    /// Never more than one line, because only one line can be drawn again.
    static func line(_ text: [UInt8], _ stage: Int, _ stages: Int, columns: Int) -> [UInt8] {
        let done = min(stage, stages)
        let count = stages > 0 ? "\(done)/\(stages)" : ""
        var bar = ""
        if stages > 0, stages <= 20, columns >= 60 {
            bar =
                "[" + String(repeating: "#", count: done)
                + String(repeating: ".", count: stages - done) + "] "
        }
        var tail = stages > 0 ? bar + count + " " : ""
        if tail.utf8.count > columns - 8 { tail = "" }
        let room = columns - 1 - tail.utf8.count
        var shown: [UInt8] = Array(tail.utf8)
        var width = 0
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            width += Layout.width(bytes)
            guard width <= room else { break }
            shown += bytes
        }
        return shown
    }
}
