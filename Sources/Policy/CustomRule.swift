/// One of the administrator's rules: a section `[Rule NAME]`.
public struct CustomRule: Equatable, Sendable {
    /// Exactly one of the three.
    public enum Test: Equatable, Sendable {
        /// A POSIX extended regular expression that has to match.
        case matches(String)
        /// A POSIX extended regular expression that must not match.
        case rejects(String)
        /// libpwquality has to accept the passcode.
        case dictionary
    }

    public var name: String
    /// What a person reads; the name where the section has no `Display`.
    public var display: String
    /// Whether the rule stands in the list that is shown before a passcode is asked for.
    public var show: Bool
    public var test: Test
    public var file: String
    public var line: Int

    public init(
        name: String, display: String, show: Bool, test: Test, file: String, line: Int
    ) {
        self.name = name
        self.display = display
        self.show = show
        self.test = test
        self.file = file
        self.line = line
    }
}
