import Testing

@testable import VaultService

@Test(
    "the command line is taken as written or refused with a reason",
    arguments: [
        (["--socket"], "--socket: a path is missing"), (["--frob"], "--frob: no such option"),
        (
            ["--deadline", "session=61"],
            "--deadline: session, transaction, idle, touch or fetch = 1 to 60 seconds"
        ),
        (
            ["--deadline", "session=0"],
            "--deadline: session, transaction, idle, touch or fetch = 1 to 60 seconds"
        ),
        (
            ["--deadline", "login=5"],
            "--deadline: session, transaction, idle, touch or fetch = 1 to 60 seconds"
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
