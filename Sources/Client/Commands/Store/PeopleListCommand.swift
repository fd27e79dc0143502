import Posix
import ToolTexts
import Wire

struct PeopleListCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["people", "list"], group: .people, operands: [], options: [],
        summary: "list the people who share this account",
        text: [
            "Each has a store with a passcode or finger of their own. `*` stands before the one that is open. What follows a store, "
                + "and what others share, is nobody's here: `appvault stores` lists all.",
            "Where AccountsService is, it says the account's full name, too, and where its picture lies.",
            "Into a pipe: name, state, and `current` where it is open, with tabs between them.",
        ],
        json: [
            .init("account", "the account's name"),
            .init("realName", "its full name; null where nobody says one"),
            .init("picture", "the file of its picture; null where there is none"),
            .init("people[].name", "the store's name"),
            .init("people[].state", "as `status` says it"),
            .init("people[].passcode", "as `status` says it"),
            .init("people[].current", "whether it is open"),
            .init("people[].picture", "as `people picture` says it"),
        ],
        examples: [.init(command: "appvault people list", meaning: "who is there")])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let people = try run.connect().people()
        let name = run.accountName() ?? []
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            let portraits = Portraits(run.environment.variable)
            run.voice.print(PeopleView.json(people, name, account(run), portraits))
        case (.plain, true):
            run.voice.print(PeopleView.table(people, name, account(run), run.voice, run.words))
            run.voice.hint(run.words(Self.next(people.count)))
        case (.plain, false): run.voice.print(PeopleView.lines(people))
        }
        return .success
    }

    private static func next(_ count: Int) -> ToolText {
        switch count {
        case 0: .nextWelcome
        case 1: .nextAdd
        case _: .nextSwitch
        }
    }

    /// Comes last: from here on the signals that come are held.
    private func account(_ run: Run) -> AccountNames.Account {
        guard let signals = try? HeldSignals() else { return AccountNames.Account() }
        let home = run.environment.variable("HOME").map { String(decoding: $0, as: UTF8.self) }
        return AccountNames(signals: signals, core: run.environment.core).account(
            of: run.environment.uid, home: home)
    }
}

extension Connection {
    /// Those of one's own stores that have a way in of their own.
    func people() throws(ClientError) -> [StoreList.Entry] {
        let all = try stores(of: Subject(), all: false).filter {
            $0.role == .owner && $0.kind == .own
        }
        let first = Array("default".utf8)
        // In the order of the list of `switch`.
        return all.filter { $0.name == first } + all.filter { $0.name != first }
    }
}
