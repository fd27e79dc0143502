import Client
import ToolTexts
import Wire

/// What there is when nothing is asked: the stores, and what can be done.
final class HomePage {
    enum Act {
        case begin(WindowRequest)
        case check
    }

    let root: Widget
    private(set) var standard: Widget?
    private let words: OwnWords
    private let act: (Act) -> Void

    init(_ state: WindowState, _ words: OwnWords, act: @escaping (Act) -> Void) {
        self.words = words
        self.act = act
        let content = Widget.column(18).margins(24, 18)
        root = Widget.column(
            0, [Widget.scrolled(Widget.clamped(content, 560)).tall()]
        ).named("home").styled("appvault-home")
        if state.hasStore { draw(state, content) } else { drawNone(state, content) }
    }

    private func text(_ text: ToolText) -> String { String(decoding: words(text), as: UTF8.self) }

    private func drawNone(_ state: WindowState, _ content: Widget) {
        content.append(
            Widget.picture(.logo, 120).named("home-picture").styled("appvault-picture", "accent"))
        content.append(Widget.heading(text(.windowNone)).styled("title-1").named("home-heading"))
        content.append(Widget.label(text(.windowNoneBody)).centredText().named("home-paragraph"))
        let begin = Widget.button(text(.windowBegin)) { [weak self] in
            self?.act(.begin(.welcome))
        }.named("home-begin").styled("pill", "suggested-action")
        standard = begin
        content.append(Widget.clamped(begin, 360))
        content.append(
            list((state.mayJoin ? [joinRow()] : []) + [checkRow()]).saying(text(.windowActions)))
    }

    private func draw(_ state: WindowState, _ content: Widget) {
        let sections = HomeSections(state.sections) { [weak self] in self?.act(.begin($0)) }
        standard = sections.standard
        for section in sections.drawn.prefix(1) { content.append(section) }
        if !state.advice.isEmpty {
            content.append(
                Widget.label(Shown.text(state.advice)).styled("dim-label").named("home-advice"))
        }
        content.append(
            Widget.label(text(.windowActions)).styled("heading", "appvault-heading"))
        var rows = state.actions.map { action in
            actionRow(
                action.name == .change ? .windowChange : .windowRecovery, action.name.rawValue,
                action.isAllowed ? nil : Shown.text(action.reason),
                .begin(
                    action.name == .change ? .change(store: []) : .newRecoveryKey(store: [])),
                action.name == .change ? .lock : .key)
        }
        if state.hasConsents {
            rows.append(
                actionRow(.windowConsents, "consents", nil, .begin(.consents), .paper))
        }
        rows.append(actionRow(.windowPeople, "people", nil, .begin(.people), .people))
        if state.mayJoin { rows.append(joinRow()) }
        content.append(
            list(rows + [checkRow()]).named("home-actions").saying(text(.windowActions)))
        for section in sections.drawn.dropFirst() { content.append(section) }
    }

    private func list(_ rows: [Widget]) -> Widget {
        let list = Widget.list()
        list.choosesOne(false)
        for row in rows { _ = list.addRow(row, isPressed: false) }
        return list
    }

    private func joinRow() -> Widget {
        actionRow(.windowJoin, "join", nil, .begin(.join(invitation: [])), .organisation)
    }

    private func checkRow() -> Widget {
        actionRow(.windowCheck, "check", nil, .check, .done)
    }

    /// With why not, where it may not be begun.
    private func actionRow(
        _ title: ToolText, _ name: String, _ why: String?, _ act: Act, _ picture: Strokes
    ) -> Widget {
        let texts = Widget.column(2, [Widget.label(text(title))]).wide().middle()
        if let why, !why.isEmpty {
            texts.append(Widget.label(why).styled("dim-label", "caption"))
        }
        let content = Widget.row(12, [Widget.picture(picture, 24), texts]).margins(4, 2)
        let button = Widget.button(content) { [weak self] in self?.act(act) }
            .named("home-\(name)").styled("flat").saying(text(title))
        button.isSensitive = why == nil
        return button
    }

    func focus() { standard?.focus() }
}
