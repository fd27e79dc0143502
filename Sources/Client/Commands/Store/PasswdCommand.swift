import Wire

struct PasswdCommand: Command {
    static let entry = VerbEntry(
        words: ["passwd"], group: .store, operands: [], options: [.off, .on, .user],
        summary: "change the passcode, or turn it off or on",
        text: [
            "The current passcode is asked for first, also where the store is open.",
            "With --off the store opens for you without being asked; it stays encrypted, but anyone who "
                + "has the disk can read it.",
            "Where the passcode follows the login password, change that one with passwd(1).",
        ],
        examples: [
            .init(command: "appvault passwd --on", meaning: "from no passcode to one")
        ])
    static let offer = RecoveryOffer.afterwards

    var change: Passcode.Change

    static func parse(_ arguments: Arguments) throws(UsageError) -> PasswdCommand {
        PasswdCommand(change: try arguments.only(of: Option.switches) ?? .change)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch change {
        case .turnOff: try run.agree("passwd --off", run.words(.agreePasscodeOff))
        case .change, .turnOn: break
        }
        return try run.act(
            Self.entry.name, .passcode, Passcode(target: run.target(), change: change))
    }
}
