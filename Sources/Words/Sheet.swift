import Fleet
import Wire

/// One screen of a flow: what a person sees at once, and what they can do then. A front end that
/// draws gets it as it is; for all others the daemon makes lines and questions of it.
package struct Sheet: Sendable {
    /// Its name in `[Texts]` and in style sheets.
    package enum Name: String, CaseIterable, Sendable {
        case notice
        case createPasscode = "create.passcode"
        case licence
        case consent
        case welcome
        case welcomeWay = "welcome.way"
        case welcomeReady = "welcome.ready"
        case people
        case match
        case matchCurrent = "match.current"
        case recovery
        case loginPassword = "login.password"
        case former
        case exportPassphrase = "export.passphrase"
        case importPassphrase = "import.passphrase"
        case fingerprintOffer = "fingerprint.offer"
        case fingerprintWho = "fingerprint.who"
        case fingerprintClear = "fingerprint.clear"
        case recoveryOffer = "recovery.offer"
        case changesLost = "changes.lost"
        case peopleAdd = "people.add"
        case peopleRemove = "people.remove"
        case join
        case joinConfirm = "join.confirm"
        case joinScan = "join.scan"
        case joinAbout = "join.about"
        case signIn = "signin"
        case signInWeb = "signin.web"
    }

    package struct Field: Sendable {
        package let label: Message
        package let purpose: Ask.Purpose
        package var isJudged = false
        package var kind = Screen.Field.Kind.secret
        /// Where it is not one of our texts.
        package var id: [UInt8] = []
        package var prefill: [UInt8] = []
        /// What Enter does can be done without it.
        package var isOptional = false
    }

    package struct Way: Sendable {
        package let button: Button
        package let role: Screen.Choice.Role
        package let label: Message
        /// It is done with one of the items.
        package let needsItem: Bool
        /// It is done with what was typed into the fields.
        package let takesFields: Bool

        init(
            _ button: Button, _ role: Screen.Choice.Role = .primary, label: Message? = nil,
            needsItem: Bool = false, takesFields: Bool? = nil
        ) {
            (self.button, self.role) = (button, role)
            self.label = label ?? .button(button)
            self.needsItem = needsItem
            self.takesFields = takesFields ?? (role == .primary)
        }
    }

    package struct Line: Sendable {
        package let role: Screen.Text.Role
        package let message: Message

        init(_ role: Screen.Text.Role, _ message: Message) {
            (self.role, self.message) = (role, message)
        }
    }

    /// One of those that somebody can take.
    package struct Item: Sendable {
        package let title: [UInt8]
        package let subtitle: Message
        package let isCurrent: Bool

        package init(title: [UInt8], subtitle: Message, isCurrent: Bool) {
            (self.title, self.subtitle, self.isCurrent) = (title, subtitle, isCurrent)
        }
    }

    package let id: Name
    package let kind: Screen.Kind
    package var picture = Screen.Picture.none
    /// Which one of a row, and how many there are.
    package var step: (number: UInt8, of: UInt8) = (0, 0)
    /// Where it is drawn, this stands above the lines; elsewhere the question says it.
    package var title: Message?
    package var lines: [Line] = []
    /// What the organisation wrote, which is no text of ours.
    package var document: [Screen.Text] = []
    package var fields: [Field] = []
    /// What Enter does can be done with empty fields, too.
    package var mayBeEmpty = false
    package var rules: [Checklist.Entry] = []
    /// Each way says whether it needs one of them.
    package var items: [Item] = []
    /// The first is the one that Enter takes. Whoever cancels sends an abort, or takes the one for it.
    package var ways: [Way]
    /// What is asked where nothing can be drawn: Enter where there is one way, yes or no where there are
    /// two.
    package let question: Message

    init(_ id: Name, _ kind: Screen.Kind, ways: [Way], question: Message) {
        (self.id, self.kind, self.ways, self.question) = (id, kind, ways, question)
    }

    package func screen(_ number: UInt32, _ voice: Voice) -> Screen {
        var screen = Screen(question: number, kind: kind, id: Array(id.rawValue.utf8))
        screen.picture = picture
        (screen.step, screen.steps) = step
        let titled = (title.map { [Line(.heading, $0)] } ?? []) + lines
        screen.lines = titled.prefix(Limits.screenLines).map {
            Screen.Text($0.role, voice.line($0.message).text)
        }
        screen.formFields = fields.map { field in
            let label = voice.line(field.label)
            return Screen.Field(
                field.kind, id: field.id.isEmpty ? label.id : field.id, label: label.text,
                prefill: field.prefill, purpose: field.purpose, isJudged: field.isJudged)
        }
        screen.rules = Array(rules.prefix(Limits.screenRules))
        let all = fields.indices.reduce(UInt16(0)) { needed, place in
            fields[place].isOptional ? needed : needed | 1 << UInt16(place)
        }
        screen.choices = ways.map { way in
            Screen.Choice(
                way.role, id: Array(way.button.rawValue.utf8), label: voice.line(way.label).text,
                needs: way.takesFields && !mayBeEmpty ? all : 0, needsItem: way.needsItem)
        }
        screen.items = items.prefix(Limits.screenItems).enumerated().map { place, item in
            Screen.Item(
                id: Array(String(place + 1).utf8),
                title: Text.clean(String(decoding: item.title, as: UTF8.self)),
                subtitle: voice.line(item.subtitle).text, mark: item.isCurrent ? .current : .none)
        }
        screen.document = Array(document.prefix(Limits.documentTexts))
        return screen
    }
}

// MARK: each of them

extension Sheet {
    /// Before a flow that is due.
    package static func notice(_ notice: Message.Notice) -> Sheet {
        var sheet = Sheet(
            .notice, .page, ways: [Way(.goOn, label: .noticeButton(notice))],
            question: .noticeEnd(notice))
        sheet.picture = .organisation
        sheet.lines = notice.parts.map { part in
            Line(part == .body ? .paragraph : .heading, .notice(notice, part))
        }
        return sheet
    }

    /// `wrong` is what was not right the last time.
    package static func newPasscode(
        _ rules: [Checklist.Entry], maySkip: Bool, wrong: Message? = nil
    ) -> Sheet {
        var sheet = Sheet(
            .createPasscode, .form, ways: [Way(.goOn), Way(.cancel, .cancel)],
            question: .chooseNew)
        sheet.picture = .key
        sheet.lines = [Line(.heading, .createHeading)]
        sheet.mayBeEmpty = maySkip
        if maySkip { sheet.lines.append(Line(.hint, .maySkip)) }
        if let wrong { sheet.lines.append(Line(.error, wrong)) }
        sheet.fields = [
            Field(label: .chooseNew, purpose: .newPasscode, isJudged: true),
            Field(label: .confirmNew, purpose: .confirmPasscode),
        ]
        sheet.rules = rules
        return sheet
    }

    /// What an organisation asks people to agree to.
    package static func paper(
        _ item: Consents.Item, of organisation: String, languages: [String]
    ) -> Sheet {
        let paper = item.paper(for: languages)
        let no: Button =
            switch item.kind {
            case .licence: .disagree
            case .required: .deny
            case .optional: .notNow
            }
        var sheet = Sheet(
            item.kind == .licence ? .licence : .consent, .document,
            ways: [Way(.agree), Way(no, .other), Way(.cancel, .cancel)],
            question: .consentQuestion(title: Array(paper.title.utf8)))
        sheet.picture = .paper
        sheet.lines = [
            Line(.heading, .written(Array(paper.title.utf8))),
            Line(.paragraph, .consentHeading(organisation: organisation)),
            Line(.hint, item.kind == .optional ? .consentOptional : .consentRequired),
        ]
        if !item.learnMore.isEmpty {
            sheet.lines.append(Line(.link, .written(Array(item.learnMore.utf8))))
        }
        let pages = paper.pages.map { page in
            page.map { line in
                Screen.Text(.init(line.role), Text.clean(line.text, limit: Limits.paragraph))
            }
        }
        sheet.document = Array(pages.joined(separator: [Screen.Text(.page, [])]))
        return sheet
    }

    // MARK: for whoever meets the vault

    /// `organisation` is who manages this machine; where nobody does, somebody may want to.
    package static func welcome(organisation: String?, mayJoin: Bool = false) -> Sheet {
        var sheet = Sheet(
            .welcome, .page, ways: [Way(.goOn), Way(.cancel, .cancel)], question: .pageEnd(.goOn))
        sheet.picture = .logo
        sheet.lines = [Line(.heading, .onboardTitle), Line(.paragraph, .onboardBody)]
        if let organisation {
            sheet.lines.append(Line(.paragraph, .welcomeManaged(organisation: organisation)))
        }
        if mayJoin { sheet.ways.insert(Way(.invitation, .other), at: 1) }
        return sheet
    }

    /// What opens the store; `usual` is what suits this machine.
    package static func welcomeWay(_ usual: UsualWay, allowsNone: Bool) -> Sheet {
        var sheet: Sheet
        switch usual {
        case .loginPassword:
            sheet = Sheet(
                .welcomeWay, .page, ways: [Way(.loginPassword), Way(.ownPasscode, .other)],
                question: .onboardFollow)
            sheet.lines = [Line(.item, .welcomeLogin), Line(.item, .welcomeOwn)]
        case .ownPasscode:
            sheet = Sheet(
                .welcomeWay, .page, ways: [Way(.ownPasscode), Way(.loginPassword, .other)],
                question: .welcomeOwnOffer)
            sheet.lines = [Line(.item, .welcomeOwn), Line(.item, .welcomeLogin)]
        }
        if allowsNone {
            sheet.ways.append(Way(.noPasscode, .other))
            sheet.lines.append(Line(.item, .welcomeNone))
        }
        sheet.ways.append(Way(.cancel, .cancel))
        sheet.picture = .lock
        sheet.title = .welcomeWay
        return sheet
    }

    package enum UsualWay: Sendable { case loginPassword, ownPasscode }

    package static func welcomeReady() -> Sheet {
        var sheet = Sheet(
            .welcomeReady, .page, ways: [Way(.goOn)], question: .pageEnd(.goOn))
        sheet.picture = .done
        sheet.lines = [
            Line(.heading, .welcomeReady), Line(.item, .welcomeSet), Line(.item, .welcomeStatus),
        ]
        return sheet
    }
}

extension Screen.Text.Role {
    fileprivate init(_ role: Consents.Line.Role) {
        self =
            switch role {
            case .heading: .heading
            case .paragraph: .paragraph
            case .item: .item
            case .link: .link
            }
    }
}
