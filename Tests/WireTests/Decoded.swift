import Wire

/// Any message, decoded from its bytes: its fields as the vectors write them, and its bytes encoded
/// again.
struct Decoded: Equatable {
    var fields: [Field]
    var again: [UInt8]

    init(type: UInt16, tag: UInt32, body: [UInt8]) throws(WireError) {
        guard
            let content = RequestType(rawValue: type)?.content
                ?? AnswerType(rawValue: type)?.content
        else { throw .unknownValue }
        try self.init(content.body, type, tag, body, payloads: content.payloads)
    }

    private init<B: Body>(
        _ kind: B.Type, _ type: UInt16, _ tag: UInt32, _ body: [UInt8], payloads limits: [Int]
    ) throws(WireError) {
        var reader = Reader()
        let message = try B(&reader, body.span)
        var payloads: [[UInt8]] = []
        for limit in limits {
            let slice = try reader.payload(body.span, limit: limit)
            payloads.append(Array(body[slice.start..<slice.start + slice.count]))
        }
        try reader.end(body.span)

        fields = Describe.fields(of: message)
        for (name, payload) in zip(["payload", "second"], payloads) {
            fields.append(Field(name: name, value: Describe.bytes(payload)))
        }
        again = []
        guard let first = payloads.first else {
            Frame.write(message, type: type, tag: tag, to: &again)
            return
        }
        guard payloads.count > 1 else {
            Frame.write(message, type: type, tag: tag, payload: first.span, to: &again)
            return
        }
        let second = payloads[1]
        Frame.write(
            message, type: type, tag: tag, payload: first.span, second: second.span, to: &again)
    }
}

/// Values as the vectors write them: numbers, names of cases, "text" or hex:bytes.
enum Describe {
    static func fields(of message: Any, prefix: String = "") -> [Field] {
        var fields: [Field] = []
        for child in Mirror(reflecting: message).children {
            let name = prefix + (child.label ?? "?")
            if Mirror(reflecting: child.value).displayStyle == .struct, !isPlain(child.value) {
                fields += Self.fields(of: child.value, prefix: name + ".")
            } else {
                fields.append(Field(name: name, value: value(child.value)))
            }
        }
        return fields
    }

    private static func isPlain(_ value: Any) -> Bool {
        value is any BinaryInteger || value is Bool || value is [Any]
    }

    private static func value(_ value: Any) -> String {
        // A cast alone would take an empty list for empty bytes.
        if type(of: value) == [UInt8].self, let bytes = value as? [UInt8] {
            return Self.bytes(bytes)
        }
        if let list = value as? [Any] { return "[" + list.map(entry).joined(separator: ", ") + "]" }
        return "\(value)"
    }

    private static func entry(_ value: Any) -> String {
        if type(of: value) == [UInt8].self { return Self.value(value) }
        let fields = fields(of: value).map { "\($0.name)=\($0.value)" }
        return "{" + fields.joined(separator: ", ") + "}"
    }

    static func bytes(_ bytes: [UInt8]) -> String {
        let plain = bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if plain { return "\"" + String(decoding: bytes, as: UTF8.self) + "\"" }
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "hex:" + digits.joined()
    }
}
