import CBus
import Testing

@testable import Bus

/// What any program on a bus can do, and the agent does not.
extension Bus {
    var ownName: String {
        var name: UnsafePointer<CChar>?
        // SAFETY: the connection is open, so this does not wait.
        guard unsafe sd_bus_get_unique_name(raw, &name) >= 0, let name = unsafe name else {
            return ""
        }
        return unsafe String(cString: name)
    }

    func emit(
        _ path: String, _ interface: String, _ member: String, _ values: [BusValue],
        to destination: String? = nil
    ) throws {
        var made: OpaquePointer?
        // SAFETY: all texts are copied. The message is the new object's.
        unsafe sd_bus_message_new_signal(raw, &made, path, interface, member)
        let message = unsafe BusMessage(owning: try #require(made))
        try unsafe BusWriter(message.raw).append(values)
        if let destination { unsafe sd_bus_message_set_destination(message.raw, destination) }
        try send(message)
    }

    /// A call that leaves out the interface, as it may.
    func callByNameAlone(_ destination: String, _ path: String, _ member: String) throws {
        var made: OpaquePointer?
        // SAFETY: as above.
        unsafe sd_bus_message_new_method_call(raw, &made, destination, path, nil, member)
        try send(unsafe BusMessage(owning: try #require(made)))
    }

    func forgeAnswer(to destination: String, number: UInt64, _ value: BusValue) throws {
        var called: OpaquePointer?
        // SAFETY: as above.
        unsafe sd_bus_message_new_method_call(raw, &called, nil, "/", "a.b", "C")
        let call = unsafe BusMessage(owning: try #require(called))
        #expect(unsafe sd_bus_message_seal(call.raw, number, 0) >= 0)
        var made: OpaquePointer?
        unsafe sd_bus_message_new_method_return(call.raw, &made)
        let message = unsafe BusMessage(owning: try #require(made))
        try unsafe BusWriter(message.raw).append([value])
        unsafe sd_bus_message_set_destination(message.raw, destination)
        try send(message)
    }
}
