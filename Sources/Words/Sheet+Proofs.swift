import Wire

extension Sheet {
    /// What stands above a screen that asks for one thing.
    package enum Title: CaseIterable, Sendable {
        case match
        case matchCurrent
        case recovery
        case loginPassword
        case former
        case newPassphrase
        case passphrase
        case fingerprintOffer
        case fingerprintWho
        case recoveryOffer
        case changesLost
        case fingerprintClear

        var text: TextID {
            switch self {
            case .match: .matchHeading
            case .matchCurrent: .matchCurrentHeading
            case .recovery: .recoveryHeading
            case .loginPassword: .loginHeading
            case .former: .formerHeading
            case .newPassphrase: .exportHeading
            case .passphrase: .importHeading
            case .fingerprintOffer: .fingerprintOfferTitle
            case .fingerprintWho: .fingerprintWhoTitle
            case .recoveryOffer: .recoveryOfferTitle
            case .changesLost: .lossTitle
            case .fingerprintClear: .fingerprintClearTitle
            }
        }
    }
}

/// Screens on which somebody types what they have already.
extension Sheet {
    /// What the passcode is asked for.
    package enum Occasion: Sendable {
        case opening
        /// The same, where somebody else of this account could have theirs opened instead.
        case openingOneOfSeveral
        /// Something is to be changed: a finger does not stand in for it.
        case change
        case reset
    }

    /// `offersReset`: whoever has forgotten it may say so. `store` is empty for a person's first one.
    package static func passcode(
        _ occasion: Occasion, store: [UInt8] = [], offersReset: Bool
    ) -> Sheet {
        var sheet: Sheet
        switch occasion {
        case .opening, .openingOneOfSeveral:
            sheet = form(.match, .open, .match, Field(label: .prompt, purpose: .passcode))
            sheet.picture = .lock
            if !store.isEmpty { sheet.title = .matchNamed(store: store) }
        case .change, .reset:
            sheet = form(
                .matchCurrent, .goOn, .matchCurrent,
                Field(label: .promptCurrent, purpose: .passcode))
        }
        if offersReset { sheet.ways.insert(Way(.forgotten, .other), at: 1) }
        switch occasion {
        case .openingOneOfSeveral: sheet.ways.insert(Way(.somebodyElse, .other), at: 1)
        case .opening, .change, .reset: break
        }
        return sheet
    }

    package static func recoveryKey() -> Sheet {
        form(
            .recovery, .goOn, .recovery,
            Field(label: .recoveryPrompt, purpose: .recoveryKey))
    }

    package static func loginPassword() -> Sheet {
        var sheet = form(
            .loginPassword, .goOn, .loginPassword,
            Field(label: .loginPassword, purpose: .loginPassword))
        sheet.picture = .person
        return sheet
    }

    /// What opened a store that follows the login password, before that changed.
    package static func former(_ question: Message) -> Sheet {
        form(.former, .goOn, .former, Field(label: question, purpose: .former))
    }

    package static func newPassphrase(least: Int) -> Sheet {
        var sheet = form(
            .exportPassphrase, .goOn, .newPassphrase,
            Field(label: .newPassphrase, purpose: .newPassphrase))
        sheet.fields.append(Field(label: .confirmPassphrase, purpose: .confirmPassphrase))
        sheet.lines.append(Line(.hint, .exportHint(least: least)))
        return sheet
    }

    package static func passphrase() -> Sheet {
        form(
            .importPassphrase, .goOn, .passphrase,
            Field(label: .passphrase, purpose: .passphrase))
    }

    private static func form(
        _ id: Name, _ button: Button, _ title: Title, _ field: Field
    ) -> Sheet {
        var sheet = Sheet(
            id, .form, ways: [Way(button), Way(.cancel, .cancel)], question: field.label)
        sheet.picture = .key
        sheet.title = .title(title)
        sheet.fields = [field]
        return sheet
    }
}
