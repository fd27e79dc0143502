import Posix
import Secrets
import Wire

/// Takes apart what appvault-fingerprint sends. The worker parses what an unknown device sends, so
/// the daemon believes nothing that does not answer the request under way.
package struct FingerInbox {
    package enum Question: Sendable {
        case list, enroll, delete, stored, clear
        case match(templates: Int)
    }

    package enum Answer: Sendable {
        case readers([FingerprintReader])
        case enrolled(SecretBox)
        case matched(Int)
        case noMatch
        case done
        case stored([FingerprintStored.Print])
        case failed(FingerprintFault)
    }

    package enum Next: Sendable {
        /// No frame is whole yet.
        case more
        case scan(FingerprintScan)
        case answer(Answer)
        /// appvault-fingerprint never sends this.
        case nonsense
    }

    let question: Question
    private let nonce: [UInt8]
    private let pending = WipedBuffer(capacity: 4096)
    private var frames = 0

    /// More frames than a person has patience for touches.
    private static let framesMost = 1000
    private static let room = 8192
    private static let longest = max(
        FingerprintLink.answerFrame, FingerprintLink.nonce + 4 + FingerprintLink.template)

    package init(_ question: Question, nonce: [UInt8]) {
        self.question = question
        self.nonce = nonce
    }

    package func take(_ bytes: Span<UInt8>) {
        pending.append(bytes)
    }

    /// Reads once from the channel, into memory that is wiped.
    package func take(from channel: Channel) -> Channel.Transfer {
        let start = pending.count
        pending.grow(to: start + Self.room)
        // SAFETY: the room lies behind the bytes that are there, and the channel reports how much
        // of it was filled.
        let transfer = unsafe pending.withRoom(from: start) { room in
            unsafe channel.read(into: room)
        }
        if case .bytes(let count) = transfer { pending.setCount(start + count) }
        return transfer
    }

    /// The next message. A frame with another nonce belongs to another request and is skipped.
    package mutating func next() -> Next {
        while true {
            let found: (next: Next?, used: Int)?
            do {
                found = try pending.withBytes { (bytes) throws(WireError) in
                    guard let header = try FrameHeader.decode(bytes, limit: Self.longest) else {
                        return nil
                    }
                    let end = FrameHeader.size + header.length
                    guard bytes.count >= end else { return nil }
                    return (
                        try read(header, bytes.extracting(FrameHeader.size..<end)), end
                    )
                }
            } catch {
                return .nonsense
            }
            guard let found else { return .more }
            pending.removeFirst(found.used)
            frames += 1
            guard frames <= Self.framesMost else { return .nonsense }
            if let next = found.next { return next }
        }
    }

    /// Nil for a frame with the nonce of another request.
    private func read(_ header: FrameHeader, _ body: Span<UInt8>) throws(WireError) -> Next? {
        guard header.tag == 0 else { throw .unknownValue }
        var peek = Reader()
        guard try peek.fixed(FingerprintLink.nonce, body) == nonce else { return nil }
        var reader = Reader()
        let next: Next
        switch (header.type, question) {
        case (FingerprintLink.readers, .list):
            next = .answer(.readers(try FingerprintReaders(&reader, body).readers))
        case (FingerprintLink.scan, .enroll), (FingerprintLink.scan, .match):
            next = .scan(try FingerprintScan(&reader, body))
        case (FingerprintLink.enrolled, .enroll):
            _ = try FingerprintNonce(&reader, body)
            let print = try reader.payload(body, limit: FingerprintLink.template)
            guard print.count > 0 else { throw .unknownValue }
            let bytes = body.extracting(print.start..<(print.start + print.count))
            guard let secret = try? SecretBytes(copying: bytes) else { throw .fieldTooLong }
            next = .answer(.enrolled(SecretBox(secret)))
        case (FingerprintLink.matched, .match(let templates)):
            let index = Int(try FingerprintMatched(&reader, body).index)
            guard index < templates else { throw .unknownValue }
            next = .answer(.matched(index))
        case (FingerprintLink.noMatch, .match):
            _ = try FingerprintNonce(&reader, body)
            next = .answer(.noMatch)
        case (FingerprintLink.done, .delete), (FingerprintLink.done, .clear):
            _ = try FingerprintNonce(&reader, body)
            next = .answer(.done)
        case (FingerprintLink.storedPrints, .stored):
            next = .answer(.stored(try FingerprintStored(&reader, body).prints))
        case (FingerprintLink.failed, _):
            next = .answer(.failed(try FingerprintFailed(&reader, body).fault))
        default: throw .unknownValue
        }
        try reader.end(body)
        return next
    }
}
