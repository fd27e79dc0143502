import Posix
import Wire
import Words
import WorkerLinks

/// A scan as the person sees it.
extension Exchange {
    /// More lines than a person has patience for, and fewer than a module accepts.
    private static let mostLines = 40

    /// Shows what the reader reports until the scan has ended. The person may end it at any time.
    /// The front end learns of the scan by the line that asks for the finger; if there was no such
    /// line, it is told nothing.
    func follow(
        _ run: FingerRun, _ words: (FingerRun.Step) -> Message?
    ) async throws(Interruption) -> FingerEnd {
        let question = newScan()
        let ears = First<ConnectionEnd?>()
        EventLoop.shared.task { ears.settle(await self.listen(question, run)) }
        var failure: ConnectionEnd?
        var end: FingerEnd?
        var told = 0
        var stage: UInt8 = 0
        while end == nil {
            let step = await run.next()
            guard case .ended(let found) = step else {
                guard failure == nil, step.stage > stage || told < Self.mostLines else { continue }
                stage = max(stage, step.stage)
                do throws(ConnectionEnd) {
                    if told == 0, let place = step.forgottenPlace {
                        try await tell(place, question, words(place))
                    }
                    told += 1
                    try await tell(step, question, words(step))
                } catch {
                    failure = error
                    run.stop(.gone)
                }
                continue
            }
            end = found
        }
        connection.wakeReader()
        if let gone = await ears.value() { failure = failure ?? gone }
        if let failure { throw .gone(failure) }
        if told > 0 {
            var ended = Scan(question: question, event: .ended, line: Line())
            if let end, let message = words(.ended(end)) { ended.line = voice.line(message) }
            do throws(ConnectionEnd) {
                try await connection.send(ended, .scan, tag: tag)
            } catch {
                throw .gone(error)
            }
        }
        guard let end else { throw .refused(.unknown) }
        return end
    }

    private func tell(
        _ step: FingerRun.Step, _ question: UInt32, _ message: Message?
    ) async throws(ConnectionEnd) {
        var scan = Scan(question: question, event: .retry)
        switch step {
        case .heard(let heard):
            switch heard.event {
            case .place: scan.event = .place
            case .stage: scan.event = .stage
            case .retry: scan.event = .retry
            }
            scan.stage = heard.stage
            scan.stages = heard.stages
        case .noMatch: scan.event = .retry
        case .ended: return
        }
        if let message { scan.line = voice.line(message) }
        // The person acts next, so the time for *working* starts again, as after an answer.
        connection.workingSince = Clock.bootMilliseconds()
        try await connection.send(scan, .scan, tag: tag)
    }

    /// Reads from the front end while the scan goes on. It may only say that the person goes on
    /// without the scan.
    private func listen(_ question: UInt32, _ run: FingerRun) async -> ConnectionEnd? {
        while !run.isOver {
            let request: (UInt32, Request)
            do throws(ConnectionEnd) {
                request = try await connection.receive(limit: Limits.smallFrame, until: nil) {
                    (header, body) throws(WireError) in
                    (header.tag, try Request.decode(header, body))
                }
            } catch {
                if error == .timedOut { continue }
                run.stop(.gone)
                return error
            }
            guard request.0 == tag, case .abort(let abort) = request.1 else {
                run.stop(.gone)
                return .notUnderstood(.unknownValue)
            }
            // An abort that crossed with the end of an earlier scan is ignored.
            if abort.question == question { run.stop(.person) }
        }
        return nil
    }
}

extension FingerRun.Step {
    fileprivate var stage: UInt8 {
        guard case .heard(let scan) = self else { return 0 }
        return scan.stage
    }

    /// The `place` step, for a worker that left it out: the front end needs it first.
    fileprivate var forgottenPlace: FingerRun.Step? {
        switch self {
        case .heard(let scan):
            guard scan.event != .place else { return nil }
            return .heard(
                FingerprintScan(
                    nonce: scan.nonce, event: .place, stage: 0, stages: scan.stages, retry: .none))
        case .noMatch:
            return .heard(
                FingerprintScan(nonce: [], event: .place, stage: 0, stages: 0, retry: .none))
        case .ended: return nil
        }
    }
}
