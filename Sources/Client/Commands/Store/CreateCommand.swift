import PamStacks
import Posix
import Wire

struct CreateCommand: Command {
    static let entry = VerbEntry(
        words: ["create"], group: .store, operands: ["[NAME]"],
        options: [
            .followLogin, .ownPasscode, .noPasscode, .follow, .shared, .collection, .id, .policy,
            .openExisting, .user,
        ],
        summary: "make a store",
        text: [
            "Without NAME it makes your store `default`, which logins open. With NAME it makes a further one, which opens "
                + "and locks with `default` unless you say otherwise: a drawer for one purpose, without another passcode.",
            "Without an option it makes what suits this machine: if logins open stores with the login password, that opens "
                + "this store, too; otherwise the store gets a passcode of its own.",
            "It checks a login password before it uses it, so that a typing mistake cannot shut you out.",
            "On a terminal it shows a recovery key, once. Write it down: it is the only way in if you forget the passcode.",
            "OWNER/NAME is one that somebody else has made: with --shared --open-existing it is opened where it is shared with "
                + "you. OWNER may be yourself, so that one command line fits every member.",
            "With --collection programs of the desktop see it as a collection of its own (package appvault-secret-service). "
                + "Where no terminal is, the person may leave its own passcode empty in the dialog: then no store is made, and "
                + "the exit status is 3.",
            "With an option it makes exactly that store or refuses: if the policy asks for no passcodes, you cannot choose "
                + "one.",
        ],
        examples: [
            .init(command: "appvault create", meaning: "what suits this machine"),
            .init(command: "appvault create mail", meaning: "opens and locks with `default`"),
            .init(
                command: "appvault create taxes --own-passcode",
                meaning: "a further store with a passcode of its own"),
            .init(
                command: "appvault create --own-passcode --passcode-fd 3 3<secret",
                meaning: "from a script"),
        ])
    static let offer = RecoveryOffer.never

    enum Existing: Equatable { case refuse, open }

    /// Nil if the person has not chosen: then it is what suits the machine and the policy.
    var way: Create.Way?
    var existing: Existing
    var name: [UInt8] = []
    /// Whose it is, where it was typed.
    var owner: [UInt8] = []
    /// The store that it follows; empty is `default`.
    var parent: [UInt8] = []
    var id: [UInt8]?
    var isCollection = false
    /// Empty: that of the store that it follows, or `default`.
    var policyKey: [UInt8] = []

    static func parse(_ arguments: Arguments) throws(UsageError) -> CreateCommand {
        var command = CreateCommand(
            way: try arguments.only(of: Option.ways),
            existing: arguments.has(.openExisting) ? .open : .refuse)
        if arguments.has(.shared) { try command.beShared() }
        if let name = arguments.operands.first {
            command.name = try Arguments.store(name, "create")
            if name.contains(0x2F) { try command.beOfAnother(arguments) }
            if let other = arguments.options[.store], other != name {
                throw UsageError(
                    Text("create NAME and --store say two names"), hint: Text("give one of them"))
            }
        }
        if let parent = arguments.options[.follow], !parent.isEmpty {
            command.parent = try Arguments.store(parent, "--follow")
        }
        if let text = arguments.options[.id] {
            guard let id = StoreIDText.parse(text), id.contains(where: { $0 != 0 }) else {
                throw UsageError(
                    Text("--id ", Printable.escaped(text), " is not a UUID"),
                    hint: Text("`uuidgen` makes one"))
            }
            command.id = id
        }
        if arguments.has(.collection) { try command.beCollection() }
        if let key = arguments.options[.policy] { try command.take(policy: key) }
        return command
    }

    private mutating func beShared() throws(UsageError) {
        switch way {
        case nil: way = .shared
        case .noPasscode: way = .configuration
        case .followLogin, .ownPasscode, .usuallyFollowLogin, .usuallyOwnPasscode, .followStore,
            .shared, .configuration, .guidedFollowLogin, .guidedOwnPasscode:
            throw UsageError(
                Text("a shared store has no passcode of its own"),
                hint: Text("its members open it with their own stores: --shared alone"))
        }
    }

    /// Its id says so.
    private mutating func beCollection() throws(UsageError) {
        guard way != .configuration else {
            throw UsageError(
                Text("shared configuration holds no secrets"),
                hint: Text("--shared alone makes a store for some"))
        }
        guard id.map(CollectionMark.isOn) ?? true else {
            throw UsageError(
                Text("the id of a collection begins in another way"),
                hint: Text("without --id it gets one"))
        }
        isCollection = true
    }

    /// Nobody makes a store for another person.
    private mutating func beOfAnother(_ arguments: Arguments) throws(UsageError) {
        guard let slash = name.firstIndex(of: 0x2F) else { return }
        name = try Arguments.shared(name, "create")
        guard arguments.has(.shared), existing == .open, !arguments.has(.id),
            !arguments.has(.policy)
        else {
            throw UsageError(
                Text(Printable.escaped(name), " can only be opened: its owner makes it"),
                hint: Text("--shared --open-existing alone; without an owner it is a name of yours")
            )
        }
        owner = Array(name[..<slash])
        name = Array(name[(slash + 1)...])
    }

    private mutating func take(policy key: [UInt8]) throws(UsageError) {
        guard key == Array("none".utf8) else {
            guard !key.isEmpty, key.count <= Limits.policyKey else {
                throw UsageError(
                    Text("a policy key of ", key.count, " bytes cannot be"),
                    hint: Text("it has 1 to ", Limits.policyKey, " bytes"))
            }
            return policyKey = key
        }
        guard way == nil || way == .noPasscode else {
            throw UsageError(
                Text("--policy none is a store without a passcode"),
                hint: Text("it goes with --no-passcode alone"))
        }
        way = .noPasscode
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var target = try run.target()
        if !name.isEmpty { target.store = name }
        if !owner.isEmpty, owner != run.accountName() {
            target.store = owner + [0x2F] + name
            return try open(target, run)
        }
        let way = if let way = self.way { way } else { try usualWay(target, run) }
        var conversation = try run.conversation()
        if isForProgram(run) {
            run.answers.dialogs?.note(
                run.words(.createCollection, Printable.escaped(target.store)), .info)
            conversation.emptyDeclines = true
        }
        var request = Create(target: target, way: way, openExisting: existing == .open)
        request.parent = parent
        request.policyKey = policyKey
        if let id = id ?? (isCollection ? Self.newCollection() : nil) { request.id = id }
        do throws(ClientError) {
            run.report(Self.entry.name, try conversation.finish(.create, request))
        } catch {
            if isForProgram(run), case .refused(let refused) = error,
                [.skipped, .passcodeRequired, .policyDenies].contains(refused.known)
            {
                return .missing
            }
            guard case .refused(let refused) = error, refused.known == .alreadyExists else {
                throw error
            }
            throw .refused(
                Refused(
                    .alreadyExists, run.words(.createExists), hint: run.words(.createExistsHint),
                    parameters: refused.parameters))
        }
        return .success
    }

    /// A program of the desktop waits for it, and has another place where nobody gives a passcode.
    private func isForProgram(_ run: Run) -> Bool {
        guard isCollection, way == .ownPasscode else { return false }
        switch run.answers.kind {
        case .dialogs, .nobody: return true
        case .terminal, .descriptor: return false
        }
    }

    private static func newCollection() -> [UInt8]? {
        var generator = SystemRandomNumberGenerator()
        return CollectionMark.id(
            random: (0..<CollectionMark.randomBytes).map { _ in generator.next() })
    }

    private func open(_ target: Target, _ run: Run) throws(ClientError) -> ExitStatus {
        let shown = Printable.escaped(target.store)
        let state = try run.connect().status(target)
        guard state.lock != .absent else {
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.createNotShared, shown),
                    hint: run.words(
                        .createNotSharedHint, Printable.escaped(owner), Printable.escaped(name),
                        run.accountName().map { Printable.escaped($0) } ?? [])))
        }
        guard (way == .configuration) == (state.kind == .configuration) else {
            throw .refused(
                Refused(
                    .alreadyExists, run.words(.createOtherKind, shown),
                    hint: run.words(.createOtherKindHint)))
        }
        do throws(ClientError) {
            return try run.act(Self.entry.name, .openStore, target)
        } catch {
            guard case .refused(let refused) = error, refused.known == .doesNotExist else {
                throw error
            }
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.createNoOwn, shown), hint: run.words(.nextCreate)))
        }
    }

    /// A further store follows the first one, where there is one.
    private func usualWay(_ target: Target, _ run: Run) throws(ClientError) -> Create.Way {
        if !target.store.isEmpty, target.store != Array("default".utf8) {
            let first = try run.connect().status(Target(subject: target.subject))
            switch first.lock {
            case .locked, .unlocked, .retryLocked, .damaged, .barred: return .followStore
            case .absent, .erased, .ownerChanged: break
            }
        }
        return wayOfThisMachine(run)
    }

    private func wayOfThisMachine(_ run: Run) -> Create.Way {
        switch run.wiring {
        case .followsLogin:
            run.voice.info(run.words(.createFollows))
            return .usuallyFollowLogin
        case .ownPasscode:
            run.voice.info(run.words(.createOwn))
            return .usuallyOwnPasscode
        case .none:
            run.voice.info(run.words(.createPlain))
            return .usuallyOwnPasscode
        }
    }
}

extension Run {
    /// What logins of this machine do.
    var wiring: PamWiring {
        let folder = String(
            decoding: settings.pamFolder ?? Array("/etc/pam.d".utf8), as: UTF8.self)
        return PamWiring.of(
            PamConfiguration { name in
                let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
                return ToolIO.contents(of: Array(path.utf8)).map { .init(path: path, text: $0) }
            })
    }
}
