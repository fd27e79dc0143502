import Testing
import Wire

@testable import VaultService

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

@Test(
    "the command line is taken as written or refused with a reason",
    arguments: [
        (["--socket"], "--socket: a path is missing"), (["--frob"], "--frob: no such option"),
        (
            ["--deadline", "session=61"],
            "--deadline: session, transaction, idle or touch = 1 to 60 seconds"
        ),
        (
            ["--deadline", "session=0"],
            "--deadline: session, transaction, idle or touch = 1 to 60 seconds"
        ),
        (
            ["--deadline", "login=5"],
            "--deadline: session, transaction, idle or touch = 1 to 60 seconds"
        ),
    ])
func wrongOptions(_ arguments: [String], _ reason: String) {
    #expect(Options.parse(arguments) == .wrong(reason))
}

@Test("a private configuration has the built-in values as its default policy")
func privateOptions() {
    var expected = Options()
    expected.socket = "s"
    expected.stateFolder = "d"
    expected.configFolder = "c"
    expected.defaultPolicy = nil
    expected.deadlines.session = 2
    let line = [
        "--socket", "s", "--state-dir", "d", "--config-dir", "c", "--deadline", "session=2",
    ]
    #expect(Options.parse(line) == .run(expected))
}
