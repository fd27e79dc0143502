import Posix
import Wire

/// `fingerprint list`: fingers for a person, lines or an object for a program.
enum FingerprintView {
    static func text(_ state: FingerprintState, _ voice: Voice, _ marks: Marks) -> [UInt8] {
        var text = Text()
        func row(_ title: String, _ pieces: any TextPiece...) {
            text += voice.outputPaint.painted(title, .faint)
            text += String(repeating: " ", count: max(0, 11 - title.utf8.count))
            for piece in pieces { text += piece }
            text += "\n"
        }
        row("finger", standing(state))
        if state.on { row("failures", "\(state.failuresLeft) left, then the passcode is needed") }
        for reader in state.readers {
            row("reader", Printable.escaped(reader.name), " (", traits(reader), ")")
        }
        if !state.unavailable.isEmpty { row("reader", Printable.escaped(state.unavailable)) }
        if state.foreign > 0 {
            row("chip", Int(state.foreign), " prints on it are not AppVault's; they are left alone")
        }
        let width = (state.fingers.map { $0.finger.words.utf8.count }.max() ?? 0) + 2
        for enrolled in state.fingers {
            let mark = marks.mark(enrolled.usable ? .satisfied : .unmet)
            text += Text(
                voice.outputPaint.painted(mark, enrolled.usable ? .green : .red), " ",
                Layout.padded(Array(enrolled.finger.words.utf8), width),
                ToolIO.localTime(enrolled.at), "  ", Printable.escaped(enrolled.reader),
                enrolled.usable ? "" : " (not connected)", "\n")
        }
        return text.bytes
    }

    private static func standing(_ state: FingerprintState) -> String {
        switch (state.on, state.ready) {
        case (false, _): "opens nothing: it is off"
        case (true, true): "opens the store"
        case (true, false): "opens the store after the next passcode"
        }
    }

    private static func traits(_ reader: FingerprintState.Device) -> String {
        let touch =
            switch reader.scan {
            case .press: "press"
            case .swipe: "swipe"
            }
        let place = reader.isInternal ? "internal" : "external"
        return "\(touch), \(place)" + (reader.stores ? ", keeps prints itself" : "")
    }

    static func fields(_ state: FingerprintState) -> [UInt8] {
        state.fingers.flatMap { enrolled in
            Layout.fields([
                Array(enrolled.finger.name.utf8), enrolled.reader, Array(String(enrolled.at).utf8),
                Array((enrolled.usable ? "usable" : "unusable").utf8),
            ])
        }
    }

    static func write(_ state: FingerprintState, to json: inout JSON) {
        json.field("on", state.on)
        json.field("ready", state.ready)
        json.field("failuresLeft", Int(state.failuresLeft))
        if state.unavailable.isEmpty {
            json.null("unavailable")
        } else {
            json.field("unavailable", state.unavailable)
        }
        json.objects("fingers", state.fingers) { json, enrolled in
            json.field("finger", enrolled.finger.name)
            json.field("reader", enrolled.reader)
            json.field("at", enrolled.at)
            json.field("usable", enrolled.usable)
        }
        json.objects("readers", state.readers) { json, reader in
            json.field("name", reader.name)
            json.field("driver", reader.driver)
            json.field("scan", reader.scan == .press ? "press" : "swipe")
            json.field("stages", Int(reader.stages))
            json.field("identifies", reader.identifies)
            json.field("stores", reader.stores)
            json.field("internal", reader.isInternal)
            json.field("port", reader.port)
        }
        json.field("foreign", Int(state.foreign))
    }
}
