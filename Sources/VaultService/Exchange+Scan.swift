import Posix
import Wire

/// A scan as the person sees it.
extension Exchange {
    /// Shows what the reader says until the scan has ended; the person may end it at any time.
    func follow(
        _ run: FingerRun, _ words: (FingerRun.Step) -> Message?
    ) async throws(Interruption) -> FingerEnd {
        let question = newScan()
        let ears = First<ConnectionEnd?>()
        EventLoop.shared.task { ears.settle(await self.listen(question, run)) }
        var failure: ConnectionEnd?
        var end: FingerEnd?
        while end == nil {
            let step = await run.next()
            guard case .ended(let found) = step else {
                guard failure == nil else { continue }
                do throws(ConnectionEnd) {
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
        let ended = Scan(question: question, event: .ended, line: Line())
        do throws(ConnectionEnd) {
            try await connection.send(ended, .scan, tag: tag)
        } catch {
            throw .gone(error)
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
        try await connection.send(scan, .scan, tag: tag)
    }

    /// While the scan goes on, the front end may only say that the person goes on without it.
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
            // One that crossed with the end of an earlier scan is no answer to anything.
            if abort.question == question { run.stop(.person) }
        }
        return nil
    }
}
