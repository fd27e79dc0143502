internal import CBus
import Posix

extension Bus {
    /// Beyond them a caller is refused: one that does not read its answers must not fill memory.
    private static let mostCalls = 64
    private static let introspectable = "org.freedesktop.DBus.Introspectable"

    /// Callers of this user find the object from now on; all others are refused. libsystemd itself
    /// answers org.freedesktop.DBus.Peer.
    public func serve(_ object: BusObject) {
        objects[object.path] = object
    }

    func called(_ message: BusMessage) {
        if let tree = tree(over: message.path) { return called(message, of: tree) }
        guard callsUnderWay < Self.mostCalls else {
            return answer(message, .refused(.tooMany))
        }
        callsUnderWay += 1
        whenCalled?()
        EventLoop.shared.task {
            self.answer(message, await self.result(of: message))
            self.callsUnderWay -= 1
            self.whenCalled?()
        }
    }

    private func result(of message: BusMessage) async -> BusAnswer {
        let uid: UInt32
        do throws(BusError) {
            uid = try await self.uid(
                of: message.sender, until: Clock.bootMilliseconds() + patienceForCaller)
        } catch {
            // Mostly one that has left meanwhile.
            return .refused(.failed("the bus has not said who calls"))
        }
        guard uid == ThisProcess.uid else {
            return .refused(.accessDenied("only for the user of this session"))
        }
        if message.member == "Introspect",
            message.interface == Self.introspectable || message.interface.isEmpty
        {
            guard message.signature.isEmpty else {
                return .refused(.invalidArguments("it takes no arguments"))
            }
            guard let text = introspection(of: message.path) else {
                return .refused(unknownObject)
            }
            return .values([.string(text)])
        }
        guard let object = objects[message.path] else { return .refused(unknownObject) }
        // A call may leave out the interface.
        guard message.interface.isEmpty || message.interface == object.interface else {
            return .refused(.unknownInterface)
        }
        guard let method = object.methods.first(where: { $0.name == message.member }) else {
            return .refused(.unknownMethod)
        }
        let wanted = method.takes.map(\.type).joined()
        guard message.signature == wanted else {
            return .refused(.invalidArguments("it takes the signature '\(wanted)'"))
        }
        return await method.run(BusCall(message: message, uid: uid))
    }

    /// Nil if neither this path nor one below it is an object of ours.
    private func introspection(of path: String) -> String? {
        let parent = path == "/" ? "/" : path + "/"
        var children: Set<Substring> = []
        for below in Array(objects.keys) + trees.keys where below.hasPrefix(parent) && below != path
        {
            let rest = below.dropFirst(parent.count)
            if let child = rest.split(separator: "/").first { children.insert(child) }
        }
        guard objects[path] != nil || !children.isEmpty else { return nil }
        return Self.node(objects[path]?.introspection() ?? "", children.sorted().map(String.init))
    }

    static func node(_ interfaces: String, _ children: [String]) -> String {
        var text =
            "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\""
        text += "\n  \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n"
        text += interfaces
        for child in children { text += "  <node name=\"\(child)\"/>\n" }
        return text + "</node>\n"
    }

    func answer(_ call: BusMessage, _ answer: BusAnswer) {
        do throws(BusError) {
            try send(made(answer, to: call))
        } catch {
            // What libsystemd does not take is not sent: the caller must not wait for it.
            let refusal = BusRefusal.failed("the answer could not be sent")
            _ = try? send(made(.refused(refusal), to: call))
        }
    }

    private func made(_ answer: BusAnswer, to call: BusMessage) throws(BusError) -> BusMessage {
        var made: OpaquePointer?
        switch answer {
        case .values(let values):
            // SAFETY: the call lives as long as this function.
            let result = unsafe sd_bus_message_new_method_return(call.raw, &made)
            guard result >= 0, let made = unsafe made else { throw BusError(sending: result) }
            let message = unsafe BusMessage(owning: made)
            try unsafe BusWriter(message.raw).append(values)
            return message
        case .refused(let refusal):
            let result = unsafe refusal.name.withCString { name in
                unsafe refusal.text.withCString { text in
                    // SAFETY: both texts are copied before they end.
                    var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                    return unsafe sd_bus_message_new_method_error(call.raw, &made, &error)
                }
            }
            guard result >= 0, let made = unsafe made else { throw BusError(sending: result) }
            return unsafe BusMessage(owning: made)
        }
    }
}
