import Testing
import Wire

@testable import VaultService

@Test("what goes to a person holds no control, bidi or newline character and keeps its bound")
func cleanText() {
    let nasty = "a\u{1B}[31m\n\u{202E}b\u{0}\u{2028}c"
    #expect(String(decoding: Text.clean(nasty), as: UTF8.self) == "a?[31m??b??c")
    let long = String(repeating: "\u{1F600}", count: 500)
    #expect(Text.clean(long, limit: Limits.line).count <= Limits.line)
    #expect(Text.clean(long, limit: 200).count <= 200)
}

private let refusals: [Refusal] = [
    .unknown, .alreadyExists, .doesNotExist(.store), .invalidArgument(reason: "x"),
    .invalidPasscode(left: nil), .invalidPasscode(left: 1), .invalidPasscode(left: 7), .locked,
    .outOfMemory,
    .passcodeRequired, .underMinLength(minimum: 8), .deleted, .retryLimitReached(erased: true),
    .retryLimitReached(erased: false), .throttled(seconds: 3),
    .policyDenies(key: "AllowNoPasscode"),
    .invalidAction(action: "a", reason: "b"), .cancelled, .notPermitted(.notYours),
    .notPermitted(.ownerChanged),
    .notPermitted(.rootOnly), .serviceUnavailable(reason: "r"), .storeDamaged(what: "w"),
    .tooLarge(limit: 9),
    .protocolError, .busy, .noMatch, .sameAsCurrent, .recoveryKeyInvalid(reason: "r"),
    .policyBroken(file: "f", line: 1, key: "k", wrong: "w", right: "r"),
    .storageFailed(during: "d", reason: "r"),
]

@Test(
    "a refusal is one line of lower case without a full stop, and survives the wire",
    arguments: refusals)
func refusalsAreWorded(_ refusal: Refusal) throws {
    let message = refusal.message
    #expect(!message.isEmpty)
    #expect(message.first == message.lowercased().first)
    #expect(message.last != ".")
    #expect(refusal.hint.last != ".")
    var frame: [UInt8] = []
    refusal.body.write(to: &frame)
    var reader = Reader()
    let back = try Refused(&reader, frame.span)
    #expect(back == refusal.body)
    #expect(back.code == refusal.code.rawValue)
}

@Test("no refusal becomes success or is ignored by PAM", arguments: refusals)
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
            "--deadline: session, transaction or idle = 1 to 60 seconds"
        ),
        (
            ["--deadline", "session=0"],
            "--deadline: session, transaction or idle = 1 to 60 seconds"
        ),
        (["--deadline", "login=5"], "--deadline: session, transaction or idle = 1 to 60 seconds"),
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
