import Wire

@testable import Client

/// What a pinentry says: it is understood or refused in the same way however it is cut into reads,
/// and no answer is longer than the longest secret and a byte more.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let size = bytes.first else { return 0 }
    let said = Array(bytes.dropFirst())
    let whole = heard(said, piece: 1024)
    let cut = heard(said, piece: Int(size % 64) + 1)
    must(whole == cut, "another answer")
    must(whole.answer.count <= Limits.secret + 1, "an answer that is too long")
    return 0
}

private struct Heard: Equatable {
    var replies: [AssuanReplies.Reply] = []
    var fault: AssuanReplies.Fault?
    var answer: [UInt8] = []
}

private func heard(_ bytes: [UInt8], piece: Int) -> Heard {
    var heard = Heard()
    var replies = AssuanReplies()
    do throws(AssuanReplies.Fault) {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            replies.add(Array(bytes[start..<min(start + piece, bytes.count)]))
            while let reply = try replies.next() { heard.replies.append(reply) }
        }
    } catch {
        heard.fault = error
    }
    heard.answer = replies.data.withSpan { span in span.indices.map { span[$0] } }
    return heard
}
