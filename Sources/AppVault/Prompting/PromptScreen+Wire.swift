internal import Wire

extension PromptScreen {
    init(_ screen: Screen, _ store: StoreName, _ judge: PasscodeJudge) {
        self.init(
            id: String(decoding: screen.id, as: UTF8.self), kind: Kind(screen.kind),
            picture: Picture(screen.picture), lines: screen.lines.map(Line.init),
            fields: screen.formFields.map(Field.init),
            checklist: screen.rules.map(PasscodeRule.init), items: screen.items.map(Item.init),
            choices: screen.choices.map(Choice.init), document: screen.document.map(Line.init),
            store: store, judge: judge)
        if screen.steps > 0 { step = (Int(screen.step), Int(screen.steps)) }
    }
}

extension PromptScreen.Kind {
    fileprivate init(_ kind: Screen.Kind) {
        self =
            switch kind {
            case .page: .page
            case .form: .form
            case .document: .document
            case .list: .list
            case .scan: .scan
            case .web: .web
            }
    }
}

extension PromptScreen.Picture {
    fileprivate init(_ picture: Screen.Picture) {
        self =
            switch picture {
            case .none: .none
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

extension PromptScreen.Line {
    fileprivate init(_ text: Screen.Text) {
        let role: Role =
            switch text.role {
            case .heading: .heading
            case .paragraph: .paragraph
            case .item: .item
            case .link: .link
            case .hint: .hint
            case .error: .error
            case .page: .page
            }
        self.init(role, String(decoding: text.text, as: UTF8.self))
    }
}

extension PromptScreen.Field {
    fileprivate init(_ field: Screen.Field) {
        let kind: Kind =
            switch field.kind {
            case .secret: .secret
            case .text: .text
            case .name: .name
            case .email: .email
            case .number: .number
            }
        self.init(
            kind, purpose: Question.Purpose(field.purpose),
            id: String(decoding: field.id, as: UTF8.self),
            label: String(decoding: field.label, as: UTF8.self),
            prefill: String(decoding: field.prefill, as: UTF8.self), isJudged: field.isJudged)
    }
}

extension PromptScreen.Item {
    fileprivate init(_ item: Screen.Item) {
        let isCurrent =
            switch item.mark {
            case .none: false
            case .current: true
            }
        self.init(
            String(decoding: item.title, as: UTF8.self),
            subtitle: String(decoding: item.subtitle, as: UTF8.self), isCurrent: isCurrent)
    }
}

extension PromptScreen.Choice {
    fileprivate init(_ choice: Screen.Choice) {
        let role: Role =
            switch choice.role {
            case .primary: .primary
            case .other: .other
            case .grave: .grave
            case .cancel: .cancel
            }
        self.init(
            role, id: String(decoding: choice.id, as: UTF8.self),
            label: String(decoding: choice.label, as: UTF8.self),
            needs: (0..<16).filter { choice.needs & 1 << UInt16($0) != 0 },
            needsItem: choice.needsItem)
    }
}
