internal import CBus
import Posix

/// A value in a message: what AppVault and those that it talks to send each other.
public indirect enum BusValue: Equatable, Sendable {
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint64(UInt64)
    case string(String)
    case path(String)
    case strings([String])
    case paths([String])
    case bytes([UInt8])
    /// Bytes that are wiped when nothing holds them any more; libsystemd wipes its own copy as well.
    case secret(BusSecret)
    case texts([String: String])
    case dictionary([String: BusValue])
    case variant(BusValue)
    case structure([BusValue])
    /// Of a dictionary that is written as an array.
    case entry(BusValue, BusValue)
    /// Of values of one type, which stands here for an empty array, too.
    case array(of: String, [BusValue])

    var signature: String {
        switch self {
        case .bool: "b"
        case .int32: "i"
        case .uint32: "u"
        case .uint64: "t"
        case .string: "s"
        case .path: "o"
        case .strings: "as"
        case .paths: "ao"
        case .bytes, .secret: "ay"
        case .texts: "a{ss}"
        case .dictionary: "a{sv}"
        case .variant: "v"
        case .structure(let parts): "(" + parts.map(\.signature).joined() + ")"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        case .array(let type, _): "a" + type
        }
    }
}

/// Two of them are equal where they are the same memory.
public struct BusSecret: Equatable, Sendable {
    public let bytes: WipedBuffer

    public init(_ bytes: WipedBuffer) {
        self.bytes = bytes
    }

    public static func == (one: BusSecret, other: BusSecret) -> Bool { one.bytes === other.bytes }
}

/// Writes a message's body. libsystemd checks what it is given: a path that is none, or a text with
/// a NUL in it, makes an error here and not a broken message.
@safe
struct BusWriter {
    private let message: OpaquePointer

    /// The message must live as long as the writer.
    init(_ message: OpaquePointer) {
        // SAFETY: whoever writes a message holds it meanwhile. The same holds in all of this file.
        unsafe self.message = message
    }

    func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .bool(let flag):
            // D-Bus's booleans are four bytes for libsystemd.
            try basic("b", Int32(flag ? 1 : 0))
        case .int32(let number): try basic("i", number)
        case .uint32(let number): try basic("u", number)
        case .uint64(let number): try basic("t", number)
        case .string(let text): try basic("s", text)
        case .path(let text): try basic("o", text)
        case .strings(let texts):
            try container("a", "s") { () throws(BusError) in
                for text in texts { try basic("s", text) }
            }
        case .paths(let paths):
            try container("a", "o") { () throws(BusError) in
                for path in paths { try basic("o", path) }
            }
        case .bytes(let bytes): try append(bytes.span)
        case .secret(let secret):
            try done(unsafe sd_bus_message_sensitive(message))
            try secret.bytes.withBytes { (bytes) throws(BusError) in try append(bytes) }
        case .texts(let entries):
            try container("a", "{ss}") { () throws(BusError) in
                for (key, value) in entries {
                    try container("e", "ss") { () throws(BusError) in
                        try basic("s", key)
                        try basic("s", value)
                    }
                }
            }
        case .dictionary(let entries):
            try container("a", "{sv}") { () throws(BusError) in
                for (key, value) in entries {
                    try container("e", "sv") { () throws(BusError) in
                        try basic("s", key)
                        try append(.variant(value))
                    }
                }
            }
        case .structure(let parts):
            let contents = parts.map(\.signature).joined()
            try container("r", contents) { () throws(BusError) in try append(parts) }
        case .entry(let key, let value):
            try container("e", key.signature + value.signature) { () throws(BusError) in
                try append(key)
                try append(value)
            }
        case .array(let type, let values):
            try container("a", type) { () throws(BusError) in try append(values) }
        case .variant(let inner):
            try container("v", inner.signature) { () throws(BusError) in try append(inner) }
        }
    }

    private func append(_ bytes: Span<UInt8>) throws(BusError) {
        // SAFETY: libsystemd copies the bytes, as many as there are.
        try done(
            unsafe bytes.withUnsafeBytes {
                unsafe sd_bus_message_append_array(
                    message, CChar(UInt8(ascii: "y")), $0.baseAddress, $0.count)
            })
    }

    private func basic<Value: BitwiseCopyable>(
        _ type: Unicode.Scalar, _ value: Value
    ) throws(BusError) {
        var value = value
        // SAFETY: the type says how many bytes are read, and those are the value's.
        try done(unsafe sd_bus_message_append_basic(message, CChar(type.value), &value))
    }

    private func basic(_ type: Unicode.Scalar, _ text: String) throws(BusError) {
        // It would end the text.
        guard !text.utf8.contains(0) else { throw .unsent(22) }
        try done(
            unsafe text.withCString {
                unsafe sd_bus_message_append_basic(message, CChar(type.value), $0)
            })
    }

    private func container(
        _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try done(unsafe sd_bus_message_open_container(message, CChar(type.value), contents))
        try body()
        try done(unsafe sd_bus_message_close_container(message))
    }

    private func done(_ result: Int32) throws(BusError) {
        guard result >= 0 else { throw BusError(sending: result) }
    }
}
