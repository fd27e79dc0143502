import Fleet
import Wire

// How a machine joins an organisation.

extension Sheet {
    /// What somebody was given; `wrong` is what was not right with what they typed before.
    package static func join(wrong: Message? = nil) -> Sheet {
        var sheet = Sheet(
            .join, .form, ways: [Way(.goOn), Way(.cancel, .cancel)], question: .joinField)
        sheet.picture = .organisation
        sheet.lines = [Line(.heading, .joinHeading), Line(.hint, .joinHint)]
        if let wrong { sheet.lines.append(Line(.error, wrong)) }
        sheet.fields = [
            Field(label: .joinField, purpose: .choice, kind: .text)
        ]
        return sheet
    }

    /// Who it is, as far as it can be seen, and what they may do then. No key that somebody presses to go
    /// on joins. `domain` is whose server has named this one.
    package static func joinConfirm(
        _ join: Join, _ link: JoinLink, foundBy domain: JoinHost?
    ) -> Sheet {
        var sheet = Sheet(
            .joinConfirm, .page, ways: [Way(.join, .other), Way(.cancel, .cancel)],
            question: .joinQuestion)
        sheet.picture = .organisation
        sheet.lines = [
            Line(.heading, .joinConfirm),
            Line(
                .paragraph,
                .joinCalls(organisation: join.organisation, host: link.host.text)),
        ]
        if let domain { sheet.lines.append(Line(.paragraph, .joinFound(domain: domain.text))) }
        sheet.lines += [
            Line(.item, .joinRules), Line(.item, .joinOrders), Line(.paragraph, .joinFingerprint),
        ]
        sheet.lines += link.groups.map { Line(.item, .written(Array($0.utf8))) }
        return sheet
    }

    /// A code in front of a camera, or in a picture.
    package static func joinScan() -> Sheet {
        var sheet = Sheet(
            .joinScan, .scan,
            ways: [Way(.picture, .other), Way(.type, .other), Way(.cancel, .cancel)],
            question: .joinField)
        sheet.picture = .code
        sheet.lines = [Line(.heading, .joinScan), Line(.paragraph, .joinScanHint)]
        return sheet
    }

    /// What an organisation may do, and what it may not: for whoever has not come by a link.
    package static func joinAbout() -> Sheet {
        var sheet = Sheet(
            .joinAbout, .page, ways: [Way(.goOn), Way(.cancel, .cancel)],
            question: .pageEnd(.goOn))
        sheet.picture = .organisation
        sheet.lines = [
            Line(.heading, .joinAbout), Line(.item, .joinRules), Line(.item, .joinOrders),
            Line(.item, .joinAboutStores), Line(.item, .joinAboutLeave),
        ]
        return sheet
    }
}
