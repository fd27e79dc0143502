/// Why an entry cannot be led through AppVault.
package enum EntryProblem: Error, Equatable, Sendable {
    /// More than 1 MiB.
    case tooLarge
    /// It is not the entry of an application, or not the service of a program.
    case notAnApplication
    /// The entry says that the application is not there.
    case hidden
    /// It has no command.
    case noCommand
    /// A quote in its command is not closed, or the command has a NUL.
    case badCommand
}
