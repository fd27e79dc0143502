import Client
import Wire

/// Of many, one is taken. Where they are more than a glance takes in, one can be searched for.
final class ItemList {
    let root: Widget
    private let list = Widget.list()
    private let search = Widget.search()
    private static let glance = 7

    /// `changed` says whether one was taken at once, by a double click or by Enter on it.
    init(
        _ items: [Screen.Item], _ name: String, _ words: OwnWords,
        changed: @escaping (_ isTaken: Bool) -> Void
    ) {
        root = Widget.column(12).styled("appvault-items")
        let titles = items.map { Shown.text($0.title) }
        if items.count > Self.glance {
            search.named("\(name)-search")
                .saying(String(decoding: words(.windowSearch), as: UTF8.self))
            root.append(search)
            list.filter { [weak search] place in
                guard let search, titles.indices.contains(place) else { return true }
                return search.isEmpty
                    || titles[place].lowercased().contains(search.text.lowercased())
            }
            search.on("search-changed") { [weak list] in list?.filterAgain() }
        }
        list.named("\(name)-items").choosesOne(true)
        list.saying(String(decoding: words(.windowItems), as: UTF8.self))
        root.append(list)
        var current: Widget?
        for (place, item) in items.enumerated() {
            let row = list.addRow(Self.content(item, titles[place]), isPressed: true)
                .named("\(name)-item-\(place + 1)")
            row.saying(
                item.subtitle.isEmpty
                    ? titles[place] : "\(titles[place]), \(Shown.text(item.subtitle))")
            if item.mark == .current { current = row }
        }
        if let current { list.choose(current) } else { list.choose(nil) }
        list.on("row-selected") { changed(false) }
        list.on("row-activated") { changed(false) }
    }

    private static func content(_ item: Screen.Item, _ title: String) -> Widget {
        let texts = Widget.column(2, [Widget.label(title)]).wide().middle()
        if !item.subtitle.isEmpty {
            texts.append(Widget.label(Shown.text(item.subtitle)).styled("dim-label", "caption"))
        }
        let row = Widget.row(12, [Widget.picture(.person, 32), texts]).margins(10, 12)
        if item.mark == .current { row.append(Widget.picture(.check, 16)) }
        return row
    }

    /// By its place, from 0 on.
    var chosen: Int? { list.chosenRow }

    func focus() { list.focus() }
}
