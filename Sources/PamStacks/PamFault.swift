/// What is wrong with a service's lines.
package struct PamFault: Equatable, Sendable {
    package enum Severity: Equatable, Sendable {
        case warning, broken
        /// The check could not be completed.
        case unseen
    }

    package var severity: Severity
    package var text: String
    /// What to do, with the command in backquotes.
    package var mend: String
}
