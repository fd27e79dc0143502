import Wire

struct JoinCommand: Command {
    static let entry = VerbEntry(
        words: ["join"], group: .fleet, operands: ["[LINK|EMAIL|PICTURE|DEVICE]"],
        options: [.camera],
        summary: "join an organisation that has invited you",
        text: [
            "LINK begins with appvault:join? and comes from the organisation. With EMAIL, your address there, its domain is asked for "
                + "the link. You see who it is, by which server and with which fingerprint; nothing changes before you agree. "
                + "With PICTURE, a PNG or JPEG, the QR code in it is read. "
                + "Then it is as with `fleet join`, and what the organisation has signed is fetched at once.",
            "With --camera you hold the code in front of a camera: DEVICE, or the first one that there is. "
                + "It looks for a minute; a code that is no invitation is not taken.",
            "Without any of them you are asked for a link or an address.",
            "It decides for everybody on this machine. So whoever is not root is asked by polkit for the password of an "
                + "administrator, once they have agreed, and only at this machine itself (its action is org.appvault.join).",
        ],
        examples: [
            .init(
                command: "appvault join alice@example.org",
                meaning: "asks example.org for its link"),
            .init(
                command: "appvault join invitation.png", meaning: "reads the code in a picture"
            ),
            .init(command: "appvault join --camera", meaning: "reads it from a screen"),
        ])
    static let offer = RecoveryOffer.never

    /// Nil: the person is asked.
    var invitation: InvitationOperand?

    static func parse(_ arguments: Arguments) throws(UsageError) -> JoinCommand {
        if arguments.has(.camera) {
            return JoinCommand(invitation: .camera(arguments.operands.first))
        }
        return JoinCommand(
            invitation: try arguments.operands.first.map(InvitationOperand.init))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.join(try invitation.map(run.text(of:)), Self.entry.name)
    }
}
