import Posix
import ToolTexts
import Wire

/// `people list`: a list for a person, lines or an object for a program.
enum PeopleView {
    static func table(
        _ people: [StoreList.Entry], _ account: [UInt8], _ known: AccountNames.Account,
        _ voice: Voice, _ words: OwnWords
    ) -> [UInt8] {
        let paint = voice.outputPaint
        var shown = heading(account, known, words) + [0x0A]
        if let picture = known.picture {
            let line = words(.peoplePicture, Printable.escaped(Array(picture.utf8)))
            shown += Array(paint.painted(String(decoding: line, as: UTF8.self), .faint).utf8)
            shown.append(0x0A)
        }
        guard !people.isEmpty else { return shown + words(.peopleNone) + [0x0A] }
        let names = people.map { Printable.escaped($0.name) }
        let width = names.map { Layout.width($0) }.max() ?? 0
        for (name, store) in zip(names, people) {
            let (text, colour) = StatusView.text(store.lock)
            shown += Array((store.lock == .unlocked ? "* " : "  ").utf8)
            shown += name + Layout.spaces(width + 2 - Layout.width(name))
            shown += Array(paint.painted(words.string(text), colour).utf8)
            shown.append(0x0A)
        }
        return shown
    }

    private static func heading(
        _ account: [UInt8], _ known: AccountNames.Account, _ words: OwnWords
    ) -> [UInt8] {
        known.realName.isEmpty
            ? words(.peopleOf, Printable.escaped(account))
            : words(.peopleOfNamed, Printable.escaped(account), Printable.escaped(known.realName))
    }

    static func lines(_ people: [StoreList.Entry]) -> [UInt8] {
        people.flatMap { store in
            Layout.fields([
                store.name, Array(StatusView.name(store.lock).utf8),
                Array((store.lock == .unlocked ? "current" : "").utf8),
            ])
        }
    }

    static func json(
        _ people: [StoreList.Entry], _ account: [UInt8], _ known: AccountNames.Account,
        _ portraits: Portraits
    ) -> SecretBuffer {
        var json = JSON()
        json.field("account", account)
        json.fieldOrNull("realName", known.realName.isEmpty ? nil : known.realName)
        json.fieldOrNull("picture", known.picture.map { Array($0.utf8) })
        json.objects("people", people) { json, store in
            json.field("name", store.name)
            json.field("state", StatusView.name(store.lock))
            json.field("passcode", StatusView.name(store.passcode))
            json.field("current", store.lock == .unlocked)
            json.field("picture", portraits.picture(for: store.name).rawValue)
        }
        return json.finish()
    }
}
