/// What prints nothing of what it holds, however it is asked.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
}

extension Redacted {
    public var description: String { "[REDACTED]" }
    public var debugDescription: String { "[REDACTED]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
