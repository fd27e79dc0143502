/// Why bytes are no message. All of them end the connection.
public enum WireError: Error, Equatable {
    /// The frame says that it is longer than the receiver allows.
    case tooLong
    /// A field reaches past the end of its frame.
    case cutShort
    /// Bytes follow the last field.
    case trailingBytes
    /// A field is longer than its own limit.
    case fieldTooLong
    /// A text is not UTF-8, or holds a NUL.
    case notText
    /// A number that stands for nothing: a type, a kind, a flag.
    case unknownValue
}
