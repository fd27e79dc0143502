import Wire

/// Several people at one account: each store is somebody's, or for something.
extension Sheet {
    /// What can be done with the list besides taking one.
    package enum PeopleWays: Sendable {
        /// One opens, is added, or is removed.
        case all
        /// A program asks who it is: it removes nobody.
        case choosing
    }

    package static func people(_ items: [Item], _ ways: PeopleWays) -> Sheet {
        let items = Array(items.prefix(Limits.screenItems))
        var sheet = Sheet(
            .people, .list,
            ways: [Way(.open, needsItem: true), Way(.addPerson, .other)],
            question: .peopleQuestion(of: items.count))
        switch ways {
        case .all: sheet.ways.append(Way(.remove, .grave, needsItem: true))
        case .choosing: break
        }
        sheet.ways.append(Way(.cancel, .cancel))
        sheet.picture = .people
        sheet.lines = [Line(.heading, .peopleHeading), Line(.hint, .peopleHint)]
        sheet.items = items
        return sheet
    }

    /// `wrong` is what was not right the last time.
    package static func peopleAdd(wrong: Message? = nil) -> Sheet {
        var sheet = Sheet(
            .peopleAdd, .form, ways: [Way(.goOn), Way(.cancel, .cancel)],
            question: .peopleAddName)
        sheet.picture = .person
        sheet.lines = [Line(.heading, .peopleAddHeading), Line(.hint, .peopleAddHint)]
        if let wrong { sheet.lines.append(Line(.error, wrong)) }
        sheet.fields = [
            Field(label: .peopleAddName, purpose: .choice, kind: .name)
        ]
        return sheet
    }

    /// What goes with it.
    package struct Loss: Sendable {
        package let followers: [[UInt8]]
        package let opensShared: Bool

        package init(followers: [[UInt8]], opensShared: Bool) {
            (self.followers, self.opensShared) = (followers, opensShared)
        }
    }

    package static func peopleRemove(
        _ store: [UInt8], _ loss: Loss, wrong: Message? = nil
    ) -> Sheet {
        var sheet = Sheet(
            .peopleRemove, .form,
            ways: [Way(.remove, .grave, takesFields: true), Way(.cancel, .cancel)],
            question: .peopleRemoveName(store: store))
        sheet.picture = .warning
        sheet.lines = [
            Line(.heading, .peopleRemoveHeading(store: store)),
            Line(.paragraph, .peopleRemoveHint),
        ]
        if !loss.followers.isEmpty {
            sheet.lines.append(Line(.paragraph, .peopleRemoveAlong(stores: loss.followers)))
        }
        if loss.opensShared { sheet.lines.append(Line(.paragraph, .peopleRemoveShared)) }
        if let wrong { sheet.lines.append(Line(.error, wrong)) }
        sheet.fields = [
            Field(
                label: .peopleRemoveName(store: store), purpose: .choice,
                kind: .name)
        ]
        return sheet
    }
}
