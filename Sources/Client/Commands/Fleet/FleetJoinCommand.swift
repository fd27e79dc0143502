import Wire

struct FleetJoinCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "join"], group: .fleet, operands: ["FILE|-"],
        summary: "let an organisation set the rules of this machine (root)",
        text: [
            "FILE comes from the organisation, by a way that you trust: it says whose signatures count, where the bundles "
                + "are, and the key with which orders name people and machines. Nothing changes until the first "
                + "bundle is taken (`fleet import`)."
        ],
        examples: [
            .init(command: "sudo appvault fleet join example.join", meaning: "the first step")
        ])
    static let offer = RecoveryOffer.never

    var file: FileOperand

    static func parse(_ arguments: Arguments) -> FleetJoinCommand {
        FleetJoinCommand(file: FileOperand(arguments.operands[0]))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.hand(file, .fleetJoin, Self.entry.name)
    }
}

extension Run {
    /// Hands a file to the daemon as it is.
    func hand(
        _ file: FileOperand, _ type: RequestType, _ verb: String
    ) throws(ClientError) -> ExitStatus {
        let (_, bytes) = try text(of: file)
        let connection = try connect()
        try connection.send(type, Empty(), payload: bytes.span)
        report(verb, try connection.expect(.done, Done.self).line.text)
        return .success
    }
}
