import Testing
import Wire

@testable import Client

struct ExitStatusTests {
    static let particular: [Code: Client.ExitStatus] = [
        .invalidArgument: .usage, .doesNotExist: .missing, .deleted: .missing, .locked: .locked,
        .serviceUnavailable: .unavailable, .outOfMemory: .unavailable, .busy: .unavailable,
        .protocolError: .unavailable, .storageFailed: .unavailable, .fetchFailed: .unavailable,
        .storeDamaged: .damaged, .lockedByAdministrator: .locked, .wipedByAdministrator: .missing,
        .cancelled: .cancelled,
    ]

    @Test(
        "each code has its exit status, a plain refusal unless it says more",
        arguments: Code.allCases)
    func status(code: Code) {
        #expect(code.exitStatus == (ExitStatusTests.particular[code] ?? .refused))
        #expect(code.exitStatus != .success)
    }

    @Test("each code has a name of its own, and words")
    func names() {
        #expect(Set(Code.allCases.map(\.name)).count == Code.allCases.count)
        for code in Code.allCases { #expect(!code.words.isEmpty) }
    }

    @Test("the daemon's words go before ours, and ours stand in where it has none")
    func words() {
        let bare = Refused(code: Code.locked.rawValue).complete(.english)
        #expect(bare.message == Array("the store is locked".utf8))
        #expect(bare.hint == Array("`appvault unlock` opens it".utf8))
        let told = Refused(.locked, "shut", hint: "wait").complete(.english)
        #expect(told.message == Array("shut".utf8))
        #expect(told.hint == Array("wait".utf8))
    }

    @Test("a number that only a newer daemon knows keeps it, and is a refusal")
    func unknown() {
        let refused = Refused(code: 999)
        #expect(refused.known == .unknown)
        #expect(refused.exitStatus == .refused)
        #expect(refused.complete(.english).code == 999)
    }

    @Test("what happens on our side has a code as well")
    func ours() {
        #expect(ClientError.unavailable(.silent).refusal.known == .serviceUnavailable)
        #expect(ClientError.unavailable(.stranger(uid: 7)).refusal.exitStatus == .unavailable)
        #expect(ClientError.protocolBroken(.wrongTag).refusal.known == .protocolError)
    }
}
