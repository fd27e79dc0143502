import Wire

struct JoinCommand: Command {
    static let entry = VerbEntry(
        words: ["join"], group: .fleet, operands: ["[LINK|EMAIL|PICTURE]"],
        summary: "join an organisation that has invited you (root)",
        text: [
            "LINK begins with appvault:join? and comes from the organisation. With EMAIL, your address there, its domain is asked for "
                + "the link. You see who it is, by which server and with which fingerprint; nothing changes before you agree. "
                + "With PICTURE, a PNG or JPEG, the QR code in it is read. "
                + "Then it is as with `fleet join`, and what the organisation has signed is fetched at once.",
            "Without any of them you are asked for a link or an address.",
        ],
        examples: [
            .init(
                command: "sudo appvault join alice@example.org",
                meaning: "asks example.org for its link"),
            .init(
                command: "sudo appvault join invitation.png", meaning: "reads the code in a picture"
            ),
        ])
    static let offer = RecoveryOffer.never

    /// Nil: the person is asked.
    var invitation: InvitationOperand?

    static func parse(_ arguments: Arguments) throws(UsageError) -> JoinCommand {
        JoinCommand(invitation: try arguments.operands.first.map(InvitationOperand.init))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.join(try invitation.map(run.text(of:)), Self.entry.name)
    }
}
