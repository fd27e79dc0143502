import Wire
import WorkerLinks

/// A worker that answers anything to a question of the daemon. The first two bytes say how it is
/// cut into pieces, which makes no difference; what is believed is within its bounds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard bytes.count > 2 else { return 0 }
    let question = FetchQuestion(
        nonce: [UInt8](repeating: 7, count: FetchLink.nonce),
        method: [.get, .post, .find][Int(bytes[0] % 3)], seconds: 1, url: Array("https://h/".utf8))
    let answer = Array(bytes.dropFirst(2))
    var cut = FetchInbox(question)
    var next = FetchInbox.Next.more
    var rest = answer[...]
    while !rest.isEmpty, next == .more {
        next = cut.take(Array(rest.prefix(Int(bytes[1]) + 1)).span)
        rest = rest.dropFirst(Int(bytes[1]) + 1)
    }
    var whole = FetchInbox(question)
    // Whatever lies behind an answer is nonsense; in pieces it was not there yet.
    if rest.isEmpty { must(whole.take(answer.span) == next, "the pieces made a difference") }
    guard case .answer(.answered(let status, let tag, let content)) = next else { return 0 }
    must(100...599 ~= status, "a status that is none")
    must(tag.count <= FetchLink.tag && !tag.contains(0x0A), "a tag that is none")
    must(content.count <= FetchLink.content, "too much")
    must(content.isEmpty || status == 200 && question.method != .post, "what was not asked for")
    must(question.method != .find || content.count <= FetchLink.found, "more than is found")
    return 0
}
