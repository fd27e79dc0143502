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
    }

    private func draw(_ state: WindowState, _ content: Widget) {
        content.append(title(.windowStores))
        content.append(
            list(state.stores.enumerated().map { row($1, $0 + 1) }).named("home-stores")
                .saying(text(.windowStores)))
        if !state.advice.isEmpty {
            content.append(
                Widget.label(Shown.text(state.advice)).styled("dim-label").named("home-advice"))
        }
        content.append(title(.windowActions))
        var rows = state.actions.map { action in
            actionRow(
                action.name == .change ? .windowChange : .windowRecovery, action.name.rawValue,
                action.isAllowed ? nil : Shown.text(action.reason),
                .begin(
                    action.name == .change ? .change(store: []) : .newRecoveryKey(store: [])),
                action.name == .change ? .lock : .key)
        }
        if state.hasReader {
            rows.append(
                actionRow(
                    .windowFinger, "enrol-finger", nil, .begin(.enrol(store: [])), .finger))
        }
        if state.hasConsents {
            rows.append(
                actionRow(.windowConsents, "consents", nil, .begin(.consents), .paper))
        }
        rows.append(actionRow(.windowPeople, "people", nil, .begin(.people), .people))
        if state.mayJoin { rows.append(joinRow()) }
        content.append(
            list(rows + [checkRow()]).named("home-actions").saying(text(.windowActions)))
    }

    private func title(_ text: ToolText) -> Widget {
        Widget.label(self.text(text)).styled("heading", "appvault-heading")
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

    private func row(_ store: WindowState.Store, _ number: Int) -> Widget {
        let name = store.name.isEmpty ? "default" : Shown.text(store.name)
        let (button, label, isMain): (WindowRequest?, ToolText, Bool) =
            switch store.lock {
            case .locked: (.unlock(store: store.name), .windowUnlock, true)
            case .unlocked: (.lock(store: store.name), .windowLock, false)
            case .retryLocked: (.recover(store: store.name), .windowRecover, true)
            case .absent, .erased, .damaged, .ownerChanged, .barred: (nil, .windowLock, false)
            }
        let texts = Widget.column(
            2,
            [
                Widget.label(name).named("home-store-\(number)-name"),
                Widget.label(Shown.text(store.text)).styled("dim-label", "caption")
                    .named("home-store-\(number)-state"),
            ]
        ).wide().middle()
        let row = Widget.row(
            12, [Widget.picture(store.lock == .unlocked ? .openLock : .lock, 32), texts]
        ).margins(10, 12).named("home-store-\(number)")
        guard let button else { return row }
        let named: ToolText =
            switch button {
            case .lock: .windowLockNamed
            case .recover: .windowRecoverNamed
            case .unlock, .welcome, .change, .enrol, .newRecoveryKey, .consents, .people, .join:
                .windowUnlockNamed
            }
        let says = String(decoding: words(named, name), as: UTF8.self)
        let pressed = Widget.button(text(label), says: says) { [weak self] in
            self?.act(.begin(button))
        }.middle().named("home-store-\(number)-button")
        if isMain {
            pressed.styled("suggested-action")
            standard = standard ?? pressed
        }
        row.append(pressed)
        return row
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
