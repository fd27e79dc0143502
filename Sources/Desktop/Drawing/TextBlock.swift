import Wire

/// A line of a screen, by its role.
enum TextBlock {
    /// `isInside`: of what is to be read, where a heading is smaller and begins at the edge. `isFirst`: no heading
    /// stands above it.
    static func widget(_ line: Screen.Text, isInside: Bool = false, isFirst: Bool = true) -> Widget
    {
        let text = Shown.text(line.text)
        switch line.role {
        case .heading:
            return isInside
                ? Widget.label(text).styled("appvault-heading", "title-4")
                : Widget.heading(text).styled(
                    "appvault-heading", isFirst ? "title-1" : "title-3")
        case .paragraph:
            let label = Widget.label(text).styled("appvault-paragraph")
            return isInside ? label : label.centredText()
        case .item:
            return Widget.row(
                10, [Widget.picture(.dot, 16), Widget.label(text).wide().styled("appvault-item")])
        case .link: return link(text, isInside: isInside)
        case .hint:
            let label = Widget.label(text).styled("appvault-hint", "dim-label")
            return isInside ? label : label.centredText()
        case .error:
            return Widget.row(
                10,
                [
                    Widget.picture(.warning, 20).styled("error"),
                    Widget.alert(text).wide().styled("appvault-error", "error"),
                ])
        case .page: return Widget.column()
        }
    }

    /// An organisation's link opens only what is encrypted, and says where it leads.
    private static func link(_ text: String, isInside: Bool) -> Widget {
        guard text.hasPrefix("https://") else {
            let label = Widget.label(text).selectable().styled("appvault-link")
            return isInside ? label : label.centredText()
        }
        let link = Widget.link(text).styled("appvault-link")
        return isInside ? link.atStart() : link
    }
}
