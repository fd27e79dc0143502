/// A verb. The type says what it is called and takes, and reads what was typed behind it; a value is one use of it. A new
/// one is a file of its own and a row in AllCommands.swift.
protocol Command: Equatable, Sendable {
    static var entry: VerbEntry { get }
    static var offer: RecoveryOffer { get }
    /// The entry has seen to it that nothing is there which it does not name, and nothing missing.
    static func parse(_ arguments: Arguments) throws(UsageError) -> Self
    func run(_ run: Run) throws(ClientError) -> ExitStatus
}

/// One that takes nothing but what goes with every verb.
protocol PlainCommand: Command {
    init()
}

extension PlainCommand {
    static func parse(_ arguments: Arguments) -> Self { Self() }
}
