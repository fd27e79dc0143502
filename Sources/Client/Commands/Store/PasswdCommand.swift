import Wire

struct PasswdCommand: Command {
    static let entry = VerbEntry(
        words: ["passwd"], group: .store, operands: [],
        options: [.off, .on, .followLogin, .ownPasscode, .user],
        summary: "change the passcode or the way in, or turn it off or on",
        text: [
            "It asks for the current passcode first, even if the store is open.",
            "With --off the store opens for you without a question. It stays encrypted, but anyone who has the disk can "
                + "read it.",
            "If the store follows the login password, change that with passwd(1), or give the store a passcode of its own "
                + "with --own-passcode. With --follow-login it asks for the login password, checks it, and from then on "
                + "that opens the store.",
        ],
        examples: [
            .init(command: "appvault passwd --on", meaning: "from no passcode to one"),
            .init(
                command: "appvault passwd --follow-login",
                meaning: "from a passcode of its own to the login password"),
        ])
    static let offer = RecoveryOffer.asked

    var change: Passcode.Change

    static func parse(_ arguments: Arguments) throws(UsageError) -> PasswdCommand {
        PasswdCommand(change: try arguments.only(of: Option.switches) ?? .change)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch change {
        case .turnOff:
            try run.agree(
                to: "turn-off-passcode", "passwd --off", run.words(.agreePasscodeOff))
        case .change, .turnOn, .followLogin, .ownPasscode: break
        }
        return try run.act(
            Self.entry.name, .passcode, Passcode(target: run.target(), change: change))
    }
}
