import Policy
import Wire

struct HoldCommand: Command {
    static let entry = VerbEntry(
        words: ["hold"], group: .store, operands: ["[DURATION]"],
        summary: "keep the store open behind a locked screen, for a time",
        text: [
            "For so long the store does not lock by itself: not with the screen, not when nobody uses it, not when the "
                + "machine sleeps. It asks for the passcode. DURATION is a time such as 90s, 15min or 2h; without it, "
                + "the store is held as long as the policy allows (HoldMax).",
            "`appvault resume` ends it, and so do `appvault lock`, the last logout and a hibernation. "
                + "`appvault status` shows until when it is.",
        ],
        examples: [
            .init(command: "appvault hold 2h", meaning: "a backup goes on while you are away")
        ])
    static let offer = RecoveryOffer.hinted

    var seconds: UInt32

    static func parse(_ arguments: Arguments) throws(UsageError) -> HoldCommand {
        guard let text = arguments.operands.first else { return HoldCommand(seconds: Hold.longest) }
        guard let seconds = timeSpan(text), seconds > 0, seconds < Hold.longest else {
            throw UsageError(
                Text(Printable.escaped(text), " is not a time"),
                hint: Text("a time such as 90s, 15min or 2h"))
        }
        return HoldCommand(seconds: UInt32(seconds))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .hold, Hold(target: run.target(), seconds: seconds))
    }
}
