import Client

/// A part of what there is, whichever it is: rows, and what can be done with each of them.
final class SectionBlock {
    let root: Widget
    private var buttons: [(request: WindowRequest, widget: Widget)] = []

    init(
        _ section: WindowSection, _ words: OwnWords, begin: @escaping (WindowRequest) -> Void
    ) {
        let part = section.id
        let title = Shown.text(section.title)
        let list = Widget.list().named("section-\(part)-rows").saying(title)
        list.choosesOne(false)
        for (place, row) in section.rows.enumerated() {
            let number = place + 1
            let texts = [Shown.text(row.title)] + row.lines.map { Shown.text($0) }
            let column = Widget.column(
                2, [Widget.label(texts[0]).named("section-\(part)-row-\(number)-title")]
            ).wide().middle()
            for line in texts.dropFirst() {
                column.append(
                    Widget.label(line).styled("dim-label", "caption")
                        .named("section-\(part)-row-\(number)-line"))
            }
            // One below the other: large text leaves no room for two beside it.
            let beside = Widget.column(6).middle()
            for (place, button) in row.buttons.enumerated() {
                let drawn = Widget.button(
                    Shown.text(button.label), says: Shown.text(button.request.title(words))
                ) { begin(button.request) }
                .named("section-\(part)-row-\(number)-button-\(place + 1)")
                beside.append(drawn)
                buttons.append((button.request, drawn))
            }
            let content = Widget.row(12, [column, beside]).margins(10, 12)
            list.addRow(content, isPressed: false).named("section-\(part)-row-\(number)")
                .saying(texts.joined(separator: ", "))
        }
        root = Widget.column(
            18,
            [
                Widget.label(title).styled("heading", "appvault-heading")
                    .named("section-\(part)-title"), list,
            ]
        ).named("section-\(part)")
    }

    func has(_ request: WindowRequest) -> Bool { buttons.contains { $0.request == request } }

    /// On the button that somebody has pressed before, or on the first one where that is gone.
    func focus(on request: WindowRequest) {
        let button = buttons.first { $0.request == request } ?? buttons.first
        button?.widget.oncePlaced { [weak widget = button?.widget] in widget?.focus() }
    }
}
