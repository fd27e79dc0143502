import Wire

struct ChownCommand: Command {
    static let entry = VerbEntry(
        words: ["chown"], group: .mending, operands: ["STORE", "USER"],
        summary: "give a store to the account that owns it now (root)",
        text: [
            "If an account has got another name or number, its store stays shut until root says whose it is now. "
                + "STORE is the id that `appvault status` shows."
        ])
    static let offer = RecoveryOffer.never

    var store: [UInt8]
    var user: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> ChownCommand {
        let operands = arguments.operands
        guard let store = StoreIDText.parse(operands[0]) else {
            throw UsageError(
                Text(Printable.escaped(operands[0]), " is not the id of a store"),
                hint: Text("`appvault status --user NAME` shows it"))
        }
        return ChownCommand(store: store, user: try Arguments.account(operands[1]))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let owner = try run.account(user)
        try run.agree(Self.entry.name, run.words(.agreeChown, Printable.escaped(user)))
        return try run.act(Self.entry.name, .chown, Chown(store: store, owner: owner))
    }
}
