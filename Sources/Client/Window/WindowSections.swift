import Posix
import ToolTexts
import Wire

/// What there is, as the window shows it when nothing is asked: what the commands list, and what can be done with it.
extension WindowLink {
    package func state() throws(ClientError) -> WindowState {
        let connection = try connect()
        var state = WindowState()
        let stores = try connection.stores(of: Subject(), all: false)
        let fleet = try? connection.ask(.fleetStatus, Empty(), for: .fleetState, FleetState.self)
        state.mayJoin = fleet.map { $0.organisation.isEmpty && $0.problem.isEmpty } ?? false
        state.hasStore = !stores.isEmpty
        guard state.hasStore else { return state }
        let first = try connection.status(Target())
        state.advice = first.advice
        let list = try connection.ask(.actions, Target(), for: .actionList, ActionList.self)
        state.actions = WindowState.Action.Name.allCases.compactMap { name in
            list.actions.first { $0.name == Array(name.rawValue.utf8) }.map {
                WindowState.Action(name: name, isAllowed: $0.allowed, reason: $0.reason)
            }
        }
        let consents = try? connection.ask(
            .consents, Empty(), for: .consentList, ConsentList.self)
        state.hasConsents = consents.map { !$0.items.isEmpty } ?? false
        state.sections = [section(of: stores)]
        // Where one of these cannot be asked, the others are shown.
        if let fingers = try? connection.ask(
            .fingerprintList, Target(), for: .fingerprintState, FingerprintState.self)
        {
            state.sections += section(of: fingers)
        }
        for store in stores where store.kind == .shared {
            guard let members = try? connection.members(of: store, Subject()) else { continue }
            state.sections.append(section(of: members, store))
        }
        state.sections += apps()
        if let fleet { state.sections += section(of: fleet) }
        return state
    }

    private func act(
        _ request: WindowRequest, _ label: ToolText, _ named: ToolText, _ name: [UInt8],
        _ weight: WindowState.Act.Weight = .other
    ) -> WindowState.Act {
        WindowState.Act(
            request: request, label: words(label), says: words(named, name), weight: weight)
    }

    private func more(_ request: WindowRequest, _ label: ToolText) -> WindowState.Act {
        WindowState.Act(request: request, label: words(label), says: words(label))
    }

    // MARK: Stores

    private func section(of stores: [StoreList.Entry]) -> WindowState.Section {
        WindowState.Section(
            kind: .store, title: words(.windowStores), rows: stores.map(row),
            more: more(.newStore, .windowNewStore))
    }

    private func row(_ store: StoreList.Entry) -> WindowState.Row {
        let name = store.name.isEmpty ? Array("default".utf8) : StoreListView.name(store)
        // Somebody else's is called by its owner.
        let typed =
            store.role == .owner ? store.name : store.owner.name + [UInt8(ascii: "/")] + store.name
        let lock = words(StatusView.text(store.lock).0)
        let act: WindowState.Act? =
            switch store.lock {
            case .locked:
                self.act(.unlock(store: typed), .windowUnlock, .windowUnlockNamed, name, .main)
            case .unlocked:
                // What somebody else shares is theirs to lock.
                store.role == .owner
                    ? self.act(.lock(store: typed), .windowLock, .windowLockNamed, name) : nil
            case .retryLocked:
                self.act(.recover(store: typed), .windowRecover, .windowRecoverNamed, name, .main)
            case .absent, .erased, .damaged, .ownerChanged, .barred: nil
            }
        return WindowState.Row(
            picture: store.lock == .unlocked ? .openLock : .lock, title: name,
            lines: [
                store.kind == .follows && !store.parent.isEmpty
                    ? words(.windowFollows, lock, Printable.escaped(store.parent))
                    : words(.windowState, lock, StoreListView.way(store, words))
            ],
            act: act)
    }

    // MARK: Fingers

    private func section(of state: FingerprintState) -> [WindowState.Section] {
        guard !state.readers.isEmpty || !state.fingers.isEmpty else { return [] }
        return [
            WindowState.Section(
                kind: .finger, title: words(.windowFingers),
                rows: state.fingers.map { enrolled in
                    let name = words(enrolled.finger.text)
                    return WindowState.Row(
                        picture: .finger, title: name,
                        lines: [FingerprintView.place(enrolled, words)],
                        act: enrolled.finger == .unnamed
                            ? nil
                            : act(
                                .deleteFinger(store: [], enrolled.finger), .windowDelete,
                                .windowDeleteNamed, name, .grave))
                },
                more: state.readers.isEmpty
                    ? nil : more(.enrol(store: []), .windowFinger))
        ]
    }

    // MARK: Shared stores

    private func section(
        of list: MemberList, _ store: StoreList.Entry
    ) -> WindowState.Section {
        let isOwner = store.role == .owner
        let name = isOwner ? store.name : store.owner.name + [UInt8(ascii: "/")] + store.name
        let own = run.accountName()
        return WindowState.Section(
            kind: .member, title: words(.windowMembers, StoreListView.name(store)),
            rows: list.members.map { member in
                let text = MembersCommand.text(member, words)
                let known = WindowMember(kind: member.kind, name: member.name, text: text)
                let isSelf = member.kind == .person && member.name == own
                let mayGo = member.role != .owner && (isOwner || isSelf)
                return WindowState.Row(
                    picture: .person, title: text,
                    lines: [MembersCommand.standing(member, words)],
                    act: mayGo
                        ? act(
                            .unshare(store: name, known), isSelf ? .windowLeave : .windowUnshare,
                            isSelf ? .windowLeaveNamed : .windowUnshareNamed,
                            isSelf ? StoreListView.name(store) : text, .grave) : nil)
            },
            more: isOwner ? more(.share(store: name), .windowShare) : nil)
    }

    // MARK: Applications

    /// Those that ask before they start.
    private func apps() -> [WindowState.Section] {
        guard let locked = try? LockedApps(run.environment) else { return [] }
        let rows = locked.list().map { app in
            let id = Array(app.id.name.utf8)
            let name = app.name.isEmpty ? id : Printable.escaped(app.name)
            return WindowState.Row(
                picture: .app, title: name, lines: [words(app.standing.text)],
                act: act(.freeApp(id), .windowFree, .windowFreeNamed, name, .grave))
        }
        return rows.isEmpty
            ? [] : [WindowState.Section(kind: .app, title: words(.windowApps), rows: rows)]
    }

    // MARK: The organisation

    private func section(of state: FleetState) -> [WindowState.Section] {
        guard !state.organisation.isEmpty else { return [] }
        // Its name is the first of them.
        let lines = FleetStatusCommand.lines(state, words).dropFirst()
        return [
            WindowState.Section(
                kind: .organisation, title: words(.windowOrganisation),
                rows: [
                    WindowState.Row(
                        picture: .organisation, title: Printable.escaped(state.organisation),
                        lines: lines + [words(.windowOrganisationLeave)])
                ])
        ]
    }
}
