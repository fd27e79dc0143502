import Testing
import Wire

@testable import Words

@Test("what goes to a person holds no control, bidi or newline character and keeps its bound")
func cleanText() {
    let nasty = "a\u{1B}[31m\n\u{202E}b\u{0}\u{2028}c"
    #expect(String(decoding: Text.clean(nasty), as: UTF8.self) == "a?[31m??b??c")
    let long = String(repeating: "\u{1F600}", count: 500)
    #expect(Text.clean(long, limit: Limits.line).count <= Limits.line)
    #expect(Text.clean(long, characters: 200).count == 800)
}

@Test(
    "a refusal is one line of lower case without a full stop, and survives the wire",
    arguments: Wording.refusals)
func refusalsAreWorded(_ refusal: Refusal) throws {
    let body = Voice.english.refused(refusal)
    let message = String(decoding: body.message, as: UTF8.self)
    #expect(!message.isEmpty)
    #expect(message.first == message.lowercased().first)
    #expect(message.last != ".")
    #expect(body.hint.last != UInt8(ascii: "."))
    var frame: [UInt8] = []
    body.write(to: &frame)
    var reader = Reader()
    let back = try Refused(&reader, frame.span)
    #expect(back == body)
    #expect(back.code == refusal.code.rawValue)
}

@Test("no refusal becomes success or is ignored by PAM", arguments: Wording.refusals)
func refusalsAreNoSuccess(_ refusal: Refusal) {
    #expect(refusal.code.outcome != .success)
    #expect(refusal.code.outcome != .ignore)
}
