import Wire

struct UnshareCommand: Command {
    static let entry = VerbEntry(
        words: ["unshare"], group: .store, operands: ["STORE", "[USER|@GROUP]"],
        options: [.everybody],
        summary: "share a store with them no more",
        text: [
            "They have no access from then on, and the store gets a new key: what is stored later opens neither with a key nor "
                + "with a backup that they may have kept. They know what they have read.",
            "Any member may leave by naming themselves: `appvault unshare alice/team bob`.",
        ])
    static let offer = RecoveryOffer.never

    var store: [UInt8]
    var whom: SharedWith

    static func parse(_ arguments: Arguments) throws(UsageError) -> UnshareCommand {
        UnshareCommand(
            store: try Arguments.shared(arguments.operands[0], "unshare"),
            whom: try SharedWith(arguments))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var target = try run.target()
        target.store = store
        return try run.act(
            Self.entry.name, .unshare,
            UnshareStore(target: target, kind: whom.kind, name: whom.name))
    }
}
