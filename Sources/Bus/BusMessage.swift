internal import CBus
import Posix

/// A message that has come, read from its beginning to its end: each call takes the next value.
/// libsystemd has checked it as a whole: it is not cut short, and its texts are UTF-8.
@LoopActor
@safe
public final class BusMessage {
    enum Kind {
        case call, answer, refusal, signal, other
    }

    // SAFETY: this reference is the object's own, and is used on the loop alone. The last holder
    // is on the loop as well, since nothing else gets one. The same holds in all of this file.
    nonisolated(unsafe) let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe sd_bus_message_unref(raw)
    }

    var kind: Kind {
        var type: UInt8 = 0
        guard unsafe sd_bus_message_get_type(raw, &type) >= 0 else { return .other }
        switch Int(type) {
        case Int(SD_BUS_MESSAGE_METHOD_CALL): return .call
        case Int(SD_BUS_MESSAGE_METHOD_RETURN): return .answer
        case Int(SD_BUS_MESSAGE_METHOD_ERROR): return .refusal
        case Int(SD_BUS_MESSAGE_SIGNAL): return .signal
        default: return .other
        }
    }

    /// The unique name of who sent it, by the bus's word: no sender chooses it.
    public var sender: String { unsafe text(sd_bus_message_get_sender(raw)) }
    public var path: String { unsafe text(sd_bus_message_get_path(raw)) }
    public var interface: String { unsafe text(sd_bus_message_get_interface(raw)) }
    public var member: String { unsafe text(sd_bus_message_get_member(raw)) }
    var signature: String { unsafe text(sd_bus_message_get_signature(raw, 1)) }

    /// The call that this answers.
    var answered: UInt64? {
        var cookie: UInt64 = 0
        return unsafe sd_bus_message_get_reply_cookie(raw, &cookie) >= 0 ? cookie : nil
    }

    var refusal: BusError {
        guard let error = unsafe sd_bus_message_get_error(raw) else { return .malformed }
        return unsafe .refused(
            name: text(error.pointee.name), text: text(error.pointee.message))
    }

    private func text(_ bytes: UnsafePointer<CChar>?) -> String {
        guard let bytes = unsafe bytes else { return "" }
        return unsafe String(cString: bytes)
    }

    // MARK: values

    /// Entries of one array. Nobody whom AppVault believes sends more, and each of them takes more
    /// memory here than in the message.
    private static let most = 4096

    public func bool() throws(BusError) -> Bool {
        try basic("b", Int32(0)) != 0
    }

    public func uint32() throws(BusError) -> UInt32 {
        try basic("u", 0)
    }

    public func string() throws(BusError) -> String {
        try string("s")
    }

    public func objectPath() throws(BusError) -> String {
        try string("o")
    }

    public func strings() throws(BusError) -> [String] {
        var result: [String] = []
        try enter("a", "s")
        while try !isAtEnd() {
            guard result.count < Self.most else { throw .malformed }
            result.append(try string())
        }
        try exit()
        return result
    }

    /// Values of other types than `BusValue` has are left out.
    public func dictionary() throws(BusError) -> [String: BusValue] {
        var result: [String: BusValue] = [:]
        try enter("a", "{sv}")
        while try !isAtEnd() {
            guard result.count < Self.most else { throw .malformed }
            try enter("e", "sv")
            let key = try string()
            result[key] = try variant()
            try exit()
        }
        try exit()
        return result
    }

    /// Nil if the value has another type than `BusValue` has; it is skipped.
    public func variant() throws(BusError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard
            unsafe sd_bus_message_peek_type(raw, &type, &contents) > 0,
            type == CChar(UInt8(ascii: "v"))
        else { throw .malformed }
        let inner = unsafe text(contents)
        guard ["b", "i", "u", "t", "s", "o", "as"].contains(inner) else {
            try done(unsafe sd_bus_message_skip(raw, "v"))
            return nil
        }
        try enter("v", inner)
        let value: BusValue
        switch inner {
        case "b": value = .bool(try bool())
        case "i": value = .int32(try basic("i", 0))
        case "u": value = .uint32(try uint32())
        case "t": value = .uint64(try basic("t", 0))
        case "s": value = .string(try string())
        case "o": value = .path(try objectPath())
        default: value = .strings(try strings())
        }
        try exit()
        return value
    }

    private func basic<Value: BitwiseCopyable>(
        _ type: Unicode.Scalar, _ initial: Value
    ) throws(BusError) -> Value {
        var value = initial
        // SAFETY: the type says how many bytes are written, and the value has as many.
        try done(unsafe sd_bus_message_read_basic(raw, CChar(type.value), &value))
        return value
    }

    private func string(_ type: Unicode.Scalar) throws(BusError) -> String {
        var value: UnsafePointer<CChar>?
        // SAFETY: one pointer is written, to a terminated text within the message.
        try done(unsafe sd_bus_message_read_basic(raw, CChar(type.value), &value))
        return unsafe text(value)
    }

    private func isAtEnd() throws(BusError) -> Bool {
        let result = unsafe sd_bus_message_at_end(raw, 0)
        guard result >= 0 else { throw .malformed }
        return result > 0
    }

    private func enter(_ type: Unicode.Scalar, _ contents: String) throws(BusError) {
        try done(unsafe sd_bus_message_enter_container(raw, CChar(type.value), contents))
    }

    private func exit() throws(BusError) {
        guard unsafe sd_bus_message_exit_container(raw) >= 0 else { throw .malformed }
    }

    /// Zero says that there is no value left.
    private func done(_ result: Int32) throws(BusError) {
        guard result > 0 else { throw .malformed }
    }
}
