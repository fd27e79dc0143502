import Posix
import Wire

struct StoresCommand: Command {
    static let entry = VerbEntry(
        words: ["stores"], group: .store, operands: [], options: [.all, .user],
        summary: "list your stores",
        text: [
            "It says what each store is called, whether it is open, what opens it, and what it takes on the disk. It never "
                + "says what is in one.",
            "Root sees everybody's with --all.",
            "Below a store that is shared it says how many it is shared with and what you may do with it, and below one that "
                + "is under rules of its own which section of the policy these are.",
            "Into a pipe: name, state, kind, owner, id, role, members and policy key, with tabs between them.",
        ],
        json: [
            .init("stores[].name", "the store's name"),
            .init("stores[].store", "its id"),
            .init("stores[].owner", "the account's name"),
            .init("stores[].uid", "its number"),
            .init("stores[].state", "as `status` says it"),
            .init("stores[].kind", "`own`, `follows`, `shared` or `configuration`: what opens it"),
            .init("stores[].parent", "the name of the store that it follows; else null"),
            .init("stores[].passcode", "as `status` says it"),
            .init("stores[].policyKey", "the policy's section that it is under"),
            .init("stores[].createdAt", "seconds since 1970"),
            .init("stores[].records", "how many, where it is open"),
            .init("stores[].bytes", "what it takes on the disk"),
            .init("stores[].role", "`owner`, `writer` or `reader`: what you may do with it"),
            .init("stores[].members", "how many it is shared with, its owner among them; else 0"),
        ],
        examples: [
            .init(command: "appvault stores", meaning: "yours"),
            .init(
                command: "sudo appvault stores --all",
                meaning: "everybody's, without what is in them"),
        ])
    static let offer = RecoveryOffer.never

    enum Reach: Equatable { case ofPerson, all }

    var reach: Reach

    static func parse(_ arguments: Arguments) throws(UsageError) -> StoresCommand {
        guard arguments.has(.all) else { return StoresCommand(reach: .ofPerson) }
        guard !arguments.has(.user) else {
            throw UsageError(
                Text("--all and --user exclude each other"), hint: Text("give one of them"))
        }
        return StoresCommand(reach: .all)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let stores = try run.connect().stores(of: run.target().subject, all: reach == .all)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _): run.voice.print(StoreListView.json(stores))
        case (.plain, true):
            run.voice.print(
                StoreListView.table(
                    stores, showsOwner: reach == .all, columns: run.columns, run.voice, run.words))
            if stores.isEmpty { run.voice.hint(run.words(.nextCreate)) }
        case (.plain, false): run.voice.print(StoreListView.lines(stores))
        }
        return .success
    }
}

extension StoreList.Entry {
    /// As its person calls it: what another person shares begins with that person's name.
    var typedName: [UInt8] { isOfAnother ? owner.name + [UInt8(ascii: "/")] + name : name }

    /// Another person's, who shares it.
    var isOfAnother: Bool {
        switch kind {
        case .own, .follows: false
        case .shared, .configuration: role != .owner
        }
    }
}

extension Connection {
    /// All pages.
    func stores(of subject: Subject, all: Bool) throws(ClientError) -> [StoreList.Entry] {
        var stores: [StoreList.Entry] = []
        var cursor: UInt32 = 0
        repeat {
            let request = Stores(subject: subject, all: all, cursor: cursor)
            let page = try ask(.stores, request, for: .storeList, StoreList.self)
            stores += page.stores
            cursor = page.cursor
        } while cursor != 0
        return stores
    }
}
