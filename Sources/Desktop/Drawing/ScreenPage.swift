import Client
import Posix
import Wire

/// Draws a screen, whichever it is, and tells what the person does with it.
final class ScreenPage {
    /// What the person did. What they typed is as an answer has it.
    enum Act {
        case draft(field: Int, Typed)
        case answer(choice: Int, item: Int, Typed)
        case cancel
    }

    let screen: Screen
    let name: String
    /// The whole page.
    let root: Widget
    private let words: OwnWords
    private weak let window: Window?
    private let act: (Act) -> Void
    private var entries: [Widget] = []
    private var buttons: [Widget] = []
    private var rules: RuleList?
    private var items: ItemList?
    private let pages: [[Screen.Text]]
    private var page = 0
    private let document = Widget.frame()
    /// What a camera sees.
    private let seen = Widget.frame()
    private let actions = Widget.column(12)
    private(set) var standard: Widget?
    private var isOver = false

    init(
        _ screen: Screen, _ words: OwnWords, _ window: Window, secret: Typed? = nil,
        act: @escaping (Act) -> Void
    ) {
        self.screen = screen
        self.words = words
        self.window = window
        self.act = act
        name = Shown.name(screen.id)
        pages = screen.document.split(
            omittingEmptySubsequences: false, whereSeparator: { $0.role == .page }
        ).map(Array.init)
        let content = Widget.column(18).margins(24, 18)
        // All of it scrolls: large text leaves no room for buttons that do not.
        let all = Widget.column(
            0,
            [
                Widget.clamped(content, 520).tall(),
                Widget.clamped(actions.margins(18), 420).named("\(name)-choices"),
            ])
        root = Widget.column(0, [Widget.scrolled(all).tall()]).named(name)
            .styled("appvault-screen")
        build(content, secret)
        drawActions()
        look()
    }

    // MARK: What it is made of

    private func build(_ content: Widget, _ secret: Typed?) {
        if screen.steps > 1 {
            content.append(
                Widget.label(Self.string(words(.screenStep, Int(screen.step), Int(screen.steps))))
                    .centredText().named("\(name)-step").styled("dim-label", "caption"))
        }
        if let strokes = screen.picture.strokes {
            content.append(
                Widget.picture(strokes, 88).named("\(name)-picture").styled(
                    "appvault-picture", "accent"))
        }
        seen.isVisible = false
        content.append(seen)
        for (place, line) in screen.lines.enumerated() {
            let isFirst = screen.lines[..<place].allSatisfy { $0.role != .heading }
            content.append(
                TextBlock.widget(line, isFirst: isFirst).named("\(name)-\(line.role)-\(place + 1)"))
        }
        if !screen.document.isEmpty {
            content.append(document.named("\(name)-document"))
            drawPage()
        }
        if let secret {
            // It is shown once, to be written down: a label is all that can do that.
            let text = secret.withSpan { span in String(copying: span) }
            let heading = Shown.text(screen.lines.first?.text ?? [])
            content.append(
                Widget.label(text).centredText().selectable().named("\(name)-secret")
                    .styled("appvault-secret", "card")
                    .saying("\(heading): \(text)"))
        }
        for (place, field) in screen.formFields.enumerated() {
            content.append(entry(field, place))
        }
        if !screen.rules.isEmpty {
            let list = RuleList(screen.rules, name)
            rules = list
            content.append(list.root)
        }
        if !screen.items.isEmpty {
            let list = ItemList(
                screen.items, name, words, screen.picture == .finger ? .fingers : .people()
            ) { [weak self] isTaken in
                self?.look()
                if isTaken { self?.standard?.press() }
            }
            items = list
            content.append(list.root)
        }
    }

    private func entry(_ field: Screen.Field, _ place: Int) -> Widget {
        let label = Widget.label(Self.trimmed(field.label)).named("\(name)-label-\(place + 1)")
        let entry = EntryKind(field.kind).widget.named("\(name)-field-\(place + 1)")
        entry.labelled(by: label)
        entry.entersByDefault(isSecret: field.kind == .secret)
        if !field.prefill.isEmpty { entry.text = Shown.text(field.prefill) }
        let isJudged = field.isJudged
        entry.on("changed") { [weak self, weak entry] in
            guard let self, let entry, !isOver else { return }
            look()
            if isJudged { act(.draft(field: place, Typed(copying: entry))) }
        }
        entries.append(entry)
        return Widget.column(6, [label, entry])
    }

    /// A prompt of a terminal's ends with a colon; a label does not.
    private static func trimmed(_ label: [UInt8]) -> String {
        var text = label
        while text.last == 0x20 || text.last == 0x3A { text.removeLast() }
        return Shown.text(text)
    }

    private static func string(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Pages of what is to be read

    private var isLastPage: Bool { page >= pages.count - 1 }

    private func drawPage() {
        let column = Widget.column(12).named("\(name)-page-\(page + 1)").styled("appvault-page")
        if pages.count > 1 {
            column.append(
                Widget.label(Self.string(words(.windowPage, page + 1, pages.count)))
                    .styled("dim-label", "caption").named("\(name)-page-number"))
        }
        for (place, text) in pages[page].enumerated() {
            column.append(
                TextBlock.widget(text, isInside: true).named("\(name)-text-\(place + 1)"))
        }
        document.hold(column.margins(12).styled("card-inside"))
        document.style("card", isOn: true)
    }

    private func turn(_ by: Int) {
        page += by
        drawPage()
        drawActions()
        look()
        window?.setStandard(standard)
        focus()
    }

    // MARK: What can be done

    private func drawActions() {
        actions.removeAll()
        buttons = []
        standard = nil
        if page > 0 {
            actions.append(
                Widget.button(Self.string(words(.windowBack))) { [weak self] in self?.turn(-1) }
                    .named("\(name)-back").styled("pill"))
        }
        guard isLastPage || pages.isEmpty else {
            let next = Widget.button(Self.string(words(.windowNext))) { [weak self] in
                self?.turn(1)
            }.named("\(name)-next").styled("pill", "suggested-action")
            actions.append(next)
            standard = next
            drawCancel()
            return
        }
        for (place, choice) in screen.choices.enumerated() {
            let button = Widget.button(Shown.text(choice.label)) { [weak self] in
                self?.take(place)
            }.named("\(name)-choice-\(Shown.name(choice.id))").styled("pill")
            switch choice.role {
            case .primary:
                button.styled("suggested-action")
                // What somebody agrees to is not agreed to by a key that they press to go on.
                if screen.kind != .document { standard = standard ?? button }
            case .grave: button.styled("destructive-action")
            case .other: break
            case .cancel: button.styled("flat")
            }
            buttons.append(button)
            actions.append(button)
        }
    }

    /// On each page, not only on the last.
    private func drawCancel() {
        for (place, choice) in screen.choices.enumerated() where choice.role == .cancel {
            actions.append(
                Widget.button(Shown.text(choice.label)) { [weak self] in self?.take(place) }
                    .named("\(name)-choice-\(Shown.name(choice.id))").styled("pill", "flat"))
        }
    }

    /// What is needed for a choice is there, or its button does nothing.
    private func look() {
        guard buttons.count == screen.choices.count else { return }
        for (choice, button) in zip(screen.choices, buttons) {
            let hasFields = entries.enumerated().allSatisfy { place, entry in
                choice.needs & (1 << UInt16(place)) == 0 || !entry.isEmpty
            }
            button.isSensitive = hasFields && (!choice.needsItem || items?.chosen != nil)
        }
    }

    private func take(_ place: Int) {
        guard !isOver else { return }
        guard screen.choices[place].role != .cancel else { return cancel() }
        let choice = screen.choices[place]
        if choice.role == .primary,
            entries.contains(where: { $0.withText { $0.count } > Limits.secret })
        {
            window?.toast(Self.string(words(.answerTooLong)))
            return
        }
        let typed = Typed(capacity: Limits.answers)
        if choice.role == .primary {
            for entry in entries { typed.add(entry) }
        }
        end()
        act(.answer(choice: place, item: choice.needsItem ? (items?.chosen ?? -1) + 1 : 0, typed))
    }

    func cancel() {
        guard !isOver, canCancel else { return }
        end()
        act(.cancel)
    }

    /// A screen that has no such choice stays: it says what has happened.
    var canCancel: Bool { screen.choices.contains { $0.role == .cancel } }

    /// Nothing that was typed stays in the entries.
    func end() {
        isOver = true
        // What has the focus cannot be switched off.
        window?.unfocus()
        for entry in entries {
            entry.text = ""
            entry.isSensitive = false
        }
        for button in buttons { button.isSensitive = false }
    }

    // MARK: While it stands

    func show(_ findings: [Checklist.Entry]) { rules?.show(findings) }

    func show(_ picture: CameraPicture) {
        seen.isVisible = true
        seen.hold(
            Widget.picture(picture, 320).named("\(name)-camera")
                .saying(Self.string(words(.windowCamera))))
    }

    func focus() {
        if let entry = entries.first(where: \.isEmpty) ?? entries.first { return entry.focus() }
        if let items { return items.focus() }
        // Where no answer is the usual one, no key that somebody presses to go on gives one: it would join an
        // organisation, remove somebody, or agree to what stands on the last page.
        guard let standard else { return window?.unfocus() ?? () }
        standard.focus()
    }
}

extension Screen.Picture {
    var strokes: Strokes? {
        switch self {
        case .none: nil
        case .logo: .logo
        case .lock: .lock
        case .key: .key
        case .finger: .finger
        case .person: .person
        case .people: .people
        case .paper: .paper
        case .organisation: .organisation
        case .warning: .warning
        case .done: .done
        case .code: .code
        }
    }
}
