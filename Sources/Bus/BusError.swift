internal import CBus

/// Why a call over a bus came to nothing.
public enum BusError: Error, Equatable, Sendable {
    /// The other side answered with an error.
    case refused(name: String, text: String)
    /// No answer until the deadline.
    case silent
    /// There is no bus, or the connection to it has ended.
    case gone
    /// The answer is not what its interface promises.
    case malformed
    /// libsystemd could not make or send the message: a number of errno.
    case unsent(Int32)

    /// What libsystemd's answer to making or sending a message means. A bus that has just ended is
    /// often met here first, before the connection is turned and finds its end.
    init(sending code: Int32) {
        switch code {
        case -ECONNRESET, -ENOTCONN, -EPIPE: self = .gone
        default: self = .unsent(-code)
        }
    }

    /// The name has no owner, and nothing could be started that would own it.
    public var isNobody: Bool {
        switch self {
        case .refused(let name, _):
            name == "org.freedesktop.DBus.Error.NameHasNoOwner"
                || name == "org.freedesktop.DBus.Error.ServiceUnknown"
        case .silent, .gone, .malformed, .unsent: false
        }
    }
}

/// How a method call is refused. The names are D-Bus's own, so each client knows them.
public struct BusRefusal: Error, Equatable, Sendable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    private init(standard name: String, _ text: String) {
        self.init(name: "org.freedesktop.DBus.Error." + name, text: text)
    }

    public static func accessDenied(_ text: String) -> BusRefusal {
        BusRefusal(standard: "AccessDenied", text)
    }
    public static func failed(_ text: String) -> BusRefusal {
        BusRefusal(standard: "Failed", text)
    }
    public static func invalidArguments(_ text: String) -> BusRefusal {
        BusRefusal(standard: "InvalidArgs", text)
    }
    public static func limitsExceeded(_ text: String) -> BusRefusal {
        BusRefusal(standard: "LimitsExceeded", text)
    }
    public static func propertyReadOnly(_ text: String) -> BusRefusal {
        BusRefusal(standard: "PropertyReadOnly", text)
    }
    static let unknownProperty = BusRefusal(
        standard: "UnknownProperty", "the interface has no such property")
    static let tooMany = BusRefusal(standard: "LimitsExceeded", "too many calls at once")
    public static let unknownObject = BusRefusal(
        standard: "UnknownObject", "there is no such object")
    static let unknownInterface = BusRefusal(
        standard: "UnknownInterface", "the object has no such interface")
    static let unknownMethod = BusRefusal(
        standard: "UnknownMethod", "the interface has no such method")
}
