import Posix
import ToolTexts
import Wire

/// `fingerprint list`: fingers for a person, lines or an object for a program.
enum FingerprintView {
    static func text(
        _ state: FingerprintState, tellsWho: Bool?, _ voice: Voice, _ words: OwnWords,
        _ marks: Marks
    ) -> [UInt8] {
        var block = TitledBlock(voice.outputPaint, words)
        block.add(.titleFinger, words(standing(state)))
        if state.on {
            block.add(.titleFailures, words(.fingerFailures, "\(state.failuresLeft)"))
        }
        if state.on, let tellsWho {
            block.add(.titleWho, words(tellsWho ? .fingerTellsWho : .fingerTellsNobody))
        }
        for reader in state.readers { block.add(.titleReader, line(reader, words)) }
        if !state.unavailable.isEmpty {
            block.add(.titleReader, Printable.escaped(state.unavailable))
        }
        if state.foreign > 0 {
            block.add(.titleChip, words(.fingerForeign, "\(state.foreign)"))
        }
        if state.keepsPassword { block.add(.titleKeyring, words(.fingerKeepsPassword)) }
        let names = state.fingers.map { words($0.finger.text) }
        let width = (names.map { Layout.width($0) }.max() ?? 0) + 2
        return zip(names, state.fingers).reduce(into: block.bytes) { text, line in
            let (name, enrolled) = line
            let isUsable = enrolled.standing == .usable
            let mark = marks.mark(isUsable ? .satisfied : .unmet)
            text +=
                Text(
                    voice.outputPaint.painted(mark, isUsable ? .green : .red), " ",
                    Layout.padded(name, width), ToolIO.localTime(enrolled.at), "  ",
                    place(enrolled, words), "\n"
                ).bytes
        }
    }

    /// The reader of a finger, and why it is of no use there.
    static func place(_ enrolled: FingerprintState.Enrolled, _ words: OwnWords) -> [UInt8] {
        let reader = Printable.escaped(enrolled.reader)
        return switch enrolled.standing {
        case .usable: reader
        case .away: words(.fingerAway, reader)
        case .moved: words(.fingerMoved, reader)
        case .gone: words(.fingerGone, reader)
        }
    }

    static func standing(_ state: FingerprintState) -> ToolText {
        let isUsable = state.fingers.contains { $0.standing == .usable }
        return switch (state.on, state.ready) {
        case (false, _): .fingerStandingOff
        case (true, true): .fingerStandingOn
        case (true, false): isUsable ? .fingerStandingAfter : .fingerStandingNone
        }
    }

    private static func line(_ reader: FingerprintState.Device, _ words: OwnWords) -> [UInt8] {
        let touch: ToolText =
            switch reader.scan {
            case .press: .readerPress
            case .swipe: .readerSwipe
            }
        let (name, place) = (
            Printable.escaped(reader.name),
            words(reader.isInternal ? .readerInternal : .readerExternal)
        )
        return reader.stores
            ? words(.fingerReaderStores, name, words(touch), place)
            : words(.fingerReader, name, words(touch), place)
    }

    static func fields(_ state: FingerprintState) -> [UInt8] {
        state.fingers.flatMap { enrolled in
            Layout.fields([
                Array(enrolled.finger.name.utf8), enrolled.reader, Array(String(enrolled.at).utf8),
                Array((enrolled.standing == .usable ? "usable" : "unusable").utf8),
            ])
        }
    }

    static func write(_ state: FingerprintState, tellsWho: Bool?, to json: inout JSON) {
        json.field("on", state.on)
        json.field("ready", state.ready)
        json.field("failuresLeft", Int(state.failuresLeft))
        if state.unavailable.isEmpty {
            json.null("unavailable")
        } else {
            json.field("unavailable", state.unavailable)
        }
        if state.advice.isEmpty {
            json.null("advice")
        } else {
            json.field("advice", state.advice)
        }
        json.objects("fingers", state.fingers) { json, enrolled in
            json.field("finger", enrolled.finger.name)
            json.field("reader", enrolled.reader)
            json.field("at", enrolled.at)
            json.field("usable", enrolled.standing == .usable)
            json.field("standing", enrolled.standing.name)
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
        if let tellsWho { json.field("tellsWho", tellsWho) } else { json.null("tellsWho") }
        json.field("keepsPassword", state.keepsPassword)
    }
}

extension FingerprintState.Enrolled.Standing {
    fileprivate var name: String {
        switch self {
        case .usable: "usable"
        case .away: "away"
        case .moved: "moved"
        case .gone: "gone"
        }
    }
}
