import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Fingers enrolled, tried, deleted, turned on and off. What adds or removes one needs the passcode, typed in the same
/// exchange.
extension Service {
    func enroll(_ request: FingerRequest, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let finger = request.finger == .unnamed ? Finger.rightIndex : request.finger
        return try await enroll(
            finger, Target(subject: request.subject, store: request.store), exchange)
    }

    private func enroll(
        _ finger: Finger, _ target: Target, _ exchange: Exchange
    ) async throws(Interruption) -> Message {
        let visit = try await visit(target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        await lookForReaders(visit.policy)
        try requireMayEnroll(visit)
        if let why = await noFinger(.enroll, visit) {
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        }
        guard visit.host.hasPasscode else { throw .refused(.doesNotExist(.passcode)) }
        let opening = try await admit(visit, .promptCurrent)
        return try await enroll(finger, try await renewed(visit), opening)
    }

    private func requireMayEnroll(_ visit: Visit) throws(Interruption) {
        guard visit.host.fingerprintIsOn else { return try require(.turnOnFingerprint, visit) }
        guard visit.policy.allowFingerprint else {
            throw .refused(.policyDenies(key: "AllowFingerprint"))
        }
    }

    /// The key is one that the passcode has just given.
    func enroll(
        _ finger: Finger, _ visit: Visit, _ opening: Opening
    ) async throws(Interruption) -> Message {
        try requireMayEnroll(visit)
        if let why = await noFinger(.enroll, visit) {
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        }
        let (read, former) = try await readNewFinger(
            finger, of: visit.person, visit.policy, visit.exchange, beside: visit)
        return try await keep(read, visit, opening, former)
    }

    /// The reader's part: a finger that nobody keeps yet, and those that are enrolled beside it.
    func readNewFinger(
        _ finger: Finger, of person: Person, _ policy: Policy, _ exchange: Exchange,
        beside visit: Visit?
    ) async throws(Interruption) -> (EnrolledFinger, former: [EnrolledFinger]) {
        let run = FingerRun()
        do { try await fingerSeat.take(run, of: visit?.host.id) } catch {
            throw .refused(.fingerprintUnavailable(.busy))
        }
        var enrolled: [EnrolledFinger] = []
        if let visit { enrolled = await enrolledFingers(visit) }
        let target: FingerTarget
        switch await fingerTarget(.enroll, enrolled, policy) {
        case .refused(let why):
            fingerSeat.leave()
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        case .found(let found): target = found
        }
        let reader = target.reader
        guard reader.identifies || target.fingers.allSatisfy({ $0.finger == finger.rawValue })
        else {
            fingerSeat.leave()
            throw .refused(.fingerprintUnavailable(.oneFinger))
        }
        EventLoop.shared.task {
            let end = await self.fingerprints.enroll(at: reader.choice, run)
            if case .enrolled(let print) = end, run.isOver {
                // Nobody waits for it: it must not stay on the chip.
                if reader.stores { self.forgetOnChips([Self.enrolled(finger, reader, print)]) }
            } else {
                run.finish(end)
                await run.settled()
            }
            self.fingerSeat.leave()
        }
        defer { run.settle() }
        // Whoever comes in front of the reader meanwhile enrols no finger for this person.
        func isStillHere() async -> Bool {
            await isAtReader(person, policy, exchange.caller)
        }
        watchOver(run) { await isStillHere() }
        let hello = exchange.caller.hello
        let place: Message =
            switch hello.frontEnd {
            case .terminal, .program: .fingerEnrollPlace(finger)
            case .pamAuth, .pamPassword, .pamSession:
                FingerTurn.isAtDisplay(hello.service, tty: hello.tty)
                    ? .fingerEnrollPlace(finger) : .fingerEnrollPlaceEnter(finger)
            }
        let patience = Patience(seconds: options.deadlines.touch) { run.stop(.nobody) }
        defer { patience.end() }
        let end = try await exchange.follow(run) {
            patience.begin()
            return Self.words($0, place: place)
        }
        switch end {
        case .enrolled(let print):
            let read = Self.enrolled(finger, reader, print)
            guard await isStillHere() else {
                if read.isOnChip { forgetOnChips([read]) }
                throw .refused(.fingerprintUnavailable(.stopped))
            }
            return (read, enrolled)
        case .stopped(.person): throw .refused(.cancelled)
        case .stopped(.nobody): throw .refused(.fingerprintUnavailable(.noFinger))
        case .stopped: throw .refused(.fingerprintUnavailable(.stopped))
        case .failed(let fault):
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(fault)))
        case .lost, .matched, .noMatch: throw .refused(.fingerprintUnavailable(.worker))
        }
    }

    private static func enrolled(
        _ finger: Finger, _ reader: FingerprintReader, _ print: SecretBox
    ) -> EnrolledFinger {
        EnrolledFinger(
            finger: finger.rawValue, enrolledAt: Clock.wallSeconds(), reader: reader.id,
            port: reader.port, readerName: reader.name, isOnChip: reader.stores, print: print)
    }

    private func keep(
        _ finger: EnrolledFinger, _ visit: Visit, _ opening: Opening, _ former: [EnrolledFinger]
    ) async throws(Interruption) -> Message {
        let present = try await renewed(visit)
        do throws(Refusal) {
            guard present.policy.allowFingerprint, present.host.hasPasscode else {
                throw .policyDenies(key: "AllowFingerprint")
            }
            try await present.host.keepFinger(finger, opening.ground)
        } catch {
            if finger.isOnChip { forgetOnChips([finger]) }
            throw .refused(error)
        }
        let replaced = former.filter { $0.finger == finger.finger && $0.isOnChip }
        if !replaced.isEmpty { forgetOnChips(replaced) }
        await present.host.keepResident(opening.key, opening.ground, present.policy)
        auditChange("a finger was enrolled", present)
        return .fingerEnrolled(Finger(rawValue: finger.finger) ?? .unnamed)
    }

    // MARK: verify

    func verifyFinger(_ target: Target, _ exchange: Exchange) async throws(Interruption) -> Message
    {
        let visit = try await visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        let outcome = try await scanFinger(.verify, visit) { _ throws(Interruption) in }
        switch outcome {
        case .matched: return .fingerVerified
        case .notAsked(let why):
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        case .ended(let failure): throw .refused(Refusal(failure))
        }
    }

    // MARK: delete, on, off

    func deleteFinger(_ request: FingerRequest, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let target = Target(subject: request.subject, store: request.store)
        guard request.finger != .unnamed else { return try await switchOff(target, exchange) }
        let visit = try await visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        try require(.turnOffFingerprint, visit)
        let number = request.finger.rawValue
        let host = visit.host
        func found() async throws(Interruption) -> FingerFolder.Found {
            let found = try await refusingAsync { () async throws(Refusal) in
                try await host.enrolledFingers()
            }
            guard
                found.fingers.contains(where: { $0.finger == number })
                    || found.damaged.contains(number)
            else { throw .refused(.doesNotExist(.finger)) }
            return found
        }
        _ = try await found()
        _ = try await admit(visit, .promptCurrent)
        let present = try await found()
        let others = present.fingers.contains { $0.finger != number }
        try await refusingAsync { () async throws(Refusal) in
            if others {
                try await host.forgetFinger(number)
                // A scan that has read it before matches it no more.
                self.fingerSeat.withdraw(of: host.id)
                self.forgetOnChips(present.fingers.filter { $0.finger == number && $0.isOnChip })
            } else {
                try await host.turnFingerprintOff()
            }
        }
        auditChange("a finger was deleted", visit)
        return others ? .fingerDeleted(request.finger) : .fingerprintOff
    }

    func switchFinger(_ request: FingerSwitch, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let target = Target(subject: request.subject, store: request.store)
        guard request.on else { return try await switchOff(target, exchange) }
        // What turns it on is a first finger.
        let visit = try await visit(target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        await lookForReaders(visit.policy)
        try require(.turnOnFingerprint, visit)
        return try await enroll(.rightIndex, target, exchange)
    }

    private func switchOff(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let visit = try await visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        try require(.turnOffFingerprint, visit)
        _ = try await admit(visit, .promptCurrent)
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.turnFingerprintOff()
        }
        auditChange("the fingerprint was turned off", visit)
        return .fingerprintOff
    }

    // MARK: list

    func listFingers(_ target: Target, _ exchange: Exchange)
        async throws(Interruption) -> FingerprintState
    {
        let visit = try await visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        let host = visit.host
        var state = FingerprintState(on: host.fingerprintIsOn)
        let enrolled = try await refusingAsync { () async throws(Refusal) in
            try await host.enrolledFingers().fingers
        }
        let purpose: FingerPurpose = host.fingerprintIsOn ? .open : .enroll
        var why: NoFinger?
        var isAtReader = true
        if let found = await noFinger(purpose, visit) {
            why = found
            isAtReader = false
        }
        if case .refused(let found) = await fingerTarget(purpose, enrolled, visit.policy) {
            why = why ?? found
        }
        let readers = fingerprints.lastReaders
        state.ready = host.fingerprintIsOn && host.residentAge(visit.policy) == .good
        state.failuresLeft = UInt8(clamping: host.fingerFailuresLeft(visit.policy))
        if let why {
            state.unavailable = exchange.voice.bytes(Refusal.FingerprintReason(why).phrase)
        }
        state.readers = readers.map(\.device)
        state.fingers = enrolled.map { finger in
            FingerprintState.Enrolled(
                finger: Finger(rawValue: finger.finger) ?? .unnamed,
                reader: Text.clean(Text.clean(finger.readerName), limit: Limits.text),
                at: finger.enrolledAt,
                usable: readers.contains { $0.id == finger.reader && $0.port == finger.port })
        }
        state.keepsPassword = host.keepsKeyringPassword
        let run = FingerRun()
        if isAtReader, fingerSeat.takeIfFree(run, of: host.id) {
            state.foreign = await foreignPrints(readers, run)
            fingerSeat.leave()
        }
        return state
    }

    /// Prints on chips that are no store's of ours.
    private func foreignPrints(_ readers: [FingerprintReader], _ run: FingerRun) async -> UInt16 {
        var foreign = 0
        for reader in readers where reader.stores && run.stop == nil {
            var ours: [SecretBox] = []
            for host in vault.all where host.fingerprintIsOn {
                let found = (try? await host.enrolledFingers())?.fingers ?? []
                ours += found.filter { $0.isOnChip && $0.reader == reader.id }.map(\.print)
            }
            guard ours.count <= 4 * FingerprintLink.templatesMost else { continue }
            var known: Set<Int> = []
            var count = 0
            var rest = ours[...]
            repeat {
                let some = Array(rest.prefix(FingerprintLink.templatesMost))
                rest = rest.dropFirst(some.count)
                guard let stored = try? await fingerprints.stored(some, at: reader.choice, run)
                else { break }
                count = stored.count
                known.formUnion(stored.indices.filter { stored[$0].given > 0 })
            } while !rest.isEmpty
            foreign += max(0, count - known.count)
        }
        return UInt16(clamping: foreign)
    }
}

extension FingerprintReader {
    var device: FingerprintState.Device {
        FingerprintState.Device(
            name: Text.clean(Text.clean(name), limit: Limits.text),
            driver: Text.clean(Text.clean(driver), limit: Limits.text),
            scan: scan, stages: stages, identifies: identifies,
            stores: stores, isInternal: isInternal,
            port: Text.clean(Text.clean(port), limit: Limits.text))
    }
}

extension Refusal {
    /// For whoever asked for nothing but the finger.
    init(_ failure: FingerFailure) {
        self =
            switch failure {
            case .cancelled: .cancelled
            case .timedOut: .fingerprintUnavailable(.noFinger)
            case .noMatch(let left): .fingerprintNoMatch(left: left)
            case .stopped: .fingerprintUnavailable(.stopped)
            case .trouble(let why): .fingerprintUnavailable(why)
            }
    }
}
