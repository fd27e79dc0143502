internal import Wire

/// A request as it goes over the wire. Its tag is put in when it is sent, so that the same one can
/// be sent again over another connection.
struct Outgoing: ~Copyable, Sendable {
    private(set) var bytes: WipedBytes

    init<B: Body>(_ type: RequestType, _ body: B) {
        bytes = WipedBytes(capacity: 256)
        Frame.write(body, type: type.rawValue, tag: 0, to: &bytes)
    }

    init<B: Body>(_ type: RequestType, _ body: B, payload: Span<UInt8>) {
        bytes = WipedBytes(capacity: 256 + payload.count)
        Frame.write(body, type: type.rawValue, tag: 0, payload: payload, to: &bytes)
    }

    mutating func mark(_ tag: UInt32) {
        bytes.replace32(at: 6, with: tag)
    }
}

/// An answer that has come whole, without its header.
struct Incoming: ~Copyable, Sendable {
    let type: AnswerType
    let body: WipedBytes

    func decoded<B: Body>(_ type: B.Type) throws(VaultError) -> B {
        do throws(WireError) {
            return try body.withSpan { span throws(WireError) in try Incoming.decode(type, span) }
        } catch {
            throw .undecodable(error)
        }
    }

    static func decode<B: Body>(_ type: B.Type, _ body: Span<UInt8>) throws(WireError) -> B {
        var reader = Reader()
        let value = try B(&reader, body)
        try reader.end(body)
        return value
    }

    /// The fields before a payload.
    func decoded<B: Body>(payloadBehind type: B.Type) throws(VaultError) -> B {
        do throws(WireError) {
            return try body.withSpan { span throws(WireError) in
                var reader = Reader()
                return try B(&reader, span)
            }
        } catch {
            throw .undecodable(error)
        }
    }

    /// The payload behind the fields.
    func payload<B: Body>(behind type: B.Type) throws(VaultError) -> SecretBytes {
        do throws(WireError) {
            return try body.withSpan { span throws(WireError) in
                var reader = Reader()
                _ = try B(&reader, span)
                let slice = try reader.payload(span, limit: Limits.secret)
                try reader.end(span)
                return SecretBytes(
                    copying: span.extracting(slice.start..<slice.start + slice.count))
            }
        } catch {
            throw .undecodable(error)
        }
    }
}
