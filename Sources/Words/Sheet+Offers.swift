import Wire

/// Screens on which somebody says yes or no.
extension Sheet {
    package static func fingerprintOffer() -> Sheet {
        var sheet = Sheet(
            .fingerprintOffer, .page,
            ways: [Way(.enable), Way(.notNow, .other, label: .fingerprintNotNow)],
            question: .fingerprintOffer)
        sheet.picture = .finger
        sheet.title = .title(.fingerprintOffer)
        sheet.lines = [Line(.paragraph, .fingerprintLearnMore)]
        return sheet
    }

    /// It makes a finger do more than it did: no key that somebody presses to go on agrees to it.
    package static func fingerprintWho() -> Sheet {
        var sheet = Sheet(
            .fingerprintWho, .page,
            ways: [Way(.enable, .other), Way(.notNow, .other, label: .fingerprintNotNow)],
            question: .fingerprintWho)
        sheet.picture = .finger
        sheet.title = .title(.fingerprintWho)
        sheet.lines = [Line(.paragraph, .fingerprintWhoBody)]
        return sheet
    }

    /// Whoever leaves it is asked again another time.
    package static func recoveryOffer() -> Sheet {
        var sheet = Sheet(
            .recoveryOffer, .page,
            ways: [
                Way(.makeKey), Way(.noKey, .other),
                Way(.cancel, .cancel, label: .button(.later)),
            ],
            question: .recoveryOffer)
        sheet.picture = .key
        sheet.title = .title(.recoveryOffer)
        return sheet
    }

    package static func changesLost() -> Sheet {
        var sheet = Sheet(
            .changesLost, .page, ways: [Way(.remove, .grave), Way(.keep, .other)],
            question: .lossEnd)
        sheet.picture = .warning
        sheet.title = .title(.changesLost)
        return sheet
    }

    /// What goes with it was shown before.
    package static func fingerprintClear() -> Sheet {
        var sheet = Sheet(
            .fingerprintClear, .page, ways: [Way(.remove, .grave), Way(.cancel, .cancel)],
            question: .fingerClearAsk)
        sheet.picture = .warning
        sheet.title = .title(.fingerprintClear)
        return sheet
    }
}
