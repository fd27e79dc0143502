import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// The result of asking for a finger.
enum FingerOutcome: Sendable {
    /// An enrolled finger matched, and what it was asked for is done.
    case matched
    /// No finger was asked for: the passcode is asked for at once.
    case notAsked(NoFinger)
    /// A finger was asked for without success: the passcode comes next.
    case ended(FingerFailure)
}

enum FingerFailure: Equatable, Sendable {
    case cancelled
    case timedOut
    case noMatch(left: Int)
    /// Another request has the reader now, or the scan was withdrawn.
    case stopped
    case trouble(Refusal.FingerprintReason)
}

/// Decides whether a finger is asked for, and runs the scan.
@LoopActor
final class FingerScans {
    let desk: Desk
    let lookout: Lookout
    let readers: Readers
    /// How long a finger that is to say who is there is waited for.
    var whoSeconds: UInt64 = 30

    init(desk: Desk, lookout: Lookout, readers: Readers) {
        self.desk = desk
        self.lookout = lookout
        self.readers = readers
    }

    /// The most touches in one request.
    static let rounds = 3
    private static let fingerSeconds = 30
    private static let mostSeconds = 120
    /// At a display nobody can say that they would rather type: the question comes by itself.
    private static let displaySeconds = 8

    /// What comes where no finger matches, which the line about the reader says.
    enum Otherwise { case passcode, nothing }

    /// Asks for a finger and, on a match that opens the store, calls `opening` with the store key;
    /// otherwise returns why not. Only `.gone` and what `opening` throws end the exchange.
    func scanFinger(
        _ purpose: FingerPurpose, _ visit: Visit, otherwise: Otherwise = .passcode,
        isSwitchedOff: Bool = false, seconds: UInt8 = 0,
        opening: (Opening) async throws(Interruption) -> Void
    ) async throws(Interruption) -> FingerOutcome {
        if let why = await readers.noFinger(purpose, visit, isSwitchedOff: isSwitchedOff) {
            return .notAsked(why)
        }
        let departures = visit.host.departures
        let wait = Self.wait(seconds, atDisplay: Self.isDisplay(visit))
        // From here on where the person can only wait, and else from when the reader is known.
        var end = Clock.bootMilliseconds() + UInt64(wait) * 1000
        let run = FingerRun()
        do { try await readers.fingerSeat.take(run, of: visit.host.id) } catch {
            return .notAsked(.readerBusy)
        }
        let target: FingerTarget
        switch await readers.fingerTarget(
            purpose, await readers.enrolledFingers(visit), visit.policy)
        {
        case .refused(let why):
            readers.fingerSeat.leave()
            return .notAsked(why)
        case .found(let found): target = found
        }
        if !Self.isDisplay(visit) { end = Clock.bootMilliseconds() + UInt64(wait) * 1000 }
        EventLoop.shared.task { [end] in
            await self.match(target, visit, run, until: end)
            self.readers.fingerSeat.leave()
        }
        defer { run.settle() }
        lookout.watchOver(run) { await self.readers.absence(visit) == nil }
        // Nobody can press a key at a display, so a worker that hangs must not hold the person up.
        let patience: UInt64? =
            Self.isDisplay(visit)
            ? EventLoop.shared.at(end) { EventLoop.shared.task { run.stop(.nobody) } } : nil
        defer { if let patience { EventLoop.shared.cancel(patience) } }
        // Shown once: a second touch has its own line.
        let scan = target.reader.scan
        var place: Message? = placeMessage(otherwise, scan, visit, wait)
        let followed = try await visit.exchange.follow(run) { step in
            defer { if case .heard = step { place = nil } }
            if case .ended(let end) = step { return Self.lastWords(end, visit) }
            return step.message(place: place, scan)
        }
        switch followed {
        case .matched:
            // A locker asks on while the screen is being locked. What a program behind it has asked
            // for is not answered by whoever touches the reader then.
            guard visit.caller.isPAM || visit.host.departures == departures else {
                return .notAsked(.elsewhere)
            }
            return try await matched(purpose, visit, run, opening)
        case .noMatch:
            let left = visit.host.fingerFailuresLeft(visit.policy)
            try await visit.exchange.say(.fingerNoMatch(left: left), .error)
            return .ended(.noMatch(left: left))
        case .stopped(.person): return .ended(.cancelled)
        case .stopped(.nobody): return .ended(.timedOut)
        case .stopped: return .ended(.stopped)
        case .failed(.timedOut): return .ended(.timedOut)
        case .failed(.busy): return .notAsked(.readerBusy)
        case .failed(let fault): return try await trouble(Refusal.FingerprintReason(fault), visit)
        case .lost, .enrolled: return try await trouble(.worker, visit)
        }
    }

    func trouble(
        _ why: Refusal.FingerprintReason, _ visit: Visit
    ) async throws(Interruption) -> FingerOutcome {
        try await visit.exchange.say(.fingerUnavailable(why))
        return .ended(.trouble(why))
    }

    /// The match counts only if everything is still as it was when the finger was asked for.
    func matched(
        _ purpose: FingerPurpose, _ visit: Visit, _ run: FingerRun,
        _ opening: (Opening) async throws(Interruption) -> Void
    ) async throws(Interruption) -> FingerOutcome {
        let present = try await desk.renewed(visit)
        // The failure that was counted for this scan does not count here.
        let input = readers.fingerInput(purpose, present, isSwitchedOff: false, uncounted: 1)
        if let why = obstacleToFinger(of: input, present.inForce) { return .notAsked(why) }
        // Another person may have come in front of the reader and touched it.
        if let why = await readers.absence(present) { return .notAsked(why) }
        switch purpose {
        case .open:
            guard let resident = try? present.host.residentKey(present.policy) else {
                return .notAsked(.notYetOpened)
            }
            // Before it opens: with no failure left, what a finger opens goes as soon as it is looked at.
            try? await present.host.clearFingerFailures()
            try await opening(resident)
        case .verify, .enroll: try? await present.host.clearFingerFailures()
        }
        run.isAccepted = true
        desk.audit.note(
            .attempt, "a fingerprint matched", store: present.host.id.description,
            person: present.person, service: present.caller.hello.service,
            uid: present.caller.credentials.uid)
        return .matched
    }

    /// Takes one touch after the other and counts each before it is made. If the person cancels,
    /// this goes on in the background until the reader is free.
    private func match(
        _ target: FingerTarget, _ visit: Visit, _ run: FingerRun, until end: UInt64
    ) async {
        let host = visit.host
        // A reader that can compare with one print only gets one finger only.
        let fingers = target.reader.identifies ? target.fingers : Array(target.fingers.prefix(1))
        for round in 1...Self.rounds {
            let now = Clock.bootMilliseconds()
            guard !run.isOver, end > now + 500 else { return run.finish(.failed(.timedOut)) }
            do { try await host.countFingerFailure() } catch {
                return run.finish(.failed(.general))
            }
            let found = await readers.fingerprints.match(
                fingers.prefix(FingerprintLink.templatesMost).map(\.print),
                at: target.reader.choice, seconds: UInt8(clamping: (end - now + 999) / 1000), run)
            switch found {
            case .matched:
                if !run.isOver {
                    run.finish(found)
                    await run.settled()
                }
                // If the match was accepted, the count is cleared. Otherwise the match had no
                // effect, and the failure that was counted for it is given back.
                if !run.isAccepted { try? await host.giveBackFingerFailure() }
                return
            case .failed, .lost(.missing):
                try? await host.giveBackFingerFailure()
                return run.finish(found)
            case .noMatch:
                let left = noteNoMatch(visit)
                guard left > 0, round < Self.rounds, !run.isOver else { return run.finish(found) }
                run.say(.noMatch(left: left))
            case .lost:
                // It is unknown what the reader saw, so this counts as a failure.
                _ = noteNoMatch(visit)
                return run.finish(found)
            case .enrolled, .stopped: return run.finish(.lost(.nonsense))
            }
        }
    }

    func noteNoMatch(_ visit: Visit) -> Int {
        let left = visit.host.fingerFailuresLeft(visit.policy)
        if left == 0 { visit.host.wipeResident() }
        desk.audit.note(
            .attempt, "a fingerprint did not match", store: visit.host.id.description,
            person: visit.person, service: visit.caller.hello.service, code: .fingerprintNoMatch,
            uid: visit.caller.credentials.uid)
        return left
    }

    // MARK: words

    private func placeMessage(
        _ otherwise: Otherwise, _ scan: FingerprintReader.Scan, _ visit: Visit, _ wait: Int
    ) -> Message {
        switch otherwise {
        case .nothing: return .fingerprintPlace(scan)
        case .passcode: break
        }
        let service = visit.caller.hello.service
        return switch visit.caller.hello.frontEnd {
        case .terminal, .program, .device: .fingerPlace(scan, service: nil)
        case .dialog: .fingerPlaceOrType(scan)
        case .pamAuth, .pamPassword, .pamSession:
            Self.isDisplay(visit)
                ? .fingerPlaceOrWait(scan, service: service, seconds: wait)
                : .fingerPlace(scan, service: service)
        }
    }

    /// How many seconds the reader waits; 0: as many as usual.
    static func wait(_ asked: UInt8, atDisplay: Bool) -> Int {
        let wait = asked > 0 ? min(Int(asked), mostSeconds) : fingerSeconds
        return atDisplay ? min(wait, displaySeconds) : wait
    }

    private static func isDisplay(_ visit: Visit) -> Bool {
        visit.caller.isPAM
            && FingerTurn.isAtDisplay(visit.caller.hello.service, tty: visit.caller.hello.tty)
    }

    /// The last line, for a greeter only. A greeter leaves it on the screen, so it must be true
    /// until the next one. A locker may want a key pressed for each line.
    private static func lastWords(_ end: FingerEnd, _ visit: Visit) -> Message? {
        guard visit.caller.keepsLastLine else { return nil }
        return switch end {
        case .matched: .fingerVerified
        case .failed(.timedOut), .stopped(.nobody): .fingerWaitOver
        case .noMatch, .enrolled, .stopped, .failed, .lost: nil
        }
    }
}

extension FingerprintReader {
    var facts: FingerReader { FingerReader(id: id, port: port, isInternal: isInternal) }
}

extension Refusal.FingerprintReason {
    init(_ why: NoFinger) {
        self =
            switch why {
            case .option: .option
            case .remoteHost, .remoteSession: .remote
            case .elsewhere: .elsewhere
            case .unknownSession: .unknownSession
            case .lidShut: .lid
            case .notEnrolled: .notEnrolled
            case .policy: .policy
            case .policyUnknown: .policyUnknown
            case .externalReader: .external
            case .readerMoved: .moved
            case .flowDue: .due
            case .noReader: .noReader
            case .readerBusy: .busy
            case .workerMissing: .worker
            case .failuresReached: .failures
            case .passcodeEvery: .passcodeEvery
            case .notYetOpened: .notOpened
            case .retryLocked: .retryLocked
            }
    }

    init(_ fault: FingerprintFault) {
        self =
            switch fault {
            case .cancelled: .stopped
            case .timedOut: .noFinger
            case .noReader: .noReader
            case .busy: .busy
            case .removed: .removed
            case .notSupported: .notSupported
            case .storageFull: .full
            case .badTemplate, .notStored: .unknownPrint
            case .duplicate: .duplicate
            case .general: .fault
            case .tooHot: .hot
            }
    }
}

extension FingerRun.Step {
    /// The line that is shown for this step.
    func message(place: Message?, _ reader: FingerprintReader.Scan) -> Message? {
        switch self {
        case .heard(let scan):
            switch scan.event {
            case .place: place
            case .stage: .fingerStage(reader, scan.stage, of: scan.stages)
            case .retry: .fingerRetry(reader, scan.retry)
            }
        case .noMatch(let left): .fingerNoMatchAgain(left: left)
        case .ended: nil
        }
    }
}
