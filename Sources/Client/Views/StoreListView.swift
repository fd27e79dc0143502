import Policy
import Posix
import ToolTexts
import Wire

/// `stores`: a table for a person, lines or an object for a program.
enum StoreListView {
    static func table(
        _ stores: [StoreList.Entry], showsOwner: Bool, columns: Int, _ voice: Voice,
        _ words: OwnWords
    ) -> [UInt8] {
        guard !stores.isEmpty else { return words(.storesNone) + [0x0A] }
        let paint = voice.outputPaint
        let titles: [ToolText] =
            [.titleStore] + (showsOwner ? [.titleOwner] : [])
            + [.titleState, .titleOpensWith, .titleRecords, .titleSpace]
        let rows = stores.map { store in
            [Self.name(store, showsOwner)]
                + (showsOwner ? [Printable.escaped(store.owner.name)] : [])
                + [
                    words(StatusView.text(store.lock).0), way(store, words),
                    store.lock == .unlocked ? Text(store.records).bytes : [0x2D],
                    Text(ByteAmount.text(store.bytes)).bytes,
                ]
        }
        let heads = titles.map { words($0) }
        let widths = heads.indices.map { column in
            ([heads[column]] + rows.map { $0[column] }).map { Layout.width($0) }.max() ?? 0
        }
        func line(_ cells: [[UInt8]], _ shown: (Int, [UInt8]) -> [UInt8]) -> [UInt8] {
            var line: [UInt8] = []
            for (column, cell) in cells.enumerated() {
                line += shown(column, cell)
                guard column < cells.count - 1 else { break }
                line += Layout.spaces(widths[column] + 2 - Layout.width(cell))
            }
            return line + [0x0A]
        }
        func painted(_ text: [UInt8], _ colour: Voice.Colour) -> [UInt8] {
            Array(paint.painted(String(decoding: text, as: UTF8.self), colour).utf8)
        }
        let state = showsOwner ? 2 : 1
        return line(heads) { painted($1, .faint) }
            + zip(stores, rows).flatMap { store, cells in
                line(cells) { column, cell in
                    switch column {
                    case 0: painted(cell, .bold)
                    case state: painted(cell, StatusView.text(store.lock).1)
                    default: cell
                    }
                }
                    + more(store, showsOwner, columns, words).flatMap {
                        painted($0, .faint) + [0x0A]
                    }
            }
    }

    /// Lines below a store of which there is more to say than of most.
    private static func more(
        _ store: StoreList.Entry, _ showsOwner: Bool, _ columns: Int, _ words: OwnWords
    ) -> [[UInt8]] {
        var facts: [Text] = []
        func fact(_ title: ToolText, _ value: [UInt8]) {
            facts.append(Text(words(title), ": ", value))
        }
        switch store.kind {
        case .shared, .configuration:
            fact(.titleMembers, Text(Int(store.members)).bytes)
            if !showsOwner { fact(.titleRole, words(text(store.role))) }
        case .own, .follows: break
        }
        if store.policyKey != Array("default".utf8), !store.policyKey.isEmpty {
            fact(.titlePolicy, Printable.escaped(store.policyKey))
        }
        guard !facts.isEmpty else { return [] }
        let line = Array(facts.map(\.bytes).joined(separator: Array(", ".utf8)))
        return Layout.wrapped(line, columns - 2).map { Layout.spaces(2) + $0 }
    }

    /// As the person types it.
    static func name(_ store: StoreList.Entry, _ showsOwner: Bool = false) -> [UInt8] {
        let name = Printable.escaped(store.name)
        return store.role == .owner || showsOwner
            ? name : Printable.escaped(store.owner.name) + [UInt8(ascii: "/")] + name
    }

    static func way(_ store: StoreList.Entry, _ words: OwnWords) -> [UInt8] {
        switch store.kind {
        case .own:
            switch store.passcode {
            case .unknown: words(.wayUnknown)
            case .none: words(.wayShortNone)
            case .passcode: words(.wayShortOwn)
            case .passcodeAndFingerprint: words(.wayShortFinger)
            }
        case .follows:
            store.parent.isEmpty
                ? words(.wayParentGone) : Printable.escaped(store.parent)
        case .shared: words(.wayShortShared)
        case .configuration: words(.wayShortNone)
        }
    }

    static func text(_ role: StoreRole) -> ToolText {
        switch role {
        case .none, .reader: .roleReader
        case .owner: .roleOwner
        case .writer: .roleWriter
        }
    }

    static func name(_ role: StoreRole) -> String {
        switch role {
        case .none: "none"
        case .owner: "owner"
        case .writer: "writer"
        case .reader: "reader"
        }
    }

    static func lines(_ stores: [StoreList.Entry]) -> [UInt8] {
        stores.flatMap { store in
            Layout.fields([
                store.name, Array(StatusView.name(store.lock).utf8),
                Array(StatusView.name(store.kind).utf8), store.owner.name,
                Array(StoreIDText.text(store.store).utf8), Array(name(store.role).utf8),
                Text(Int(store.members)).bytes, store.policyKey,
            ])
        }
    }

    static func json(_ stores: [StoreList.Entry]) -> SecretBuffer {
        var json = JSON()
        json.objects("stores", stores) { json, store in
            json.field("name", store.name)
            json.field("store", StoreIDText.text(store.store))
            json.field("owner", store.owner.name)
            json.field("uid", Int(store.owner.uid))
            json.field("state", StatusView.name(store.lock))
            json.field("kind", StatusView.name(store.kind))
            json.fieldOrNull("parent", store.parent.isEmpty ? nil : store.parent)
            json.field("passcode", StatusView.name(store.passcode))
            json.field("policyKey", store.policyKey)
            json.field("createdAt", store.createdAt)
            json.field("records", store.records)
            json.field("bytes", store.bytes)
            json.field("role", name(store.role))
            json.field("members", Int(store.members))
        }
        return json.finish()
    }
}
