import Wire

struct MendCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["mend"], group: .mending, operands: [],
        summary: "go on without records that are damaged",
        text: [
            "It names the damaged records, if the store is open, and asks for the passcode. Then it brings back those that only a damaged "
                + "page has hidden, and removes those that cannot be read, for good. It keeps those that can be read but may be older than "
                + "what was stored last.",
            "If you have a backup, restore it first. `appvault export` saves everything that is not damaged.",
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        var damaged: [DamagedRecords.Entry] = []
        do throws(ClientError) {
            _ = try run.connect().listAll(store: run.settings.store, damaged: &damaged)
        } catch {
            // Mending opens the store itself, with the passcode that it asks for.
            guard case .refused(let refused) = error, refused.known == .locked else { throw error }
        }
        for line in DamageView.lines(damaged, run.words) { run.voice.info(line) }
        try run.agree(Self.entry.name, run.words(.agreeMend))
        return try run.act(Self.entry.name, .mend, target)
    }
}
