import Client
import Wire

/// Of many, one is taken. Where they are more than a glance takes in, one can be searched for.
final class ItemList {
    let root: Widget
    private let list = Widget.list()
    private let search = Widget.search()
    private var rows: [Widget] = []
    private static let glance = 7

    /// `changed` says whether one was taken at once, by a double click or by Enter on it.
    init(
        _ items: [Screen.Item], _ name: String, _ words: OwnWords, _ faces: Faces,
        changed: @escaping (_ isTaken: Bool) -> Void
    ) {
        root = Widget.column(12).styled("appvault-items")
        let titles = items.map { Shown.text($0.title) }
        if items.count > Self.glance {
            search.named("\(name)-search")
                .saying(String(decoding: words(.windowSearch), as: UTF8.self))
            root.append(search)
            search.on("search-changed") { [weak self] in self?.filter(titles) }
        }
        list.named("\(name)-items").choosesOne(true)
        list.saying(String(decoding: words(.windowItems), as: UTF8.self))
        root.append(list)
        var current: Widget?
        for (place, item) in items.enumerated() {
            let row = list.addRow(Self.content(item, titles[place], faces), isPressed: true)
                .named("\(name)-item-\(place + 1)")
            rows.append(row)
            row.saying(
                item.subtitle.isEmpty
                    ? titles[place] : "\(titles[place]), \(Shown.text(item.subtitle))")
            if item.mark == .current { current = row }
        }
        if let current { list.choose(current) } else { list.choose(nil) }
        list.on("row-selected") { changed(false) }
        list.on("row-activated") { changed(false) }
    }

    /// What is not seen cannot be taken.
    private func filter(_ titles: [String]) {
        let wanted = search.text.lowercased()
        for (row, title) in zip(rows, titles) {
            row.isVisible = wanted.isEmpty || title.lowercased().contains(wanted)
        }
        if let chosen, !rows[chosen].isVisible { list.choose(nil) }
    }

    private static func content(_ item: Screen.Item, _ title: String, _ faces: Faces) -> Widget {
        let texts = Widget.column(2, [Widget.label(title)]).wide().middle()
        if !item.subtitle.isEmpty {
            texts.append(Widget.label(Shown.text(item.subtitle)).styled("dim-label", "caption"))
        }
        let row = Widget.row(12, [faces.widget(item.title, title), texts]).margins(10, 12)
        if item.mark == .current { row.append(Widget.picture(.check, 16)) }
        return row
    }

    /// By its place, from 0 on.
    var chosen: Int? { list.chosenRow }

    func focus() { list.focus() }
}
