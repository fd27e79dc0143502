import Posix
import ToolTexts
import Wire

/// `watch`: a sentence for a person, fields or an object for a program.
struct WatchView {
    enum Form { case sentence, fields, object }

    let form: Form
    let words: OwnWords

    func line(_ event: Event) -> SecretBuffer {
        let isOfStore = event.store.contains { $0 != 0 }
        var line = SecretBuffer()
        switch form {
        case .object:
            var json = JSON()
            json.field("event", Self.name(event.what))
            json.fieldOrNull("name", isOfStore ? event.name : nil)
            json.fieldOrNull("store", isOfStore ? Array(StoreIDText.text(event.store).utf8) : nil)
            json.field("at", ToolIO.now)
            return json.finish()
        case .fields:
            line.append(
                Layout.fields([
                    Array(Self.name(event.what).utf8), event.name,
                    isOfStore ? Array(StoreIDText.text(event.store).utf8) : [],
                ]))
        case .sentence:
            guard let text = Self.text(event.what) else { break }
            let sentence = words(text, Printable.escaped(event.name))
            line.append(Text(ToolIO.localClock(ToolIO.now), "  ", sentence, "\n").bytes)
        }
        return line
    }

    private static func name(_ what: Event.What) -> String {
        switch what {
        case .locked: "locked"
        case .opened: "opened"
        case .changed: "changed"
        case .fingerAdded: "finger-added"
        case .left: "left"
        case .cameBack: "came-back"
        case .told: "told"
        case .members: "members"
        case .records: "records"
        case .removed: "removed"
        }
    }

    /// Nil: a person need not be told.
    private static func text(_ what: Event.What) -> ToolText? {
        switch what {
        case .locked: .watchLocked
        case .opened: .watchOpened
        case .changed: .watchChanged
        case .fingerAdded: .watchFinger
        case .left: .watchLeft
        case .cameBack: .watchCameBack
        case .told: nil
        case .members: .watchMembers
        case .records: .watchRecords
        case .removed: .watchRemoved
        }
    }
}
