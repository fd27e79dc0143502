/// An error in a policy file, or a line that is probably a mistake: where it is, and what would be
/// right.
public struct PolicyProblem: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Severity: Sendable {
        /// The daemon refuses the file.
        case error
        /// The daemon takes the file, but an administrator should look at it.
        case warning
    }

    public var severity: Severity
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// Empty where the line has no key.
    public var key: String
    public var wrong: String
    public var right: String

    public init(
        _ severity: Severity = .error, file: String, line: Int, key: String, wrong: String,
        right: String
    ) {
        self.severity = severity
        self.file = file
        self.line = line
        self.key = key
        self.wrong = wrong
        self.right = right
    }

    /// `FILE:LINE: KEY: what is wrong: what would be right`, always one line of printable ASCII
    /// except for the file name.
    public var description: String {
        (["\(file):\(line)"] + [key, wrong, right].filter { !$0.isEmpty }).joined(separator: ": ")
    }
}
