/// A message of D-Bus, with those header fields that matter here.
struct BusMessage: Equatable, Sendable {
    enum Kind: UInt8, Sendable {
        case call = 1
        case reply = 2
        case error = 3
        case signal = 4
    }

    var kind = Kind.call
    var serial: UInt32 = 0
    var replyTo: UInt32?
    var path: String?
    var interface: String?
    var member: String?
    var errorName: String?
    var destination: String?
    var sender: String?
    var body: [BusValue] = []

    /// The longest message that is taken: a secret of a mebibyte, and room around it.
    static let longest = 4 << 20

    /// Nil until all of it has come; else the message and the length that it takes.
    static func decode(
        _ bytes: Span<UInt8>
    ) throws(BusFault) -> (message: BusMessage?, length: Int)? {
        guard bytes.count >= 16 else { return nil }
        let isBigEndian: Bool
        switch bytes[0] {
        case UInt8(ascii: "l"): isBigEndian = false
        case UInt8(ascii: "B"): isBigEndian = true
        default: throw .unknownType
        }
        var reader = BusReader(at: 4, isBigEndian: isBigEndian)
        let bodyLength = Int(try reader.uint32(bytes))
        let serial = try reader.uint32(bytes)
        let fieldsLength = Int(try reader.uint32(bytes))
        guard bodyLength <= longest, fieldsLength <= longest else { throw .tooLong }
        let bodyBegin = (16 + fieldsLength + 7) & ~7
        let length = bodyBegin + bodyLength
        guard length <= longest else { throw .tooLong }
        guard bytes.count >= length else { return nil }
        // Of a kind that the specification does not know yet: it is passed over.
        guard let kind = Kind(rawValue: bytes[1]) else { return (nil, length) }
        var message = BusMessage(kind: kind, serial: serial)
        var fields = BusReader(at: 12, isBigEndian: isBigEndian)
        var signature = ""
        let header = bytes.extracting(first: bodyBegin)
        for field in try fields.values("a(yv)", header).first?.elements ?? [] {
            guard let parts = field.elements, parts.count == 2, case .byte(let code) = parts[0],
                let value = parts[1].content
            else { throw .unknownType }
            switch code {
            case 1: message.path = value.text
            case 2: message.interface = value.text
            case 3: message.member = value.text
            case 4: message.errorName = value.text
            case 5: if case .uint32(let number) = value { message.replyTo = number }
            case 6: message.destination = value.text
            case 7: message.sender = value.text
            case 8: signature = value.text ?? ""
            default: break
            }
        }
        var body = BusReader(isBigEndian: isBigEndian)
        message.body = try body.values(
            signature, bytes.extracting(bodyBegin..<bodyBegin + bodyLength))
        return (message, length)
    }

    func encoded() -> WipedBytes {
        var body = BusWriter()
        for value in self.body { body.put(value) }
        var fields: [BusValue] = []
        func add(_ code: UInt8, _ value: BusValue?) {
            if let value { fields.append(.structure([.byte(code), .variant(value)])) }
        }
        add(1, path.map(BusValue.path))
        add(2, interface.map(BusValue.string))
        add(3, member.map(BusValue.string))
        add(4, errorName.map(BusValue.string))
        add(5, replyTo.map(BusValue.uint32))
        add(6, destination.map(BusValue.string))
        add(7, sender.map(BusValue.string))
        if !self.body.isEmpty { add(8, .signature(self.body.map(\.signature).joined())) }
        var whole = BusWriter()
        // Little-endian, no flags, version 1 of the protocol.
        for byte in [UInt8(ascii: "l"), kind.rawValue, 0, 1] { whole.put(.byte(byte)) }
        whole.put32(UInt32(body.bytes.count))
        whole.put32(serial)
        whole.put(.array("(yv)", fields))
        whole.align(8)
        body.bytes.withSpan { whole.bytes.put($0) }
        return whole.bytes
    }
}
