import Posix
import Wire

/// Takes apart what appvault-fetch answers to one question. The worker reads what any server sends,
/// so the daemon believes nothing that it did not ask for.
package struct FetchInbox {
    package enum Next: Equatable {
        case more
        case answer(Fetched)
        /// appvault-fetch never sends this.
        case nonsense
    }

    private let question: FetchQuestion
    private var pending: [UInt8] = []

    package init(_ question: FetchQuestion) {
        self.question = question
    }

    package mutating func take(_ bytes: Span<UInt8>) -> Next {
        pending.put(bytes)
        do throws(WireError) {
            return try next() ?? .more
        } catch {
            return .nonsense
        }
    }

    private func next() throws(WireError) -> Next? {
        let bytes = pending.span
        guard let header = try FrameHeader.decode(bytes, limit: FetchLink.answerFrame) else {
            return nil
        }
        guard header.type == FetchLink.answer, header.tag == 0 else { throw .unknownValue }
        let end = FrameHeader.size + header.length
        guard bytes.count >= end else { return nil }
        // There is one answer to one question.
        guard bytes.count == end else { throw .tooLong }
        let body = bytes.extracting(FrameHeader.size..<end)
        var reader = Reader()
        let answer = try FetchAnswer(&reader, body)
        let payload = try reader.payload(body, limit: FetchLink.content)
        try reader.end(body)
        guard answer.nonce == question.nonce else { throw .unknownValue }
        guard answer.outcome == .answered else {
            guard answer.status == 0, answer.tag.isEmpty, payload.count == 0 else {
                throw .unknownValue
            }
            return .answer(.failed(answer.outcome))
        }
        guard 100...599 ~= answer.status,
            payload.count == 0 || isContent(answer) && payload.count <= question.method.most
        else {
            throw .unknownValue
        }
        var content: [UInt8] = []
        content.put(body.extracting(payload.start..<payload.start + payload.count))
        return .answer(
            .answered(status: Int(answer.status), tag: Self.good(answer.tag), content: content))
    }

    private func isContent(_ answer: FetchAnswer) -> Bool {
        switch question.method {
        case .get, .find: answer.status == 200
        case .post: false
        case .signIn: true
        }
    }

    /// As HTTP writes one; what is none is not sent back.
    private static func good(_ tag: [UInt8]) -> [UInt8] {
        let opaque = tag.starts(with: Array("W/".utf8)) ? tag.dropFirst(2) : tag[...]
        guard opaque.count >= 2, opaque.first == 0x22, opaque.last == 0x22,
            opaque.dropFirst().dropLast().allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 })
        else { return [] }
        return tag
    }
}

/// What came of a question to the worker.
package enum Fetched: Equatable, Sendable {
    /// `content` is what was asked for, where the status is 200; of a sign-in, what the server says.
    case answered(status: Int, tag: [UInt8], content: [UInt8])
    case failed(FetchAnswer.Outcome)
    case lost(FetchLost)
}

/// Why the daemon heard nothing good from the worker.
package enum FetchLost: Equatable, Sendable {
    case missing, ended, tooSlow, nonsense
}

extension FetchQuestion.Method {
    /// How much is taken.
    var most: Int {
        switch self {
        case .get: FetchLink.content
        case .post: 0
        case .find: FetchLink.found
        case .signIn: FetchLink.said
        }
    }
}
