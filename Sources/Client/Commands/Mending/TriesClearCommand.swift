import Wire

struct TriesClearCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["tries", "clear"], group: .mending, operands: [], options: [.user],
        summary: "forget the wrong tries (root)",
        text: [
            "After too many wrong tries a store is locked. This sets the count to zero, so that the person can "
                + "try again."
        ],
        examples: [
            .init(
                command: "appvault tries clear --user alice", meaning: "let alice try again"
            )
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        try run.agree(Self.entry.name, run.words(.agreeTriesClear))
        return try run.act(Self.entry.name, .triesClear, target)
    }
}
