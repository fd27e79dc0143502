import Wire

struct LockCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["lock"], group: .store, operands: [], options: [.user],
        summary: "shut the store",
        text: ["The key is wiped from memory. Needs no passcode."])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .lock, run.target())
    }
}
