import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Has appvault-rules judge a candidate by the administrator's own rules. The worker is a new
/// process for each candidate; it may hang, crash or lie. Whatever it does, a rule without a good
/// answer is unmet.
@LoopActor
package final class RuleWorker {
    private let path: String
    /// Writes to the journal what an administrator wants to know.
    private let noteFault: (String) -> Void
    /// A candidate holds a place for a second at most.
    private let gate = Gate(width: 4, ownLimit: 64, apartLimit: 16)
    /// In front of the gate: each asker has one candidate at a time.
    private var lines: [RuleAsker: Gate] = [:]
    private var notedAt: UInt64?

    package init(path: String, noteFault: @escaping (String) -> Void) {
        self.path = path
        self.noteFault = noteFault
    }

    package enum Journaling {
        case faults
        /// No passcode depends on the answer.
        case nothing
    }

    package func judge(
        _ candidate: TypedPasscode, _ rules: [CustomRule], for asker: RuleAsker,
        kind: Gate.Class? = nil
    ) async -> [Finding] {
        await judge(candidate, asking: rules.map(\.asked), for: asker, kind: kind)
    }

    /// One finding for each rule, in their order; no rules, no connection. `kind` is for whoever only
    /// wants to know: those who set a passcode go first.
    package func judge(
        _ candidate: TypedPasscode, asking rules: [RuleQuestion.Rule], for asker: RuleAsker,
        kind: Gate.Class? = nil, _ journal: Journaling = .faults
    ) async -> [Finding] {
        guard !rules.isEmpty else { return [] }
        let end = Clock.bootMilliseconds() + RuleLink.wait
        let line = lines[asker] ?? Gate(width: 1, ownLimit: 16, apartLimit: 0)
        lines[asker] = line
        defer { if line.isIdle, lines[asker] === line { lines[asker] = nil } }
        do throws(Refusal) { try await line.enter(.own, until: end) } catch {
            return rules.map { _ in .unmetBecause(.cannotRun(.busy)) }
        }
        defer { line.leave() }
        do throws(Refusal) {
            try await gate.enter(kind ?? asker.kind, of: asker.uid, until: end)
        } catch {
            return rules.map { _ in .unmetBecause(.cannotRun(.crowded)) }
        }
        defer { gate.leave() }
        let nonce = (try? Random.bytes(RuleLink.nonce)) ?? []
        var answers = RuleAnswers(rules, nonce: nonce)
        let fault = await ask(candidate, RuleQuestion(nonce: nonce, rules: rules), &answers)
        switch (answers.state, journal) {
        case (.complete, _), (_, .nothing): break
        case (.nonsense, .faults): note(.nonsense)
        case (.more, .faults): note(fault)
        }
        return answers.findings(fault: fault)
    }

    /// For a caller that does not wait. The question is sent before this returns, or not at all.
    /// `then` gets the findings whenever they come.
    package func judgeAside(
        _ candidate: TypedPasscode, _ rules: [CustomRule],
        _ then: @escaping @LoopActor @Sendable ([Finding]) -> Void
    ) {
        let asked = rules.map(\.asked)
        guard !asked.isEmpty, gate.enterAtOnce(leaving: 2) else { return }
        let nonce = (try? Random.bytes(RuleLink.nonce)) ?? []
        guard
            let channel = sendAtOnce(candidate, RuleQuestion(nonce: nonce, rules: asked))
        else { return gate.leave() }
        let deadline = Clock.bootMilliseconds() + RuleLink.wait
        EventLoop.shared.task {
            var answers = RuleAnswers(asked, nonce: nonce)
            let fault = await self.read(channel, &answers, until: deadline)
            channel.close()
            self.gate.leave()
            then(answers.findings(fault: fault))
        }
    }

    private func sendAtOnce(_ candidate: TypedPasscode, _ question: RuleQuestion) -> Channel? {
        guard Self.isAskable(question) else { return nil }
        let frame = Self.frame(question, candidate)
        guard case .connected(let channel) = connectAtOnce() else { return nil }
        switch frame.withBytes({ channel.write($0) }) {
        case .bytes(frame.count): return channel
        case .bytes, .wouldBlock, .ended, .failed:
            channel.close()
            return nil
        }
    }

    private static func isAskable(_ question: RuleQuestion) -> Bool {
        question.nonce.count == RuleLink.nonce && question.rules.count <= RuleLink.rules
            && question.rules.allSatisfy { $0.pattern.count <= RuleLink.pattern }
    }

    /// Why no further answer came.
    private func ask(
        _ candidate: TypedPasscode, _ question: RuleQuestion, _ answers: inout RuleAnswers
    ) async -> RuleFault {
        let deadline = Clock.bootMilliseconds() + RuleLink.wait
        guard Self.isAskable(question) else { return .pattern }
        let frame = Self.frame(question, candidate)
        let channel: Channel
        switch await connect(until: deadline) {
        case .connected(let made): channel = made
        case .failed(let fault): return fault
        }
        defer { channel.close() }
        guard await send(frame, on: channel, until: deadline) else {
            return Self.fault(at: deadline)
        }
        return await read(channel, &answers, until: deadline)
    }

    /// Why no further answer came.
    private func read(
        _ channel: Channel, _ answers: inout RuleAnswers, until deadline: UInt64
    ) async -> RuleFault {
        while answers.state == .more {
            guard await channel.readable(until: deadline) == .ready,
                Self.read(channel, &answers)
            else { return Self.fault(at: deadline) }
        }
        return .nonsense
    }

    private enum Connected {
        case connected(Channel)
        case failed(RuleFault)
    }

    /// Nil if the worker's queue of connections is full.
    private func connectAtOnce() -> Connected? {
        do throws(PosixError) {
            let socket = try OutgoingSocket.connect(to: path)
            // The peer receives a passcode, so it must be systemd's socket or our own worker.
            let peer = try PeerCredentials.of(socket.raw)
            guard peer.uid == 0 || peer.uid == ThisProcess.uid else { return .failed(.noWorker) }
            return .connected(try Channel(owning: socket))
        } catch {
            return error.isTimeout ? nil : .failed(.noWorker)
        }
    }

    private func connect(until deadline: UInt64) async -> Connected {
        while true {
            if let connected = connectAtOnce() { return connected }
            let next = Clock.bootMilliseconds() + 10
            guard next < deadline else { return .failed(.crowded) }
            await EventLoop.sleep(until: next)
        }
    }

    private func send(_ frame: WipedBuffer, on channel: Channel, until deadline: UInt64) async
        -> Bool
    {
        var sent = 0
        while sent < frame.count {
            switch frame.withBytes({ bytes in channel.write(bytes.extracting(sent...)) }) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                guard await channel.writable(until: deadline) == .ready else { return false }
            case .ended, .failed: return false
            }
        }
        return true
    }

    /// False if the worker has ended.
    private static func read(_ channel: Channel, _ answers: inout RuleAnswers) -> Bool {
        // SAFETY: the channel reports how many bytes of the room it has filled.
        unsafe withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 1) { room in
            switch unsafe channel.read(into: room) {
            case .bytes(let count):
                unsafe answers.take(
                    UnsafeRawBufferPointer(rebasing: room[..<count]).bindMemory(to: UInt8.self).span
                )
                return true
            case .wouldBlock: return true
            case .ended, .failed: return false
            }
        }
    }

    private static func frame(_ question: RuleQuestion, _ candidate: TypedPasscode) -> WipedBuffer {
        let buffer = WipedBuffer(
            capacity: FrameHeader.size + RuleLink.questionFrame)
        candidate.withNormal { secret in
            secret.withBytes { bytes in
                var sink = BufferSink(buffer)
                Frame.write(
                    question, type: RuleLink.question, tag: 0, payload: bytes, to: &sink)
            }
        }
        return buffer
    }

    /// The worker's own limit of a second ends a moment before or after ours.
    private static func fault(at deadline: UInt64) -> RuleFault {
        Clock.bootMilliseconds() + 100 < deadline ? .ended : .tooSlow
    }

    /// Notes that a rule could not be run. Anybody can make that happen, so not more often than
    /// every ten seconds.
    private func note(_ fault: RuleFault) {
        let now = Clock.bootMilliseconds()
        if let notedAt, now - notedAt < 10_000 { return }
        notedAt = now
        noteFault("a rule could not be run, the passcode is refused: \(fault)")
    }
}

extension CustomRule {
    fileprivate var asked: RuleQuestion.Rule {
        switch test {
        case .matches(let pattern): RuleQuestion.Rule(kind: .matches, pattern: Array(pattern.utf8))
        case .rejects(let pattern): RuleQuestion.Rule(kind: .rejects, pattern: Array(pattern.utf8))
        case .dictionary: RuleQuestion.Rule(kind: .dictionary, pattern: [])
        }
    }
}
