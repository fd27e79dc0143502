import Client
import ToolTexts
import Wire

/// What there is when nothing is asked: the stores, and what can be done.
final class HomePage {
    enum Act {
        /// In which section, where it stands in one.
        case begin(WindowRequest, from: String? = nil)
        case check
    }

    /// What somebody has begun in a section.
    struct Begun {
        let section: String
        let request: WindowRequest
    }

    let root: Widget
    private(set) var standard: Widget?
    private var sections: [(id: String, block: SectionBlock)] = []
    private let words: OwnWords
    private let act: (Act) -> Void

    init(_ state: WindowState, _ words: OwnWords, act: @escaping (Act) -> Void) {
        self.words = words
        self.act = act
        let content = Widget.column(18).margins(24, 18)
        root = Widget.column(
            0, [Widget.scrolled(Widget.clamped(content, 560)).tall()]
        ).named("home").styled("appvault-home")
        if state.stores.isEmpty { drawNone(state, content) } else { draw(state, content) }
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
        drawSections(state, content)
    }

    private func drawSections(_ state: WindowState, _ content: Widget) {
        for section in state.sections {
            let block = SectionBlock(section, words) { [weak self] request in
                self?.act(.begin(request, from: section.id))
            }
            sections.append((section.id, block))
            content.append(block.root)
        }
    }

    private func draw(_ state: WindowState, _ content: Widget) {
        content.append(title(.windowStores))
        content.append(
            list(state.stores.enumerated().map { row($1, $0 + 1) }).named("home-stores")
                .saying(text(.windowStores)))
        if !state.trouble.isEmpty {
            content.append(Widget.label(Shown.text(state.trouble)).named("home-trouble"))
        }
        if !state.advice.isEmpty {
            content.append(
                Widget.label(Shown.text(state.advice)).styled("dim-label").named("home-advice"))
        }
        content.append(title(.windowActions))
        let kept: [(WindowRequest, String)] =
            state.isOpen ? [(.keep(store: []), "keep"), (.names(store: []), "names")] : []
        var rows = kept.map { actionRow($0, $1, nil) }
        rows += state.actions.map { action in
            actionRow(
                action.name == .change ? .change(store: []) : .newRecoveryKey(store: []),
                action.name.rawValue, action.isAllowed ? nil : Shown.text(action.reason))
        }
        rows.append(actionRow(.people, "people", nil))
        if state.mayJoin { rows.append(joinRow()) }
        content.append(
            list(rows + [checkRow()]).named("home-actions").saying(text(.windowActions)))
        drawSections(state, content)
    }

    private func title(_ text: ToolText) -> Widget {
        Widget.label(self.text(text)).styled("heading", "appvault-heading")
    }

    /// What stands in a row, and what it says.
    private typealias Row = (content: Widget, says: String)

    private func list(_ rows: [Row]) -> Widget {
        let list = Widget.list()
        list.choosesOne(false)
        for row in rows { list.addRow(row.content, isPressed: false).saying(row.says) }
        return list
    }

    private func joinRow() -> Row { actionRow(.join(invitation: []), "join", nil) }

    private func checkRow() -> Row {
        actionRow(text(.windowCheck), "check", nil, .check, .done)
    }

    private func row(_ store: WindowState.Store, _ number: Int) -> Row {
        let name = Shown.text(store.name)
        let state = Shown.text(store.text)
        let (request, isMain): (WindowRequest?, Bool) =
            switch store.lock {
            case .locked: (.unlock(store: store.name), true)
            case .unlocked: (store.mayLock ? .lock(store: store.name) : nil, false)
            case .retryLocked: (.recover(store: store.name), true)
            case .absent, .erased, .damaged, .ownerChanged, .barred: (nil, false)
            }
        let texts = Widget.column(
            2,
            [
                Widget.label(name).named("home-store-\(number)-name"),
                Widget.label(state).styled("dim-label", "caption")
                    .named("home-store-\(number)-state"),
            ]
        ).wide().middle()
        let row = Widget.row(
            12, [Widget.picture(store.lock == .unlocked ? .openLock : .lock, 32), texts]
        ).margins(10, 12).named("home-store-\(number)")
        guard let request else { return (row, "\(name), \(state)") }
        let pressed = Widget.button(
            text(request.label), says: Shown.text(request.title(words))
        ) { [weak self] in
            self?.act(.begin(request))
        }.middle().named("home-store-\(number)-button")
        if isMain {
            pressed.styled("suggested-action")
            standard = standard ?? pressed
        }
        row.append(pressed)
        return (row, "\(name), \(state)")
    }

    private func actionRow(_ request: WindowRequest, _ name: String, _ why: String?) -> Row {
        actionRow(
            Shown.text(request.title(words)), name, why, .begin(request),
            request.picture.strokes ?? .dot)
    }

    /// With why not, where it may not be begun.
    private func actionRow(
        _ title: String, _ name: String, _ why: String?, _ act: Act, _ picture: Strokes
    ) -> Row {
        let texts = Widget.column(2, [Widget.label(title)]).wide().middle()
        if let why, !why.isEmpty {
            texts.append(Widget.label(why).styled("dim-label", "caption"))
        }
        let content = Widget.row(12, [Widget.picture(picture, 24), texts]).margins(4, 2)
        let button = Widget.button(content) { [weak self] in self?.act(act) }
            .named("home-\(name)").styled("flat").saying(title)
        button.isSensitive = why == nil
        return (button, [title, why ?? ""].filter { !$0.isEmpty }.joined(separator: ", "))
    }

    /// Whoever comes back from something that they began in a section goes on there.
    func focus(after begun: Begun?) {
        let found = sections.filter { $0.id == begun?.section }.map(\.block)
        guard let begun, let block = found.first(where: { $0.has(begun.request) }) ?? found.first
        else { return standard?.focus() ?? () }
        block.focus(on: begun.request)
    }
}
