/// A verb. The type says the verb's name and what it takes, and parses what was typed after it; a
/// value is one call of it. A new verb is a file of its own and a row in AllCommands.swift.
protocol Command: Equatable, Sendable {
    static var entry: VerbEntry { get }
    static var offer: RecoveryOffer { get }
    /// Before this is called, the arguments were checked against the entry: none is unknown and
    /// none is missing.
    static func parse(_ arguments: Arguments) throws(UsageError) -> Self
    func run(_ run: Run) throws(ClientError) -> ExitStatus
}

/// A verb that takes only what every verb takes.
protocol PlainCommand: Command {
    init()
}

extension PlainCommand {
    static func parse(_ arguments: Arguments) -> Self { Self() }
}
