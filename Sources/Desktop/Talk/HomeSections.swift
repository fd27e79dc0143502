import Client
import Wire

/// Draws what there is, of whatever kind: a title, and a row for each thing with what can be done with it.
final class HomeSections {
    private(set) var drawn: [Widget] = []
    /// What Enter does: the first thing that waits for it.
    private(set) var standard: Widget?
    private let begin: (WindowRequest) -> Void

    init(_ sections: [WindowState.Section], begin: @escaping (WindowRequest) -> Void) {
        self.begin = begin
        // There are several shared stores, maybe.
        var counts: [WindowState.Section.Kind: Int] = [:]
        for section in sections {
            drawn.append(draw(section, from: counts[section.kind, default: 0]))
            counts[section.kind, default: 0] += section.rows.count
        }
    }

    private func draw(_ section: WindowState.Section, from count: Int) -> Widget {
        let title = Shown.text(section.title)
        let kind = section.kind.rawValue
        let list = Widget.list()
        list.choosesOne(false)
        list.named("home-\(kind)s").saying(title)
        for (place, row) in section.rows.enumerated() {
            _ = list.addRow(draw(row, kind, count + place + 1), isPressed: false)
        }
        if let more = section.more {
            let content = Widget.row(
                12, [Widget.label(Shown.text(more.label)).wide().middle()]
            ).margins(4, 2)
            let button = Widget.button(content) { [begin] in begin(more.request) }
                .named("home-\(kind)-more").styled("flat").saying(Shown.text(more.says))
            _ = list.addRow(button, isPressed: false)
        }
        return Widget.column(
            12, [Widget.label(title).styled("heading", "appvault-heading"), list])
    }

    private func draw(_ row: WindowState.Row, _ kind: String, _ number: Int) -> Widget {
        let title = Widget.label(Shown.text(row.title)).named("home-\(kind)-\(number)-name")
        let texts = Widget.column(2, [title]).wide().middle()
        for line in row.lines {
            texts.append(
                Widget.label(Shown.text(line)).styled("dim-label", "caption")
                    .named("home-\(kind)-\(number)-state"))
        }
        let drawn = Widget.row(12, [Widget.picture(row.picture.strokes, 32), texts])
            .margins(10, 12).named("home-\(kind)-\(number)")
        guard let act = row.act else { return drawn }
        let button = Widget.button(Shown.text(act.label), says: Shown.text(act.says)) {
            [begin] in begin(act.request)
        }.middle().named("home-\(kind)-\(number)-button")
        switch act.weight {
        case .main:
            button.styled("suggested-action")
            standard = standard ?? button
        case .other: break
        case .grave: button.styled("flat")
        }
        drawn.append(button)
        return drawn
    }
}

extension WindowState.Row.Picture {
    fileprivate var strokes: Strokes {
        switch self {
        case .lock: .lock
        case .openLock: .openLock
        case .finger: .finger
        case .person: .person
        case .organisation: .organisation
        case .app: .logo
        }
    }
}
