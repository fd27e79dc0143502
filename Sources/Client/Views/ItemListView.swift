import ToolTexts
import Wire

/// `list --secrets`: a table for a person, lines or an object for a program.
enum ItemListView {
    /// By collection, label and id.
    private static func sorted(_ all: ItemNews) -> [(item: Item, collection: [UInt8])] {
        let labels = Dictionary(
            all.collections.map { ($0.id, $0.label) }, uniquingKeysWith: { first, _ in first })
        // What is in no collection of these was deleted with its own.
        let items = all.items.compactMap { item in
            labels[item.collection].map { (item: item, collection: $0) }
        }
        func key(_ entry: (item: Item, collection: [UInt8])) -> [[UInt8]] {
            [entry.collection, entry.item.label, entry.item.id]
        }
        return items.sorted { left, right in
            for (one, other) in zip(key(left), key(right)) where one != other {
                return one.lexicographicallyPrecedes(other)
            }
            return false
        }
    }

    private static func pairs(_ item: Item) -> [[UInt8]] {
        item.attributes.map { $0.name + [UInt8(ascii: "=")] + $0.value }
    }

    static func table(_ all: ItemNews, _ voice: Voice, _ words: OwnWords) -> [UInt8] {
        let entries = sorted(all)
        guard !entries.isEmpty else { return words(.secretsNone) + [0x0A] }
        let paint = voice.outputPaint
        let heads = [
            words(.titleCollection), words(.titleLabel), words(.titleAttributes),
        ]
        let rows = entries.map { entry in
            [Printable.escaped(entry.collection), Printable.escaped(entry.item.label)]
        }
        let widths = (0..<2).map { column in
            ([heads[column]] + rows.map { $0[column] }).map { Layout.width($0) }.max() ?? 0
        }
        func painted(_ text: [UInt8], _ colour: Voice.Colour) -> [UInt8] {
            Array(paint.painted(String(decoding: text, as: UTF8.self), colour).utf8)
        }
        func cell(_ text: [UInt8], _ column: Int, _ colour: Voice.Colour?) -> [UInt8] {
            let shown = colour.map { painted(text, $0) } ?? text
            return shown + Layout.spaces(widths[column] + 2 - Layout.width(text))
        }
        var text = cell(heads[0], 0, .faint) + cell(heads[1], 1, .faint)
        text += painted(heads[2], .faint) + [0x0A]
        for (entry, row) in zip(entries, rows) {
            text += cell(row[0], 0, nil) + cell(row[1], 1, .bold)
            let attributes = pairs(entry.item).map { Printable.escaped($0) }
            text += Array(attributes.joined(separator: Array(", ".utf8))) + [0x0A]
        }
        return text
    }

    static func lines(_ all: ItemNews) -> [UInt8] {
        sorted(all).flatMap { entry in
            Layout.fields(
                [hex(entry.item.id), entry.collection, entry.item.label] + pairs(entry.item))
        }
    }

    static func write(_ all: ItemNews, to json: inout JSON) {
        json.objects("secrets", sorted(all)) { json, entry in
            json.field("id", hex(entry.item.id))
            json.field("collection", entry.collection)
            json.field("label", entry.item.label)
            json.field("contentType", entry.item.contentType)
            json.field("created", entry.item.created)
            json.field("modified", entry.item.modified)
            json.objects("attributes", entry.item.attributes) { json, attribute in
                json.field("name", attribute.name)
                json.field("value", attribute.value)
            }
        }
    }

    private static func hex(_ id: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return id.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
