import Testing
import Wire
import WorkerLinks

@testable import VaultService

private let nonce = [UInt8](repeating: 7, count: FetchLink.nonce)
private let tag = Array("\"6a-1\"".utf8)

private func question(_ method: FetchQuestion.Method = .get) -> FetchQuestion {
    FetchQuestion(nonce: nonce, method: method, seconds: 9, url: Array("https://h/".utf8))
}

private func frame(
    _ outcome: FetchAnswer.Outcome = .answered, status: UInt16 = 200, tag given: [UInt8] = tag,
    content: [UInt8] = [], nonce used: [UInt8] = nonce, type: UInt16 = FetchLink.answer,
    number: UInt32 = 0
) -> [UInt8] {
    var bytes: [UInt8] = []
    let answer = FetchAnswer(nonce: used, outcome: outcome, status: status, tag: given)
    Frame.write(answer, type: type, tag: number, payload: content.span, to: &bytes)
    return bytes
}

private func read(
    _ pieces: [[UInt8]], _ method: FetchQuestion.Method = .get
) -> FetchInbox.Next {
    var inbox = FetchInbox(question(method))
    var next = FetchInbox.Next.more
    for piece in pieces where next == .more { next = inbox.take(piece.span) }
    return next
}

@Suite struct FetchInboxTests {
    @Test("an answer is taken, in one piece or byte by byte, and not before its last byte")
    func whole() {
        let good = frame(content: [1, 2, 3])
        let found = FetchInbox.Next.answer(.answered(status: 200, tag: tag, content: [1, 2, 3]))
        #expect(read([good]) == found)
        #expect(read(good.map { [$0] }) == found)
        #expect(read([Array(good.dropLast())]) == .more)
    }

    @Test("each outcome is taken as it is", arguments: FetchAnswer.Outcome.allCases)
    func outcomes(outcome: FetchAnswer.Outcome) {
        guard outcome != .answered else { return }
        #expect(read([frame(outcome, status: 0, tag: [])]) == .answer(.failed(outcome)))
    }

    @Test("of what an invitation leads to less is taken than of a bundle")
    func found() {
        let most = [UInt8](repeating: 1, count: FetchLink.found)
        #expect(
            read([frame(content: most)], .find)
                == .answer(.answered(status: 200, tag: tag, content: most)))
        #expect(read([frame(content: most + [1])], .find) == .nonsense)
        #expect(read([frame(status: 301, content: [1])], .find) == .nonsense)
    }

    @Test(
        "what answers another question, or none, is nonsense",
        arguments: [
            frame(nonce: [UInt8](repeating: 8, count: FetchLink.nonce)),
            frame(type: FetchLink.question), frame(number: 1), frame() + [0],
            frame(status: 99), frame(status: 600), frame(status: 304, content: [1]),
            frame(.cut, status: 200, tag: []), frame(.cut, status: 0, content: [1]),
            [255, 255, 255, 255, 0x81, 0, 0, 0, 0, 0],
            frame(content: [UInt8](repeating: 0, count: FetchLink.content + 1)),
        ])
    func nonsense(bytes: [UInt8]) {
        #expect(read([bytes]) == .nonsense)
    }

    @Test("of what a server says to a sign-in a line is taken, whatever its status")
    func signIn() {
        let most = [UInt8](repeating: 0x41, count: FetchLink.said)
        #expect(
            read([frame(status: 401, content: most)], .signIn)
                == .answer(.answered(status: 401, tag: tag, content: most)))
        #expect(read([frame(status: 401, content: most + [1])], .signIn) == .nonsense)
    }

    @Test("what a server says to a report is nobody's business")
    func report() {
        let empty = FetchInbox.Next.answer(.answered(status: 200, tag: tag, content: []))
        #expect(read([frame()], .post) == empty)
        #expect(read([frame(content: [1])], .post) == .nonsense)
    }

    @Test(
        "a tag that is none of HTTP's is not sent back",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", true), ("\"\"", true), ("a", false), ("\"a", false),
            ("\"a\"b\"", false), ("\"a b\"", false), ("\"a\r\nHost: x\"", false), ("W/a", false),
        ])
    func tags(text: String, isOne: Bool) {
        let found = read([frame(tag: Array(text.utf8))])
        let kept = isOne ? Array(text.utf8) : []
        #expect(found == .answer(.answered(status: 200, tag: kept, content: [])))
    }
}
