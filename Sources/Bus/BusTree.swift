import Posix

/// An interface of the objects of a tree, as clients may ask for it.
public struct BusInterface: Sendable {
    public struct Method: Sendable {
        let name: String
        let takes: [BusMethod.Argument]
        let gives: [BusMethod.Argument]
        /// What it takes, as one signature.
        let signature: String

        public init(
            _ name: String, takes: [BusMethod.Argument] = [], gives: [BusMethod.Argument] = []
        ) {
            (self.name, self.takes, self.gives) = (name, takes, gives)
            signature = takes.map(\.type).joined()
        }
    }

    public struct Property: Sendable {
        let name: String
        let type: String
        let isWritable: Bool

        public init(_ name: String, _ type: String, isWritable: Bool = false) {
            (self.name, self.type, self.isWritable) = (name, type, isWritable)
        }
    }

    public struct Signal: Sendable {
        let name: String
        let carries: [BusMethod.Argument]

        public init(_ name: String, _ carries: [BusMethod.Argument]) {
            (self.name, self.carries) = (name, carries)
        }
    }

    public let name: String
    let methods: [Method]
    let properties: [Property]
    let signals: [Signal]

    public init(
        _ name: String, methods: [Method] = [], properties: [Property] = [], signals: [Signal] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    /// By D-Bus's own format.
    func introspection() -> String {
        var text = "  <interface name=\"\(name)\">\n"
        for method in methods {
            text += "    <method name=\"\(method.name)\">\n"
            text += Self.lines(method.takes, "in") + Self.lines(method.gives, "out")
            text += "    </method>\n"
        }
        for signal in signals {
            text += "    <signal name=\"\(signal.name)\">\n" + Self.lines(signal.carries, nil)
            text += "    </signal>\n"
        }
        for property in properties {
            text += "    <property name=\"\(property.name)\" type=\"\(property.type)\""
            text += " access=\"\(property.isWritable ? "readwrite" : "read")\"/>\n"
        }
        return text + "  </interface>\n"
    }

    private static func lines(_ arguments: [BusMethod.Argument], _ direction: String?) -> String {
        arguments.map {
            "      <arg name=\"\($0.name)\" type=\"\($0.type)\""
                + (direction.map { " direction=\"\($0)\"" } ?? "") + "/>\n"
        }.joined()
    }

    /// What every object of a tree has besides.
    static let propertiesName = "org.freedesktop.DBus.Properties"
    static let peerName = "org.freedesktop.DBus.Peer"
    static let introspectableName = "org.freedesktop.DBus.Introspectable"
    static let standard = [
        BusInterface(
            propertiesName,
            methods: [
                Method(
                    "Get", takes: [.init("interface", "s"), .init("property", "s")],
                    gives: [.init("value", "v")]),
                Method(
                    "GetAll", takes: [.init("interface", "s")],
                    gives: [.init("properties", "a{sv}")]),
                Method(
                    "Set",
                    takes: [
                        .init("interface", "s"), .init("property", "s"), .init("value", "v"),
                    ]),
            ],
            signals: [
                Signal(
                    "PropertiesChanged",
                    [
                        .init("interface", "s"), .init("changed", "a{sv}"),
                        .init("invalidated", "as"),
                    ])
            ]),
        BusInterface(
            introspectableName, methods: [Method("Introspect", gives: [.init("xml", "s")])]),
        BusInterface(
            peerName,
            methods: [
                Method("Ping"), Method("GetMachineId", gives: [.init("id", "s")]),
            ]),
    ]
}

/// A call of an object in a tree.
@LoopActor
public struct BusTreeCall {
    public let message: BusMessage
    public let client: BusClient
    public var path: String { message.path }
    /// When it came. Its client waits since then, also while others had their turn.
    public var arrived: UInt64 { message.arrived }
}

/// All objects from one path on. It is asked for one call of a client at a time, in the order in
/// which that client has sent them; calls of others go on meanwhile.
@LoopActor
public protocol BusTree: AnyObject {
    /// What the object of this call has; empty where only other objects are below it, nil where nothing
    /// is.
    func interfaces(for call: BusTreeCall) async -> [BusInterface]?
    /// The last part of each path right below that one.
    func children(of path: String) -> [String]
    /// Whether a person may have to be asked. Such a call has no turn: the client's other calls go on
    /// meanwhile.
    func takesLong(_ method: String) -> Bool
    /// The call has the arguments that the method takes.
    func call(
        _ method: String, of interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue]
    func value(
        of property: String, in interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> BusValue
    /// The value has the property's type.
    func set(
        _ property: String, in interface: String, to value: BusValue, _ call: BusTreeCall
    ) async throws(BusRefusal)
    /// It has left the bus. What it waited for is of no use to anybody.
    func left(_ client: BusClient)
}

extension BusTree {
    public func takesLong(_ method: String) -> Bool { false }
}
