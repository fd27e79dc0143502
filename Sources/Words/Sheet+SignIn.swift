import Fleet
import Wire

// How people say to their organisation who they are.

extension Sheet {
    /// For whom the screen is, and what they may do besides.
    package struct SigningIn {
        package let organisation: String
        package let languages: [String]
        package var mayLater = false
        /// What came of it the last time.
        package var wrong: [Message] = []

        package init(organisation: String, languages: [String], mayLater: Bool) {
            (self.organisation, self.languages) = (organisation, languages)
            self.mayLater = mayLater
        }
    }

    /// `typed` stands in the fields again, as far as it was no secret; one for each of them.
    package static func signIn(
        _ signIn: SignIn, _ fields: [SignIn.Field], host: String, typed: [[UInt8]],
        _ person: SigningIn
    ) -> Sheet {
        var sheet = Sheet(.signIn, .form, ways: person.ways(.goOn), question: .pageEnd(.goOn))
        sheet.picture = .organisation
        sheet.lines = [
            Line(.heading, .written(Text.clean(signIn.title(for: person.languages)))),
            Line(.paragraph, .signInBody(organisation: person.organisation, host: host)),
        ]
        sheet.lines += person.wrong.map { Line(.error, $0) }
        sheet.fields = zip(fields, typed).map { field, typed in
            var label = field.label(for: person.languages)
            if label.last != ":" { label += ":" }
            var drawn = Field(
                label: .written(Text.clean(label) + [0x20]), purpose: .choice,
                kind: .init(field.kind))
            drawn.id = Array(field.id.utf8)
            drawn.prefill = typed
            drawn.isOptional = !field.isRequired
            return drawn
        }
        return sheet
    }

    /// A page of the organisation's, where somebody says who they are, and types the code.
    package static func signInWeb(
        _ signIn: SignIn, page: String, code: String, _ person: SigningIn
    ) -> Sheet {
        var sheet = Sheet(
            .signInWeb, .web, ways: person.ways(.signedIn), question: .pageEnd(.signedIn))
        sheet.picture = .organisation
        sheet.lines = [
            Line(.heading, .written(Text.clean(signIn.title(for: person.languages)))),
            Line(.paragraph, .signInWeb(organisation: person.organisation)),
            Line(.link, .written(Array(page.utf8))),
            Line(.paragraph, .signInWebCode(code)),
        ]
        sheet.lines += person.wrong.map { Line(.error, $0) }
        return sheet
    }
}

extension Sheet.SigningIn {
    fileprivate func ways(_ button: Button) -> [Sheet.Way] {
        let later = mayLater ? [Sheet.Way(.later, .other)] : []
        return [Sheet.Way(button)] + later + [Sheet.Way(.cancel, .cancel)]
    }
}

extension Screen.Field.Kind {
    fileprivate init(_ kind: SignIn.Field.Kind) {
        self =
            switch kind {
            case .text: .text
            case .name: .name
            case .email: .email
            case .number: .number
            case .secret: .secret
            }
    }
}
