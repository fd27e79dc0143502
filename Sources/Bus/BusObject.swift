import Posix

/// A method call that has come.
@LoopActor
public struct BusCall {
    public let message: BusMessage
    /// The user of the caller, by the bus's word.
    public let uid: UInt32
}

public enum BusAnswer: Equatable, Sendable {
    case values([BusValue])
    case refused(BusRefusal)
}

/// A method of an object of ours: exactly one answer to each call.
public struct BusMethod {
    public struct Argument: Sendable {
        let name: String
        let type: String

        public init(_ name: String, _ type: String) {
            (self.name, self.type) = (name, type)
        }
    }

    let name: String
    let takes: [Argument]
    let gives: [Argument]
    let run: @LoopActor @Sendable (BusCall) async -> BusAnswer

    public init(
        _ name: String, takes: [Argument] = [], gives: [Argument] = [],
        run: @escaping @LoopActor @Sendable (BusCall) async -> BusAnswer
    ) {
        self.name = name
        self.takes = takes
        self.gives = gives
        self.run = run
    }
}

/// An object of ours with one interface.
public struct BusObject {
    let path: String
    let interface: String
    let methods: [BusMethod]

    public init(path: String, interface: String, methods: [BusMethod]) {
        self.path = path
        self.interface = interface
        self.methods = methods
    }

    /// As a client may ask for it, by D-Bus's own format.
    func introspection() -> String {
        var text = "  <interface name=\"\(interface)\">\n"
        for method in methods {
            text += "    <method name=\"\(method.name)\">\n"
            for (direction, arguments) in [("in", method.takes), ("out", method.gives)] {
                for each in arguments {
                    text += "      <arg name=\"\(each.name)\" type=\"\(each.type)\""
                    text += " direction=\"\(direction)\"/>\n"
                }
            }
            text += "    </method>\n"
        }
        return text + "  </interface>\n"
    }
}
