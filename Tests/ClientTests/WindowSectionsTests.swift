import DesktopEntries
import Posix
import Testing
import Wire

@testable import Client

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// What a row says, and what its buttons are called for whoever does not see it.
private func told(_ section: WindowSection?) -> [String] {
    section?.rows.map { row in
        let says = ([row.title] + row.lines).map(text).joined(separator: "; ")
        let buttons = row.buttons.map { text($0.request.title(.english)) }
        return ([says] + buttons).joined(separator: " -> ")
    } ?? []
}

@Suite("the sections of the window")
struct WindowSectionsTests {
    private let sections = WindowSections(words: .english)

    // MARK: Fingers

    private func reader() -> FingerprintState.Device {
        .init(
            name: bytes("Reader"), driver: bytes("d"), scan: .press, stages: 5, identifies: true,
            stores: false, isInternal: true, port: bytes("1-2"))
    }

    private func state(
        _ fingers: [FingerprintState.Enrolled], _ readers: [FingerprintState.Device]
    ) -> FingerprintState {
        var state = FingerprintState(on: !fingers.isEmpty)
        state.ready = true
        (state.fingers, state.readers) = (fingers, readers)
        return state
    }

    @Test("each finger is deleted by its own name, and a further one is enrolled")
    func fingers() throws {
        let enrolled = [
            FingerprintState.Enrolled(
                finger: .leftThumb, reader: bytes("Reader\u{1B}[2J"), at: 0, standing: .usable),
            .init(finger: .rightIndex, reader: bytes("Other"), at: 0, standing: .away),
        ]
        let made = sections.fingers(state(enrolled, [reader()]), of: bytes("work"))
        let time = text(ToolIO.localTime(0))
        #expect(
            told(made) == [
                "Fingerprint; opens the store -> Enrol a finger",
                "left thumb; enrolled \(time) at Reader\\x1b[2J -> Delete the left thumb",
                "right index finger; enrolled \(time) at Other (not connected)"
                    + " -> Delete the right index finger",
            ])
        let thumb = try #require(NamedFinger(.leftThumb))
        #expect(
            made?.rows[1].buttons.map(\.request) == [
                .deleteFinger(thumb, store: bytes("work"))
            ])
    }

    @Test("a finger without a name cannot be deleted alone, so nothing deletes it")
    func unnamed() {
        #expect(NamedFinger(.unnamed) == nil)
        let one = FingerprintState.Enrolled(
            finger: .unnamed, reader: bytes("Reader"), at: 0, standing: .usable)
        #expect(sections.fingers(state([one], []), of: [])?.rows.flatMap(\.buttons) == [])
        #expect(sections.fingers(state([], []), of: []) == nil)
    }

    // MARK: Members

    private func member(
        _ kind: MemberKind, _ name: String, _ number: UInt32, _ role: StoreRole
    ) -> MemberList.Entry {
        var entry = MemberList.Entry()
        (entry.kind, entry.name) = (kind, bytes(name))
        (entry.number, entry.role) = (number, role)
        return entry
    }

    private func members() -> MemberList {
        var waiting = member(.person, "carol", 3, .writer)
        waiting.isPending = true
        var grouped = member(.person, "dave", 4, .reader)
        grouped.isByGroup = true
        return MemberList(
            members: [
                member(.person, "alice", 1, .owner), member(.person, "bob\u{202E}", 2, .reader),
                waiting, grouped, member(.group, "staff", 9, .writer),
            ], newKeyIsDue: false)
    }

    private func store(_ role: StoreRole) -> StoreList.Entry {
        var entry = StoreList.Entry()
        (entry.name, entry.kind, entry.role) = (bytes("team"), .shared, role)
        entry.owner = Subject(name: bytes("alice"), uid: 1)
        return entry
    }

    @Test("the owner shares with somebody, and removes each member who is there by themselves")
    func owner() {
        let made = sections.members(members(), of: store(.owner), uid: 1)
        #expect(text(made.title) == "Who shares team")
        #expect(
            told(made) == [
                "With somebody else, too -> Share team with somebody", "alice; owner",
                "bob\\xe2\\x80\\xae; reads -> Share team no more with bob\\xe2\\x80\\xae",
                "carol; reads and writes, has no access yet -> Share team no more with carol",
                "dave; reads, by a group",
                "@staff; reads and writes -> Share team no more with @staff",
            ])
        // What is asked for is the name as it is, however it is shown.
        #expect(
            made.rows[2].buttons.map(\.request) == [
                .unshare(store: bytes("team"), .person(bytes("bob\u{202E}")))
            ])
    }

    @Test("another member can only leave")
    func leaves() {
        let made = sections.members(members(), of: store(.writer), uid: 3)
        #expect(text(made.title) == "Who shares alice/team")
        #expect(
            made.rows.flatMap(\.buttons).map(\.request) == [
                .leave(store: bytes("alice/team"), account: bytes("carol"))
            ])
        let byGroup = sections.members(members(), of: store(.reader), uid: 4)
        #expect(byGroup.rows.flatMap(\.buttons) == [])
    }

    @Test("a name that is typed is an account, or with an @ a group")
    func typed() throws {
        #expect(try SharedWith(typed: bytes("bob")) == .person(bytes("bob")))
        #expect(try SharedWith(typed: bytes("@staff")) == .group(bytes("staff")))
        for wrong in ["", "@", String(repeating: "x", count: 256)] {
            #expect(throws: UsageError.self) { try SharedWith(typed: bytes(wrong)) }
        }
    }

    // MARK: The organisation

    @Test("an organisation is shown with what was agreed to, and who can leave it")
    func organisation() {
        #expect(sections.organisation(nil, nil) == nil)
        let nothing = ConsentList(organisation: [], items: [])
        #expect(sections.organisation(FleetState(), nothing) == nil)
        var fleet = FleetState()
        (fleet.organisation, fleet.contact) = (bytes("example.org"), bytes("help@example.org"))
        (fleet.policy.version, fleet.fetchedAt) = (7, 60)
        func item(_ title: String, _ answer: ConsentList.Item.Answer) -> ConsentList.Item {
            .init(
                id: bytes(title), kind: .optional, title: bytes(title), version: 1,
                answer: answer, answeredAt: 0)
        }
        let consents = ConsentList(
            organisation: bytes("example.org"),
            items: [item("Terms", .yes), item("Diagnostics", .no), item("Inventory", .open)])
        let time = text(ToolIO.localTime(0))
        let made = told(sections.organisation(fleet, consents))
        #expect(made.count == 6)
        #expect(made[0].hasPrefix("example.org; policy: version 7, signed \(time)"))
        #expect(made[0].contains("; questions: help@example.org; its server was asked "))
        #expect(
            made.dropFirst() == [
                "What your organisation asks of you -> What your organisation asks of you",
                "Terms; agreed \(time)", "Diagnostics; not agreed \(time)",
                "Inventory; not answered yet",
                "To leave it; Only root can end it, with `appvault fleet leave` on a terminal.",
            ])
    }

    @Test("what is wrong with an organisation is said where its name is not known")
    func trouble() {
        var fleet = FleetState()
        fleet.problem = bytes("the bundle\u{7}")
        let made = told(sections.organisation(fleet, nil))
        #expect(made.first == "Your organisation; trouble: the bundle\\x07")
    }

    // MARK: Applications and stores

    @Test("an application is unlocked, and one whose lock is broken is locked again")
    func applications() throws {
        func app(_ id: String, _ name: String, _ standing: LockedApps.Standing) throws
            -> LockedApps.App
        {
            .init(
                id: try #require(ApplicationID(bytes(id))), name: bytes(name), lock: AppLock(),
                standing: standing)
        }
        var running = RunningApp(
            scope: "app-appvault-mail-7.scope", id: "mail", store: "", demand: .open,
            onLock: .freeze, background: .never, timeout: 0)
        running.isLocked = true
        let made = sections.applications(
            [try app("mail", "Mail", .locked), try app("chat", "", .changed)], [running])
        #expect(
            told(made) == [
                "An application; One that is locked asks before it starts. -> Lock an application",
                "Mail; locked: it asks before it starts; it runs, and is locked now"
                    + " -> Remove the lock of mail",
                "chat; not locked any more: its entry was changed, and it starts without asking"
                    + " -> Lock chat again -> Remove the lock of chat",
            ])
    }

    @Test("only a store that is open, and that a passcode opens, can be kept open")
    func hold() {
        var first = State(lock: .unlocked)
        first.passcode = .passcode
        let further = WindowRequest.create
        func offered(_ state: State) -> [WindowRequest] {
            sections.stores(state).rows.flatMap(\.buttons).map(\.request)
        }
        #expect(offered(first) == [further, .hold(store: [])])
        first.heldUntil = 60
        #expect(offered(first) == [further, .resume(store: [])])
        first.lock = .locked
        #expect(offered(first) == [further])
        (first.lock, first.passcode) = (.unlocked, .none)
        #expect(offered(first) == [further])
    }
}

@Suite("what the window asks by itself")
struct WindowFormsTests {
    /// Answers as the window does: each field behind its length.
    private func typed(_ fields: String...) -> Typed {
        let typed = Typed(capacity: Limits.answers)
        for field in fields {
            typed.append([UInt8(field.utf8.count & 0xFF), UInt8(field.utf8.count >> 8)])
            typed.append(bytes(field))
        }
        return typed
    }

    private final class Shown: @unchecked Sendable {
        var screens: [Screen] = []
    }

    private func forms(_ shown: Shown, _ inbox: Inbox) -> WindowForms {
        WindowForms(title: bytes("Title"), words: .english, inbox: inbox) { show in
            if case .screen(let screen) = show { shown.screens.append(screen) }
        }
    }

    @Test("fields come back as they were typed, also one that is cut short")
    func fields() {
        func field(_ number: Int, _ typed: Typed) -> String {
            WindowForms.field(number, of: typed).withSpan { span in
                text(span.indices.map { span[$0] })
            }
        }
        #expect((0...3).map { field($0, typed("", "a", "two")) } == ["", "a", "two", ""])
        let long = String(repeating: "x", count: 300)
        #expect(field(0, typed(long)) == long)
        let cut = Typed(capacity: 8)
        cut.append([9, 0, 0x61])
        #expect(field(0, cut) == "a")
    }

    @Test("with whom a store is shared, without the spaces around the name")
    func member() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        for (choice, role) in [(UInt8(0), StoreRole.writer), (1, .reader)] {
            inbox.put(.answer(question: .max, choice: choice, item: 0, typed("  @staff ")))
            let (whom, given) = try forms(shown, inbox).member()
            #expect(whom == .group(bytes("staff")))
            #expect(given == role)
        }
        #expect(shown.screens.allSatisfy { $0.question == .max })
    }

    @Test("what cannot be taken back is confirmed by a button of its own, and Enter is none")
    func confirmed() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        let finger = try #require(NamedFinger(.leftThumb))
        let grave: [WindowRequest] = [
            .deleteFinger(finger, store: []), .unshare(store: bytes("team"), .everybody),
            .leave(store: bytes("a/team"), account: bytes("b")),
        ]
        for request in grave {
            inbox.put(.answer(question: .max, choice: 0, item: 0, typed()))
            try forms(shown, inbox).confirm(request)
            let asked = shown.screens.popLast()
            let screen = try #require(asked)
            #expect(screen.choices.map(\.role) == [.grave, .cancel])
            #expect(screen.lines.count == 2)
        }
        for request: WindowRequest in [.lock(store: []), .create, .hold(store: []), .lockApp] {
            try forms(shown, inbox).confirm(request)
        }
        #expect(shown.screens.isEmpty)
    }

    @Test("whoever cancels has begun nothing")
    func cancelled() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        // What was meant for a screen before it does not answer it.
        inbox.put(.answer(question: 3, choice: 0, item: 0, typed("x")))
        inbox.put(.cancel(question: .max))
        #expect(throws: ClientError.self) { try forms(shown, inbox).further() }
        inbox.put(.answer(question: .max, choice: 2, item: 0, typed("team")))
        let (name, way) = try forms(shown, inbox).further()
        #expect(name == bytes("team"))
        #expect(way == .shared)
    }

    @Test("a notice leads to where something can be done, and nowhere if only root can do it")
    func errands() {
        let store = bytes("work")
        let all: [StoreNotice.Kind] = [.due, .retryLocked, .erased, .trouble, .barred]
        #expect(
            all.map { $0.errand(of: store)?.words } == [
                ["--unlock", "work"], ["--recover", "work"], [], [], nil,
            ])
        #expect(WindowErrand.unlock(store: store).request == .unlock(store: store))
        #expect(WindowErrand.recover(store: store).request == .recover(store: store))
        #expect(WindowErrand.home.request == nil)
    }

    @Test("what is kept is looked at one by one, and whoever has seen enough begins nothing else")
    func names() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        let many = [bytes("a"), bytes("b")]
        func look(_ choice: UInt8, _ item: UInt8, hasMore: Bool = true) throws -> WindowForms
            .Looked?
        {
            inbox.put(.answer(question: .max, choice: choice, item: item, typed()))
            return try forms(shown, inbox).names(many, damaged: 0, hasMore: hasMore)
        }
        #expect(try look(0, 2) == .show(1))
        #expect(try look(1, 1) == .remove(0))
        #expect(try look(2, 0) == .more)
        // Nothing was taken, or something that is not there: it is asked again.
        inbox.put(.answer(question: .max, choice: 0, item: 0, typed()))
        inbox.put(.answer(question: .max, choice: 1, item: 3, typed()))
        #expect(try look(0, 1) == .show(0))
        inbox.put(.cancel(question: .max))
        #expect(try forms(shown, inbox).names([], damaged: 3, hasMore: false) == nil)
        #expect(shown.screens[0].choices.map(\.role) == [.primary, .grave, .other, .cancel])
        let none = try #require(shown.screens.last)
        #expect(none.choices.map(\.role) == [.cancel])
        #expect(none.lines.last.map { text($0.text) } == "cannot be read: 3")
    }

    @Test(
        "a secret keeps its spaces, its name does not; one that is there is replaced by who says so"
    )
    func kept() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        inbox.put(.answer(question: .max, choice: 0, item: 0, typed(" mail ", " s ")))
        let (name, value) = try forms(shown, inbox).secret()
        #expect(name == bytes("mail"))
        #expect(value.withSpan { span in span.indices.map { span[$0] } } == bytes(" s "))
        let form = try #require(shown.screens.last)
        #expect(form.formFields.map(\.kind) == [.text, .secret])
        #expect(form.choices[0].needs == 0b11)
        inbox.put(.cancel(question: .max))
        #expect(throws: ClientError.self) {
            try forms(shown, inbox).confirmReplacing(bytes("mail\u{1B}"))
        }
        let asked = try #require(shown.screens.last)
        #expect(asked.choices.map(\.role) == [.grave, .cancel])
        #expect(text(asked.lines[1].text).contains("mail\\x1b"))
    }

    @Test("a value is shown until somebody goes back; one that is too long is told without it")
    func values() throws {
        let (shown, revealed, inbox) = (Shown(), Shown(), try Inbox())
        let forms = WindowForms(title: bytes("Title"), words: .english, inbox: inbox) { show in
            switch show {
            case .reveal(let screen, _): revealed.screens.append(screen)
            case .screen(let screen): shown.screens.append(screen)
            case .findings, .note, .scan, .seen, .chooseFile: break
            }
        }
        for count in [0, 4096, 4097] {
            let value = Typed(capacity: 4097)
            value.append([UInt8](repeating: 0x61, count: count))
            inbox.put(.cancel(question: .max))
            try forms.value(value, of: bytes("mail"))
        }
        #expect(revealed.screens.map { text($0.lines[0].text) } == ["mail", "mail"])
        #expect(
            shown.screens.map { text($0.lines[1].text).contains("`appvault get mail`") } == [true])
    }

    @Test("no more applications are listed than a screen holds, and the rest is said")
    func applications() throws {
        let (shown, inbox) = (Shown(), try Inbox())
        let many = try (0..<300).map { number in
            LockedApps.Candidate(
                id: try #require(ApplicationID(bytes("app\(number)"))), name: bytes("App"))
        }
        inbox.put(.answer(question: .max, choice: 0, item: 255, typed()))
        #expect(try forms(shown, inbox).application(many).name == "app254")
        let screen = try #require(shown.screens.first)
        #expect(screen.items.count == Limits.screenItems)
        #expect(screen.lines.last.map { text($0.text).contains("45") } == true)
        inbox.put(.cancel(question: .max))
        #expect(throws: ClientError.self) { try forms(shown, inbox).application([]) }
        let none = try #require(shown.screens.last)
        #expect(none.items.isEmpty)
    }
}
