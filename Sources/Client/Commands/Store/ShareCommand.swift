import Wire

struct ShareCommand: Command {
    static let entry = VerbEntry(
        words: ["share"], group: .store, operands: ["STORE", "[USER|@GROUP]"],
        options: [.readOnly, .owner, .everybody],
        summary: "share a store with other people",
        text: [
            "The store has to be one that was made with --shared. It asks for your passcode, because it changes who can open "
                + "the store. Everybody it is shared with opens it with a store of their own, which needs a passcode; until "
                + "they have one, and until you both are logged in once, they wait.",
            "They call it OWNER/NAME, as in `appvault --store alice/team list`.",
            "Without an option they may read and write. --owner offers them the store: once they say yes, with the same command about "
                + "themselves, it is theirs, and you are one who may read and write.",
            "A member whose own store was made anew needs it to be shared with them again. Any member who may write can do that.",
        ],
        examples: [
            .init(command: "appvault create team --shared", meaning: "a store to share"),
            .init(command: "appvault share team bob", meaning: "bob may read and write"),
            .init(command: "appvault share team @staff --read-only", meaning: "a group may read"),
        ])
    static let offer = RecoveryOffer.never

    var store: [UInt8]
    var whom: SharedWith
    var role: StoreRole

    static func parse(_ arguments: Arguments) throws(UsageError) -> ShareCommand {
        let role = try arguments.only(of: Option.roles)
        let whom = try SharedWith(arguments)
        if whom == .everybody, role == .owner {
            throw UsageError(
                Text("--owner and --everybody exclude each other"), hint: Text("give one of them"))
        }
        return ShareCommand(
            store: try Arguments.store(arguments.operands[0], "share"), whom: whom,
            role: role ?? (whom == .everybody ? .reader : .writer))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var target = try run.target()
        target.store = store
        // Whoever takes what is offered calls it by its owner, and loses nothing.
        if role == .owner, !store.contains(UInt8(ascii: "/")) {
            try run.agree(Self.entry.name, run.words(.agreeHandOn, Printable.escaped(whom.name)))
        }
        return try run.act(
            Self.entry.name, .share,
            ShareStore(target: target, kind: whom.kind, name: whom.name, role: role))
    }
}

/// Whom a store is shared with.
package enum SharedWith: Equatable, Sendable {
    case person([UInt8])
    case group([UInt8])
    case everybody

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.has(.everybody) == (arguments.operands.count < 2) else {
            throw UsageError(
                Text("say with whom: USER, @GROUP or --everybody"),
                hint: Text("a group has an @ before its name"))
        }
        guard arguments.operands.count > 1 else {
            self = .everybody
            return
        }
        self = try SharedWith(typed: arguments.operands[1])
    }

    init(typed name: [UInt8]) throws(UsageError) {
        if name.first == UInt8(ascii: "@") {
            self = .group(try Arguments.account(Array(name.dropFirst())))
        } else {
            self = .person(try Arguments.account(name))
        }
    }

    init(_ member: MemberList.Entry) {
        self =
            switch member.kind {
            case .person: .person(member.name)
            case .group: .group(member.name)
            case .everybody: .everybody
            }
    }

    /// As a person reads it, and types it but for everybody.
    func text(_ words: OwnWords) -> [UInt8] {
        switch self {
        case .person(let name): Printable.escaped(name)
        case .group(let name): [UInt8(ascii: "@")] + Printable.escaped(name)
        case .everybody: words(.memberEverybody)
        }
    }

    var kind: MemberKind {
        switch self {
        case .person: .person
        case .group: .group
        case .everybody: .everybody
        }
    }

    var name: [UInt8] {
        switch self {
        case .person(let name), .group(let name): name
        case .everybody: []
        }
    }
}
