import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// One touch says whose store it is, among stores that have agreed to that. It is a try at each of
/// them, under the same rules as a touch that opens one store: nobody gets a try more by it.
extension FingerScans {
    /// A store, and those of its fingers that the reader can recognise.
    private struct Candidate: Sendable {
        let visit: Visit
        let fingers: [EnrolledFinger]
        /// How often its owner had left when the finger was asked for.
        let departures: UInt64
    }

    /// The visit whose finger it was, after `opening`; nil where none was asked for, or none has matched.
    func scanWho(
        _ visits: [Visit],
        opening: (Visit, Opening) async throws(Interruption) -> Void
    ) async throws(Interruption) -> Visit? {
        var allowed: [Visit] = []
        for visit in visits where await readers.noFinger(.open, visit) == nil {
            allowed.append(visit)
        }
        guard allowed.count > 1, let first = allowed.first else { return nil }
        let exchange = first.exchange
        let run = FingerRun()
        do { try await readers.fingerSeat.take(run, of: nil) } catch { return nil }
        guard let (reader, candidates) = await candidates(allowed) else {
            readers.fingerSeat.leave()
            return nil
        }
        let end = Clock.bootMilliseconds() + whoSeconds * 1000
        EventLoop.shared.task {
            await self.identify(candidates, at: reader, run, until: end)
            self.readers.fingerSeat.leave()
        }
        defer { run.settle() }
        lookout.watchOver(run) { await self.readers.absence(first) == nil }
        var place: Message? = .peopleFinger
        let followed = try await exchange.follow(run) { step in
            defer { if case .heard = step { place = nil } }
            return step.message(place: place, reader.scan)
        }
        switch followed {
        case .matched(let index):
            guard let (candidate, finger) = Self.owner(of: index, candidates) else { return nil }
            return try await opened(candidate, finger, run, opening)
        case .noMatch:
            let left = candidates.map { $0.visit.host.fingerFailuresLeft($0.visit.policy) }.min()
            try await exchange.say(.fingerNoMatch(left: left ?? 0), .error)
            return nil
        case .failed(.timedOut), .failed(.busy), .failed(.cancelled), .stopped, .enrolled:
            return nil
        case .failed(let fault):
            _ = try await trouble(Refusal.FingerprintReason(fault), first)
            return nil
        case .lost:
            _ = try await trouble(.worker, first)
            return nil
        }
    }

    /// At one reader that tells several prints apart, and no more of them than it compares at once.
    private func candidates(_ visits: [Visit]) async -> (FingerprintReader, [Candidate])? {
        var reader: FingerprintReader?
        var found: [Candidate] = []
        for visit in visits {
            let departures = visit.host.departures
            guard
                case .found(let target) = await readers.fingerTarget(
                    .open, await readers.enrolledFingers(visit), visit.policy),
                target.reader.identifies, reader == nil || reader?.choice == target.reader.choice
            else { continue }
            reader = target.reader
            found.append(
                Candidate(visit: visit, fingers: target.fingers, departures: departures))
        }
        let prints = found.reduce(0) { $0 + $1.fingers.count }
        guard let reader, found.count > 1, prints <= FingerprintLink.templatesMost else {
            return nil
        }
        return (reader, found)
    }

    /// Whose print has this place among all that were sent; a worker may say anything.
    private static func owner(
        of index: Int, _ candidates: [Candidate]
    ) -> (Candidate, EnrolledFinger)? {
        var rest = index
        guard rest >= 0 else { return nil }
        for candidate in candidates {
            if rest < candidate.fingers.count { return (candidate, candidate.fingers[rest]) }
            rest -= candidate.fingers.count
        }
        return nil
    }

    /// It counts only if the store still holds this print, has agreed, and may be opened by it.
    private func opened(
        _ candidate: Candidate, _ finger: EnrolledFinger, _ run: FingerRun,
        _ opening: (Visit, Opening) async throws(Interruption) -> Void
    ) async throws(Interruption) -> Visit? {
        let visit = candidate.visit
        let host = visit.host
        guard host.departures == candidate.departures, host.isUsable,
            await readers.enrolledFingers(visit).contains(where: { $0.isSame(as: finger) }),
            host.fingersTellWho
        else { return nil }
        let outcome = try await matched(.open, visit, run) { key throws(Interruption) in
            try await opening(visit, key)
        }
        if case .matched = outcome { return visit }
        return nil
    }

    /// As a scan for one store, with a failure counted for each before a touch.
    private func identify(
        _ candidates: [Candidate], at reader: FingerprintReader, _ run: FingerRun,
        until end: UInt64
    ) async {
        let hosts = candidates.map(\.visit.host)
        let prints = candidates.flatMap(\.fingers).map(\.print)
        for round in 1...Self.rounds {
            let now = Clock.bootMilliseconds()
            guard !run.isOver, end > now + 500 else { return run.finish(.failed(.timedOut)) }
            var counted: [StoreHost] = []
            for host in hosts {
                do { try await host.countFingerFailure() } catch {
                    await giveBack(counted)
                    return run.finish(.failed(.general))
                }
                counted.append(host)
            }
            let found = await readers.fingerprints.match(
                prints, at: reader.choice, seconds: UInt8(clamping: (end - now + 999) / 1000), run)
            switch found {
            case .matched(let index):
                guard let owner = Self.owner(of: index, candidates)?.0.visit.host else {
                    for candidate in candidates { _ = noteNoMatch(candidate.visit) }
                    return run.finish(.lost(.nonsense))
                }
                await giveBack(hosts.filter { $0 !== owner })
                if !run.isOver {
                    run.finish(found)
                    await run.settled()
                }
                if !run.isAccepted { await giveBack([owner]) }
                return
            case .failed, .lost(.missing):
                await giveBack(hosts)
                return run.finish(found)
            case .noMatch:
                let left = candidates.map { noteNoMatch($0.visit) }.min() ?? 0
                // Whoever has no more touches would have one among the others.
                guard left > 0, round < Self.rounds, !run.isOver else { return run.finish(found) }
                run.say(.noMatch(left: left))
            case .lost:
                for candidate in candidates { _ = noteNoMatch(candidate.visit) }
                return run.finish(found)
            case .enrolled, .stopped:
                await giveBack(hosts)
                return run.finish(.lost(.nonsense))
            }
        }
    }

    private func giveBack(_ hosts: [StoreHost]) async {
        for host in hosts { try? await host.giveBackFingerFailure() }
    }
}
