import Glibc
import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import WorkerLinks

@testable import VaultService

/// A worker that accepts every connection and never answers.
@LoopActor
private final class SilentWorker {
    private var held: [Channel] = []
    private(set) var most = 0
    private(set) var all = 0
    private let listener: Channel

    init(at path: String) throws(PosixError) {
        listener = try Channel(owning: try ListeningSocket.make(at: path, mode: 0o600))
    }

    func serve() async {
        while await listener.readable(until: nil) == .ready {
            guard case .connection(let number) = listener.accept(),
                let channel = try? Channel(owning: FileDescriptor(owning: number))
            else { continue }
            all += 1
            // The kernel is asked: this worker's own tasks learn later that a peer has left.
            held.removeAll { $0.hasHungUp }
            held.append(channel)
            most = max(most, held.count)
            EventLoop.shared.task { await self.hold(channel) }
        }
    }

    private func hold(_ channel: Channel) async {
        var isThere = true
        while isThere, await channel.readable(until: nil) == .ready {
            // SAFETY: what comes is only counted.
            isThere = unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { room in
                switch unsafe channel.read(into: room) {
                case .bytes, .wouldBlock: true
                case .ended, .failed: false
                }
            }
        }
        channel.close()
    }

    func close() { listener.close() }
}

@LoopActor
private final class Tally {
    var findings: [Finding] = []
}

/// Waits for the condition. Only a test that fails reaches the bound.
@LoopActor
private func reached(_ condition: @LoopActor () -> Bool) async {
    // The loop is shared with every other test: this only ends what would hang.
    let end = Clock.bootMilliseconds() + 600_000
    while !condition(), Clock.bootMilliseconds() < end {
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 2)
    }
}

private func typed() -> TypedPasscode? {
    guard let secret = try? SecretBytes(count: 8) else { return nil }
    return try? TypedPasscode(secret)
}

private let one = [RuleQuestion.Rule(kind: .matches, pattern: [0x61])]

@Suite struct RuleWorkerTests {
    @Test("four candidates at once, the others wait their second, and all are unmet")
    func atOnce() async throws {
        let path = "/tmp/appvault-rules-test-\(ThisProcess.pid)"
        // SAFETY: a path of our own, NUL-terminated by the bridge.
        defer { unsafe unlink(path) }
        let seen = await TestLoop.run { () -> (most: Int, findings: [Finding])? in
            guard let silent = try? SilentWorker(at: path) else { return nil }
            EventLoop.shared.task { await silent.serve() }
            let worker = RuleWorker(path: path) { _ in }
            let tally = Tally()
            for uid in 0..<12 as Range<UInt32> {
                EventLoop.shared.task {
                    guard let candidate = typed() else { return }
                    tally.findings += await worker.judge(
                        candidate, asking: one, for: RuleAsker(isTrusted: true, uid: uid))
                }
            }
            // The loop is shared with every other test, so the time that this takes means nothing.
            while tally.findings.count < 12 {
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 5)
            }
            silent.close()
            return (silent.most, tally.findings)
        }
        let found = try #require(seen)
        #expect(found.most == 4)
        #expect(found.findings.count == 12)
        #expect(found.findings.contains(.unmetBecause(.cannotRun(.tooSlow))))
        for finding in found.findings {
            #expect(
                finding == .unmetBecause(.cannotRun(.tooSlow))
                    || finding == .unmetBecause(.cannotRun(.crowded)))
        }
    }

    @Test("whoever has many candidates has one place; who comes meanwhile has another at once")
    func oneEach() async throws {
        let path = "/tmp/appvault-rules-each-\(ThisProcess.pid)"
        // SAFETY: a path of our own, NUL-terminated by the bridge.
        defer { unsafe unlink(path) }
        let seen = await TestLoop.run {
            () -> (many: [Finding], others: [Finding], alone: Int, most: Int)? in
            guard let silent = try? SilentWorker(at: path) else { return nil }
            EventLoop.shared.task { await silent.serve() }
            let worker = RuleWorker(path: path) { _ in }
            let many = Tally()
            let others = Tally()
            func judge(_ asker: RuleAsker, _ tally: Tally) {
                EventLoop.shared.task {
                    guard let candidate = typed() else { return }
                    tally.findings += await worker.judge(
                        candidate, asking: one, for: asker)
                }
            }
            for _ in 0..<16 { judge(RuleAsker(isTrusted: false, uid: 1000), many) }
            await reached { many.findings.count == 16 }
            let alone = silent.most
            for _ in 0..<16 { judge(RuleAsker(isTrusted: false, uid: 1000), many) }
            // The person's own login, root, somebody else.
            judge(RuleAsker(isTrusted: true, uid: 1000), others)
            judge(RuleAsker(isTrusted: true, uid: 0), others)
            judge(RuleAsker(isTrusted: false, uid: 1001), others)
            await reached { many.findings.count == 32 && others.findings.count == 3 }
            silent.close()
            return (many.findings, others.findings, alone, silent.most)
        }
        let found = try #require(seen)
        // They had their second with the worker, and did not wait for a place.
        let judged = Finding.unmetBecause(.cannotRun(.tooSlow))
        #expect(found.others == [judged, judged, judged])
        #expect(found.alone == 1)
        #expect(found.most <= 4)
        #expect(found.many.count == 32)
        // How many of them get the place within their second depends on who runs when.
        let busy = Finding.unmetBecause(.cannotRun(.busy))
        #expect(found.many.contains(busy))
        #expect(found.many.allSatisfy { $0 == busy || $0 == judged })
    }

    @Test("as many rules as hold for one person fit into one question")
    func fits() {
        #expect(CustomRule.mostForOne == RuleLink.rules)
    }

    @Test("a question that would not fit is not asked")
    func tooMuch() async throws {
        let findings = await TestLoop.run { () -> [[Finding]] in
            let worker = RuleWorker(path: "/tmp/appvault-rules-none") { _ in }
            var findings: [[Finding]] = []
            let long = RuleQuestion.Rule(
                kind: .matches, pattern: [UInt8](repeating: 0x61, count: RuleLink.pattern + 1))
            for rules in [
                one, one + [long], [RuleQuestion.Rule](repeating: one[0], count: 256), [],
            ] {
                guard let candidate = typed() else { return [] }
                findings.append(
                    await worker.judge(
                        candidate, asking: rules, for: RuleAsker(isTrusted: true, uid: 1)))
            }
            return findings
        }
        #expect(findings.map(\.count) == [1, 2, 256, 0])
        #expect(findings[0] == [.unmetBecause(.cannotRun(.noWorker))])
        for each in findings[1...2] {
            #expect(each[0] == .unmetBecause(.cannotRun(.pattern)))
            for rest in each.dropFirst() {
                #expect(rest == .unmetBecause(.cannotRun(.notReached)))
            }
        }
    }
}
