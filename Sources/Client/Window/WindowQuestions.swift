import ToolTexts
import Wire

/// What a window asks by itself, before there is a connection: the daemon ends one on which nothing happens for five
/// minutes, and a person may take longer.
struct WindowQuestions {
    let words: OwnWords
    /// What the person has begun.
    let title: [UInt8]
    let inbox: Inbox
    let show: @Sendable (WindowShow) -> Void

    /// Whether something that is there is to go. No key that somebody presses to go on says yes.
    func agree(_ picture: Screen.Picture, _ what: ToolText) throws(ClientError) {
        var screen = screen(.page, "agree", picture)
        screen.choices = [
            choice(.grave, "agree", what), choice(.cancel, "cancel", .windowCancel),
        ]
        _ = try answer(screen)
    }

    /// Which one is to be enrolled; those that are already are marked, and are replaced.
    func finger(known: [Finger]) throws(ClientError) -> Finger {
        var screen = screen(.list, "fingers", .finger)
        screen.items = Finger.named.map { finger in
            let isKnown = known.contains(finger)
            return Screen.Item(
                id: Array(finger.name.utf8), title: words(finger.text),
                subtitle: isKnown ? words(.windowFingerKnown) : [],
                mark: isKnown ? .current : .none)
        }
        screen.choices = goingOn()
        while true {
            let place = Int(try answer(screen).item) - 1
            if Finger.named.indices.contains(place) { return Finger.named[place] }
        }
    }

    /// How a further store is called, and what opens it.
    func newStore() throws(ClientError) -> (name: [UInt8], way: Create.Way) {
        let ways: [(Create.Way, ToolText, ToolText)] = [
            (.followStore, .windowNewFollows, .windowNewFollowsText),
            (.ownPasscode, .windowNewOwn, .windowNewOwnText),
            (.shared, .windowNewShared, .windowNewSharedText),
        ]
        var screen = screen(.list, "new-store", .lock)
        screen.formFields = [field(.windowNewName)]
        screen.items = ways.map { way in
            Screen.Item(id: Array(way.1.id.utf8), title: words(way.1), subtitle: words(way.2))
        }
        screen.choices = goingOn(needs: 1)
        while true {
            let answer = try answer(screen)
            let place = Int(answer.item) - 1
            if ways.indices.contains(place) { return (answer.typed, ways[place].0) }
        }
    }

    /// With whom a store is to be shared, and what they may do.
    func member() throws(ClientError) -> (SharedWith, StoreRole) {
        let roles: [(StoreRole, ToolText)] = [(.writer, .roleWriter), (.reader, .roleReader)]
        var screen = screen(.list, "share", .person)
        screen.lines.append(Screen.Text(.hint, words(.windowShareHint)))
        screen.formFields = [field(.windowShareName)]
        screen.items = roles.map { role, text in
            Screen.Item(
                id: Array(text.id.utf8), title: words(text),
                mark: role == .writer ? .current : .none)
        }
        screen.choices = goingOn(needs: 1)
        while true {
            let answer = try answer(screen)
            let place = Int(answer.item) - 1
            guard roles.indices.contains(place) else { continue }
            do throws(UsageError) {
                return (try SharedWith(typed: answer.typed), roles[place].0)
            } catch {
                screen.lines = [
                    screen.lines[0], Screen.Text(.error, error.message.bytes),
                    Screen.Text(.hint, words(.windowShareHint)),
                ]
                screen.formFields[0].prefill = answer.typed
            }
        }
    }

    // MARK: One of them

    /// Its number is none that the daemon gives.
    private func screen(
        _ kind: Screen.Kind, _ id: String, _ picture: Screen.Picture
    ) -> Screen {
        var screen = Screen(question: .max, kind: kind, id: Array(id.utf8))
        screen.picture = picture
        screen.lines = [Screen.Text(.heading, title)]
        return screen
    }

    private func field(_ label: ToolText) -> Screen.Field {
        Screen.Field(
            .name, id: Array(label.id.utf8), label: words(label), purpose: .choice)
    }

    private func choice(
        _ role: Screen.Choice.Role, _ id: String, _ label: ToolText
    ) -> Screen.Choice {
        Screen.Choice(role, id: Array(id.utf8), label: words(label))
    }

    /// With one of the items, and with the fields of these bits.
    private func goingOn(needs: UInt16 = 0) -> [Screen.Choice] {
        [
            Screen.Choice(
                .primary, id: Array("continue".utf8), label: words(.windowContinue), needs: needs,
                needsItem: true),
            choice(.cancel, "cancel", .windowCancel),
        ]
    }

    private func answer(_ screen: Screen) throws(ClientError) -> (item: UInt8, typed: [UInt8]) {
        show(.screen(screen))
        while true {
            switch inbox.wait(screen.question) {
            case .answer(_, _, let item, let typed):
                // What stands in its only field, behind its length. No secret is asked for here.
                let bytes = typed.withSpan { span in
                    span.count > 2 ? (2..<span.count).map { span[$0] } : []
                }
                return (item, bytes)
            case .draft: continue
            case .cancel: throw .refused(Refused(.cancelled, words(.cancelled)))
            }
        }
    }
}
