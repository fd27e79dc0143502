import Wire

/// What the daemon asks for.
enum Request {
    case list
    case enroll(ReaderChoice)
    case match(ReaderChoice, seconds: Int, [Print?])
    case delete(ReaderChoice, Print?)
    case stored(ReaderChoice, [Print?])
    /// Everything that is on the chip, whosever it is.
    case clear(ReaderChoice)

    static func read(
        _ type: UInt16, _ reader: inout Wire.Reader, _ body: Span<UInt8>
    ) throws(WireError) -> (nonce: [UInt8], Request) {
        switch type {
        case FingerprintLink.list:
            return (try FingerprintNonce(&reader, body).nonce, .list)
        case FingerprintLink.enroll:
            let asked = try ReaderRequest(&reader, body)
            return (asked.nonce, .enroll(asked.reader))
        case FingerprintLink.clear:
            let asked = try ReaderRequest(&reader, body)
            return (asked.nonce, .clear(asked.reader))
        case FingerprintLink.delete:
            let asked = try ReaderRequest(&reader, body)
            let template = try reader.payload(body, limit: FingerprintLink.template)
            return (asked.nonce, .delete(asked.reader, print(template, body)))
        default:
            let asked = try TemplatesRequest(&reader, body)
            let templates = try asked.templates(&reader, body)
            // Nothing is parsed before the whole request is right.
            try reader.end(body)
            let prints = templates.map { print($0, body) }
            guard type == FingerprintLink.match else {
                return (asked.nonce, .stored(asked.reader, prints))
            }
            guard !prints.isEmpty else { throw .unknownValue }
            let seconds =
                asked.seconds == 0 ? FingerprintLink.matchSeconds : Int(asked.seconds)
            return (asked.nonce, .match(asked.reader, seconds: seconds, prints))
        }
    }

    private static func print(_ slice: Slice, _ body: Span<UInt8>) -> Print? {
        Print.parse(body.extracting(slice.start..<slice.start + slice.count))
    }
}
