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
    /// Of a call of a tree: when it came, by the clock of the boot.
    var arrived: UInt64 = 0

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
    private static let mostBytes = 1 << 16

    public func bool() throws(BusError) -> Bool {
        try basic("b", Int32(0)) != 0
    }

    public func int32() throws(BusError) -> Int32 {
        try basic("i", 0)
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

    /// At most so many: a list of objects may be long.
    public func paths(atMost most: Int) throws(BusError) -> [String] {
        var result: [String] = []
        try enter("a", "o")
        while try !isAtEnd() {
            guard result.count < most else { throw .malformed }
            result.append(try objectPath())
        }
        try exit()
        return result
    }

    /// The same as the value of a property.
    public func pathsInVariant(atMost most: Int) throws(BusError) -> [String] {
        try enter("v", "ao")
        let result = try paths(atMost: most)
        try exit()
        return result
    }

    /// At most so many, copied.
    public func bytes(atMost most: Int) throws(BusError) -> [UInt8] {
        try unsafe array(atMost: most) { unsafe Array($0) }
    }

    /// libsystemd wipes it when nothing holds it any more.
    func markSensitive() {
        _ = unsafe sd_bus_message_sensitive(raw)
    }

    /// At most so many, copied into memory that is wiped. libsystemd wipes the message as well when
    /// nothing holds it any more.
    public func secret(atMost most: Int) throws(BusError) -> WipedBuffer {
        markSensitive()
        return try unsafe array(atMost: most) { bytes in
            let buffer = WipedBuffer(capacity: bytes.count)
            unsafe buffer.append(bytes.bindMemory(to: UInt8.self).span)
            return buffer
        }
    }

    private func array<R>(
        atMost most: Int, _ take: (UnsafeRawBufferPointer) -> R
    ) throws(BusError) -> R {
        var start: UnsafeRawPointer?
        var count = 0
        // SAFETY: a pointer into the message and its count are written, and the message is held.
        let result = unsafe sd_bus_message_read_array(
            raw, CChar(UInt8(ascii: "y")), &start, &count)
        guard result >= 0, count <= most else { throw .malformed }
        return unsafe take(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A dictionary of texts, with each key once.
    public func texts(atMost most: Int) throws(BusError) -> [String: String] {
        var result: [String: String] = [:]
        try enter("a", "{ss}")
        while try !isAtEnd() {
            try enter("e", "ss")
            let key = try string()
            guard result.count < most, result.updateValue(try string(), forKey: key) == nil else {
                throw .malformed
            }
            try exit()
        }
        try exit()
        return result
    }

    /// Reads what is in a structure, all of it.
    public func structure<R>(
        _ contents: String, _ read: () throws(BusError) -> R
    ) throws(BusError) -> R {
        try enter("r", contents)
        let result = try read()
        try exit()
        return result
    }

    /// A second one of what came with the message, which closes its own.
    public func descriptor() throws(BusError) -> FileDescriptor {
        let number: Int32 = try basic("h", -1)
        let own = appvault_bus_second(number)
        guard own >= 0 else { throw .malformed }
        return FileDescriptor(owning: own)
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
        guard ["b", "i", "u", "t", "s", "o", "as", "ao", "ay", "a{ss}"].contains(inner) else {
            try done(unsafe sd_bus_message_skip(raw, "v"))
            return nil
        }
        try enter("v", inner)
        let value: BusValue
        switch inner {
        case "b": value = .bool(try bool())
        case "i": value = .int32(try int32())
        case "u": value = .uint32(try uint32())
        case "t": value = .uint64(try basic("t", 0))
        case "s": value = .string(try string())
        case "o": value = .path(try objectPath())
        case "ao": value = .paths(try paths(atMost: Self.most))
        case "ay": value = .bytes(try bytes(atMost: Self.mostBytes))
        case "a{ss}": value = .texts(try texts(atMost: Self.most))
        default: value = .strings(try strings())
        }
        try exit()
        return value
    }

    /// About how many bytes it has. Reading begins anew after it.
    func weigh() -> Int {
        let weight = (try? weighRest()) ?? 0
        _ = unsafe sd_bus_message_rewind(raw, 1)
        return weight
    }

    private func weighRest() throws(BusError) -> Int {
        var weight = 16
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = unsafe sd_bus_message_peek_type(raw, &type, &contents)
            guard found >= 0 else { throw .malformed }
            guard found > 0 else { return weight }
            let inner = unsafe text(contents)
            let scalar = Unicode.Scalar(UInt8(bitPattern: type))
            switch scalar {
            case "s", "o", "g":
                var value: UnsafePointer<CChar>?
                // SAFETY: one pointer is written, to a terminated text within the message.
                try done(unsafe sd_bus_message_read_basic(raw, type, &value))
                weight += unsafe value.map { unsafe appvault_bus_length($0) } ?? 0
            case "a" where inner == "y":
                weight += try unsafe array(atMost: .max) { $0.count }
            case "a", "v", "r", "e":
                try enter(scalar, inner)
                weight += try weighRest()
                try exit()
            default:
                try done(unsafe sd_bus_message_skip(raw, String(Character(scalar))))
                weight += 8
            }
        }
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
