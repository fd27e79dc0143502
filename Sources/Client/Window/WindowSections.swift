import Posix
import ToolTexts
import Wire

/// What there is besides the stores, from what the commands show of it.
struct WindowSections {
    let words: OwnWords

    // MARK: Fingers

    /// Nil where there is neither a finger nor a reader.
    func fingers(_ state: FingerprintState, of store: [UInt8]) -> WindowSection? {
        guard !state.fingers.isEmpty || !state.readers.isEmpty else { return nil }
        let fingers = state.fingers.map { enrolled in
            WindowSection.Row(
                title: words(enrolled.finger.text),
                lines: [
                    words(
                        .windowFingerFacts, ToolIO.localTime(enrolled.at),
                        FingerprintView.place(enrolled, words))
                ],
                buttons: NamedFinger(enrolled.finger).map {
                    [button(.windowDelete, .deleteFinger($0, store: store))]
                } ?? [])
        }
        let standing =
            state.unavailable.isEmpty
            ? words(FingerprintView.standing(state)) : state.unavailable
        let all = WindowSection.Row(
            title: words(.windowFingerAny), lines: [standing],
            buttons: state.readers.isEmpty
                ? [] : [button(.windowEnrol, .enrol(store: store))])
        return WindowSection(id: "fingers", title: words(.windowFingers), rows: [all] + fingers)
    }

    // MARK: Members

    /// Of one store. `uid` is the person's own number.
    func members(
        _ list: MemberList, of store: StoreList.Entry, uid: UInt32
    ) -> WindowSection {
        let name = store.typedName
        var rows: [WindowSection.Row] = []
        switch store.role {
        case .owner:
            rows.append(
                WindowSection.Row(
                    title: words(.windowShareAny),
                    lines: list.newKeyIsDue ? [words(.newKeyDue)] : [],
                    buttons: [button(.windowShare, .share(store: name))]))
        case .none, .writer, .reader: break
        }
        rows += list.members.map { member in
            let role = words(StoreListView.text(member.role))
            let note = MembersCommand.note(member).map { words($0) }
            return WindowSection.Row(
                title: MembersCommand.text(member, words),
                lines: [note.map { words(.windowMember, role, $0) } ?? role],
                buttons: parting(member, store, uid))
        }
        return WindowSection(
            id: "members", title: words(.windowMembers, Printable.escaped(name)), rows: rows)
    }

    /// The owner removes whomever, and each other member themselves. Who is there by a group goes with the group.
    private func parting(
        _ member: MemberList.Entry, _ store: StoreList.Entry, _ uid: UInt32
    ) -> [WindowSection.Row.Button] {
        guard member.role != .owner, !member.isByGroup else { return [] }
        let name = store.typedName
        switch store.role {
        case .owner: return [button(.windowUnshare, .unshare(store: name, SharedWith(member)))]
        case .none, .writer, .reader:
            guard member.kind == .person, member.number == uid else { return [] }
            return [button(.windowLeave, .leave(store: name, account: member.name))]
        }
    }

    // MARK: The organisation

    /// Nil where there is none. Either may be unknown.
    func organisation(_ fleet: FleetState?, _ consents: ConsentList?) -> WindowSection? {
        let asked = consents?.items ?? []
        let problem = fleet?.problem ?? []
        let known = fleet?.organisation ?? []
        let name = known.isEmpty ? consents?.organisation ?? [] : known
        guard !name.isEmpty || !problem.isEmpty || !asked.isEmpty else { return nil }
        let facts: [[UInt8]] =
            if let fleet, !known.isEmpty {
                FleetStatusCommand.facts(fleet, words)
            } else if !problem.isEmpty {
                [words(.fleetProblem, Printable.escaped(problem))]
            } else {
                []
            }
        var rows = [
            WindowSection.Row(
                title: name.isEmpty ? words(.windowOrganisation) : name, lines: facts,
                buttons: [])
        ]
        if !asked.isEmpty {
            rows.append(
                WindowSection.Row(
                    title: words(.windowConsents), lines: [],
                    buttons: [button(.windowConsent, .consents)]))
        }
        rows += asked.map { item in
            WindowSection.Row(
                title: item.title,
                lines: [ConsentsShowCommand.said(item, words) ?? words(.windowConsentOpen)],
                buttons: [])
        }
        rows.append(
            WindowSection.Row(
                title: words(.windowOrganisationLeave),
                lines: [words(.windowOrganisationLeaveBody)], buttons: []))
        return WindowSection(
            id: "organisation", title: words(.windowOrganisation), rows: rows)
    }

    // MARK: Applications

    func applications(_ apps: [LockedApps.App], _ running: [RunningApp]) -> WindowSection {
        let any = WindowSection.Row(
            title: words(.windowAppAny), lines: [words(.windowAppAnyBody)],
            buttons: [button(.windowAppChoose, .lockApp)])
        let rows = apps.map { app in
            let runs = AppListCommand.text(of: app.id.name, in: running).map { words($0) }
            let again = button(.windowAppAgain, .lockAppAgain(app.id))
            let unlock = button(.windowAppUnlock, .unlockApp(app.id))
            return WindowSection.Row(
                title: app.name.isEmpty ? Array(app.id.name.utf8) : app.name,
                lines: [words(app.standing.text)] + (runs.map { [$0] } ?? []),
                buttons: app.standing == .locked ? [unlock] : [again, unlock])
        }
        return WindowSection(id: "apps", title: words(.windowApps), rows: [any] + rows)
    }

    // MARK: Stores

    /// A further one, and how long the first one stays open. Only one that is open can be held, and
    /// only one that a passcode opens.
    func stores(_ first: State) -> WindowSection {
        var rows = [
            WindowSection.Row(
                title: words(.windowFurther), lines: [words(.windowFurtherBody)],
                buttons: [button(.windowMake, .create)])
        ]
        let hasPasscode =
            switch first.passcode {
            case .passcode, .passcodeAndFingerprint: true
            case .unknown, .none: false
            }
        if first.lock == .unlocked, hasPasscode {
            let isHeld = first.heldUntil > 0
            rows.append(
                WindowSection.Row(
                    title: words(.windowHold),
                    lines: [
                        isHeld
                            ? words(.windowHeld, ToolIO.localTime(first.heldUntil))
                            : words(.windowHoldAny)
                    ],
                    buttons: isHeld
                        ? [button(.windowHoldEnd, .resume(store: []))]
                        : [button(.windowHoldBegin, .hold(store: []))]))
        }
        return WindowSection(id: "stores", title: words(.windowMore), rows: rows)
    }

    private func button(_ label: ToolText, _ request: WindowRequest)
        -> WindowSection.Row.Button
    {
        .init(label: words(label), request: request)
    }
}
