import DesktopEntries
import ToolTexts
import Wire

/// What the window asks by itself. It does so before it connects: a person takes their time, and the
/// daemon ends a connection that is idle for five minutes.
struct WindowForms {
    /// What the person has begun.
    let title: [UInt8]
    let words: OwnWords
    let inbox: Inbox
    let show: @Sendable (WindowShow) -> Void
    /// Of the store that is looked into: once it is locked, nothing of it stays on the screen.
    var watch: StoreWatch?

    /// No question of the daemon's has this number.
    private static let question = UInt32.max

    struct Said {
        let choice: Int
        /// From 0 on; -1 where none was taken.
        let item: Int
        let typed: Typed
    }

    /// Whoever cancels has begun nothing.
    private func ask(_ screen: Screen) throws(ClientError) -> Said {
        show(.screen(screen))
        return try wait()
    }

    private func wait() throws(ClientError) -> Said {
        while true {
            while let said = inbox.next(Self.question) {
                switch said {
                case .draft: break
                case .cancel: throw .refused(Refused(.cancelled, words(.cancelled)))
                case .answer(_, let choice, let item, let typed):
                    return Said(
                        choice: Int(choice), item: Int(item) - 1, typed: typed)
                }
            }
            guard let watch else {
                inbox.bell.wait()
                continue
            }
            guard try watch.wait(for: inbox.bell) else {
                throw .refused(Refused(.cancelled, words(.windowLockedMeanwhile)))
            }
        }
    }

    /// What was typed into one of the fields: each stands behind its 16-bit length.
    static func field(_ number: Int, of typed: Typed) -> Typed {
        let field = Typed(capacity: Limits.secret)
        typed.withSpan { span in
            var (number, place) = (number, 0)
            while place + 2 <= span.count {
                let start = place + 2
                let end = min(span.count, start + Int(span[place]) + Int(span[place + 1]) << 8)
                if number == 0 { return field.append(span.extracting(start..<end)) }
                (number, place) = (number - 1, end)
            }
        }
        return field
    }

    // MARK: The screens

    private func screen(
        _ id: String, _ kind: Screen.Kind, _ picture: Screen.Picture, _ text: ToolText?
    ) -> Screen {
        var screen = Screen(question: Self.question, kind: kind, id: Array(id.utf8))
        screen.picture = picture
        screen.lines = [Screen.Text(.heading, title)]
        if let text { screen.lines.append(Screen.Text(.paragraph, words(text))) }
        return screen
    }

    private func choice(
        _ role: Screen.Choice.Role, _ id: String, _ label: ToolText, needs: UInt16 = 0,
        needsItem: Bool = false
    ) -> Screen.Choice {
        Screen.Choice(
            role, id: Array(id.utf8), label: words(label), needs: needs, needsItem: needsItem)
    }

    private var cancel: Screen.Choice { choice(.cancel, "cancel", .windowCancel) }

    func confirm(_ request: WindowRequest) throws(ClientError) {
        guard let warning = request.facts.warning else { return }
        try confirm(words(warning), request.facts.title)
    }

    /// Enter does not do what cannot be taken back: somebody has to choose it.
    private func confirm(_ warning: [UInt8], _ go: ToolText) throws(ClientError) {
        var screen = screen("confirm", .page, .warning, nil)
        screen.lines.append(Screen.Text(.paragraph, warning))
        screen.choices = [choice(.grave, "go", go), cancel]
        _ = try ask(screen)
    }

    /// Which one is to be enrolled; those that are already are marked, and are replaced.
    func finger(known: [Finger]) throws(ClientError) -> Finger {
        var screen = screen("fingers", .list, .finger, nil)
        screen.items = Finger.named.map { finger in
            let isKnown = known.contains(finger)
            return Screen.Item(
                id: Array(finger.name.utf8), title: words(finger.text),
                subtitle: isKnown ? words(.windowFingerKnown) : [],
                mark: isKnown ? .current : .none)
        }
        screen.choices = [choice(.primary, "continue", .windowContinue, needsItem: true), cancel]
        while true {
            let item = try ask(screen).item
            if Finger.named.indices.contains(item) { return Finger.named[item] }
        }
    }

    /// With whom, and what they may do.
    func member() throws(ClientError) -> (SharedWith, StoreRole) {
        var screen = screen("share", .form, .people, .windowShareBody)
        screen.formFields = [field(.windowShareWhom)]
        screen.choices = [
            choice(.primary, "writer", .windowShareWriter, needs: 1),
            choice(.primary, "reader", .windowShareReader, needs: 1), cancel,
        ]
        let said = try ask(screen)
        do throws(UsageError) {
            return (try SharedWith(typed: trimmed(said)), said.choice == 0 ? .writer : .reader)
        } catch {
            throw .refused(error.refusal)
        }
    }

    /// A further store: what it is called, and what opens it.
    func further() throws(ClientError) -> (name: [UInt8], way: Create.Way) {
        var screen = screen("further", .form, .lock, .windowCreateBody)
        screen.formFields = [field(.windowCreateName)]
        screen.choices = [
            choice(.primary, "follow", .windowCreateFollow, needs: 1),
            choice(.primary, "own", .windowCreateOwn, needs: 1),
            choice(.primary, "shared", .windowCreateShared, needs: 1), cancel,
        ]
        let said = try ask(screen)
        let ways: [Create.Way] = [.followStore, .ownPasscode, .shared]
        do throws(UsageError) {
            let name = try Arguments.store(trimmed(said), "create")
            return (name, ways.indices.contains(said.choice) ? ways[said.choice] : .followStore)
        } catch {
            throw .refused(error.refusal)
        }
    }

    /// For how many seconds a store is to stay open.
    func time() throws(ClientError) -> UInt32 {
        var screen = screen("hold", .page, .lock, .windowHoldBody)
        screen.choices = [
            choice(.primary, "hour", .windowHoldHour), choice(.other, "hours", .windowHoldHours),
            choice(.other, "longest", .windowHoldLongest), cancel,
        ]
        let times: [UInt32] = [3_600, 14_400, Hold.longest]
        let taken = try ask(screen).choice
        return times.indices.contains(taken) ? times[taken] : times[0]
    }

    /// Of those that the menu shows. There may be more than a screen holds; the last are left out,
    /// and the screen says so.
    func application(_ found: [LockedApps.Candidate]) throws(ClientError) -> ApplicationID {
        var screen = screen(
            "apps", .list, .lock, found.isEmpty ? .windowAppNone : .windowAppLockBody)
        let shown = found.prefix(Limits.screenItems)
        screen.items = shown.map {
            Screen.Item(
                id: Array($0.id.name.utf8), title: $0.name, subtitle: Array($0.id.name.utf8))
        }
        if shown.count < found.count {
            screen.lines.append(
                Screen.Text(.hint, words(.windowAppMore, found.count - shown.count)))
        }
        screen.choices = [choice(.primary, "continue", .windowAppDo, needsItem: true), cancel]
        while true {
            let item = try ask(screen).item
            if shown.indices.contains(item) { return shown[item].id }
        }
    }

    // MARK: An invitation

    enum Invited { case typed, picture, camera }

    func invited() throws(ClientError) -> Invited {
        var screen = screen("invited", .page, .organisation, .windowInvitedBody)
        screen.choices = [
            choice(.primary, "type", .windowInvitedTyped),
            choice(.other, "picture", .windowInvitedPicture),
            choice(.other, "camera", .windowInvitedCamera), cancel,
        ]
        let ways: [Invited] = [.typed, .picture, .camera]
        let taken = try ask(screen).choice
        return ways.indices.contains(taken) ? ways[taken] : .typed
    }

    /// The path of a file that somebody has chosen.
    func picture() throws(ClientError) -> [UInt8] {
        show(.chooseFile(question: Self.question, title: words(.windowInvitedPicture)))
        return Self.field(0, of: try wait().typed).withSpan { span in span.indices.map { span[$0] }
        }
    }

    /// Somebody holds a code in front of a camera, until it is seen or they leave.
    func onlooker(_ scan: Screen) -> Onlooker {
        func shown(_ line: ToolText?) -> Screen {
            var screen = scan
            screen.question = Self.question
            screen.kind = .page
            screen.choices = [cancel]
            if let line { screen.lines.append(Screen.Text(.error, words(line))) }
            return screen
        }
        return Onlooker(
            looking: { show(.screen(shown(nil))) },
            stranger: { show(.screen(shown(.cameraStranger))) },
            sees: { show(.seen($0)) }, bell: inbox.bell,
            hasLeft: { inbox.next(Self.question) != nil })
    }

    // MARK: What is kept

    /// Something new, and by which name.
    func secret() throws(ClientError) -> (name: [UInt8], value: Typed) {
        var screen = screen("keep", .form, .key, .windowKeepBody)
        screen.formFields = [
            field(.windowKeepName),
            Screen.Field(
                .secret, id: Array("value".utf8), label: words(.windowKeepValue), purpose: .choice),
        ]
        screen.choices = [choice(.primary, "keep", .windowKeepDo, needs: 0b11), cancel]
        let said = try ask(screen)
        return (trimmed(said), Self.field(1, of: said.typed))
    }

    /// There is one of this name.
    func confirmReplacing(_ name: [UInt8]) throws(ClientError) {
        try confirm(
            words(.windowKeepReplaceBody, Printable.escaped(name)), .windowKeepReplace)
    }

    func confirmRemoving(_ name: [UInt8]) throws(ClientError) {
        try confirm(
            words(.windowNamesRemoveBody, Printable.escaped(name)), .windowNamesRemove)
    }

    enum Looked: Equatable {
        /// By their place.
        case show(Int)
        case remove(Int)
        case more
    }

    /// As many as a screen holds. Nil where somebody has seen enough.
    func names(
        _ names: [[UInt8]], damaged: Int, hasMore: Bool
    ) throws(ClientError) -> Looked? {
        var screen = screen("names", .list, .none, names.isEmpty ? .windowNamesNone : nil)
        if damaged > 0 {
            screen.lines.append(Screen.Text(.hint, words(.windowNamesDamaged, damaged)))
        }
        screen.items = names.map { Screen.Item(id: $0, title: $0) }
        var ways: [(Screen.Choice, (Int) -> Looked)] = []
        if !names.isEmpty {
            ways = [
                (choice(.primary, "show", .windowShow, needsItem: true), Looked.show),
                (choice(.grave, "remove", .windowNamesRemove, needsItem: true), Looked.remove),
            ]
        }
        if hasMore { ways.append((choice(.other, "more", .windowNamesMore), { _ in .more })) }
        screen.choices = ways.map(\.0) + [choice(.cancel, "close", .windowClose)]
        while let said = try askOrLeave(screen) {
            guard ways.indices.contains(said.choice) else { return nil }
            let looked = ways[said.choice].1(said.item)
            if looked == .more || names.indices.contains(said.item) { return looked }
        }
        return nil
    }

    /// Until somebody goes back. What is too long to be read in a window is told without it.
    func value(_ value: Typed, of name: [UInt8]) throws(ClientError) {
        var screen = screen("value", .page, .none, nil)
        screen.lines = [Screen.Text(.heading, Printable.escaped(name))]
        screen.choices = [choice(.cancel, "back", .windowBack)]
        if value.count <= Self.readable {
            show(.reveal(screen, value))
        } else {
            screen.lines.append(
                Screen.Text(.paragraph, words(.windowValueLong, Printable.escaped(name))))
            show(.screen(screen))
        }
        _ = try orLeave { () throws(ClientError) in try wait() }
    }

    private static let readable = 4096

    private func askOrLeave(_ screen: Screen) throws(ClientError) -> Said? {
        try orLeave { () throws(ClientError) in try ask(screen) }
    }

    /// Nil where somebody leaves a page from which they come back to another one.
    func orLeave<R>(_ page: () throws(ClientError) -> R) throws(ClientError) -> R? {
        do throws(ClientError) {
            return try page()
        } catch {
            guard error.refusal.known == .cancelled, watch?.isOpen != false else { throw error }
            return nil
        }
    }

    private func field(_ label: ToolText) -> Screen.Field {
        Screen.Field(.text, id: Array("name".utf8), label: words(label), purpose: .choice)
    }

    /// The spaces around a name are not meant.
    private func trimmed(_ said: Said) -> [UInt8] {
        var name = Self.field(0, of: said.typed).withSpan { span in span.indices.map { span[$0] } }
        while name.last == 0x20 { name.removeLast() }
        return Array(name.drop { $0 == 0x20 })
    }
}
