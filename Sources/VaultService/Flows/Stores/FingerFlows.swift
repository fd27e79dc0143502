import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Enrols, tries and deletes fingers, and turns them on and off. To add or remove one, the passcode
/// must be typed in the same exchange.
@LoopActor
final class FingerFlows {
    let desk: Desk
    let readers: Readers
    let permissions: Permissions
    let enrolment: Enrolment
    let proving: Proving
    let scans: FingerScans

    init(
        desk: Desk, readers: Readers, permissions: Permissions, enrolment: Enrolment,
        proving: Proving, scans: FingerScans
    ) {
        self.desk = desk
        self.readers = readers
        self.permissions = permissions
        self.enrolment = enrolment
        self.proving = proving
        self.scans = scans
    }

    func enroll(_ request: FingerRequest, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let finger = request.finger == .unnamed ? Finger.rightIndex : request.finger
        return try await enroll(
            finger, Target(subject: request.subject, store: request.store), exchange)
    }

    private func enroll(
        _ finger: Finger, _ target: Target, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let visit = try await desk.visit(target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        await readers.lookForReaders(visit.policy)
        try enrolment.requireMayEnroll(visit)
        if let why = await readers.noFinger(.enroll, visit) {
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        }
        guard visit.host.hasPasscode else { throw .refused(.doesNotExist(.passcode)) }
        let opening = try await proving.admit(visit, .promptCurrent)
        return try await enrolment.enroll(finger, try await desk.renewed(visit), opening)
    }

    // MARK: verify

    func verifyFinger(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        let outcome = try await scans.scanFinger(.verify, visit) { _ throws(Interruption) in }
        switch outcome {
        case .matched: return .fingerVerified
        case .notAsked(let why):
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        case .ended(let failure): throw .refused(Refusal(failure))
        }
    }

    // MARK: delete, on, off

    func deleteFinger(_ request: FingerRequest, _ exchange: any Conversation)
        async throws(Interruption)
        -> Message
    {
        let target = Target(subject: request.subject, store: request.store)
        guard request.finger != .unnamed else { return try await switchOff(target, exchange) }
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        try permissions.require(.turnOffFingerprint, visit)
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
        _ = try await proving.admit(visit, .promptCurrent)
        let present = try await found()
        let others = present.fingers.contains { $0.finger != number }
        try await refusingAsync { () async throws(Refusal) in
            if others {
                try await host.forgetFinger(number)
                // A scan that has read this finger's file already must not match it any more.
                self.readers.fingerSeat.withdraw(of: host.id)
                readers.forgetOnChips(present.fingers.filter { $0.finger == number && $0.isOnChip })
            } else {
                try await host.turnFingerprintOff()
            }
        }
        desk.auditChange("a finger was deleted", visit)
        return others ? .fingerDeleted(request.finger) : .fingerprintOff
    }

    func switchFinger(_ request: FingerSwitch, _ exchange: any Conversation)
        async throws(Interruption)
        -> Message
    {
        let target = Target(subject: request.subject, store: request.store)
        guard request.on else { return try await switchOff(target, exchange) }
        // Fingers are turned on by enrolling the first one.
        let visit = try await desk.visit(target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        await readers.lookForReaders(visit.policy)
        try permissions.require(.turnOnFingerprint, visit)
        return try await enroll(.rightIndex, target, exchange)
    }

    private func switchOff(_ target: Target, _ exchange: any Conversation)
        async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        try permissions.require(.turnOffFingerprint, visit)
        _ = try await proving.admit(visit, .promptCurrent)
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.turnFingerprintOff()
        }
        desk.auditChange("the fingerprint was turned off", visit)
        return .fingerprintOff
    }

    // MARK: a reader's chip

    /// Empties a reader's chip, for root: after a reinstallation nobody knows the prints on it any
    /// more, and they fill it or keep fingers from being enrolled.
    func clearChip(_ request: FingerprintClear, _ exchange: any Conversation)
        async throws(Interruption) -> Message
    {
        guard exchange.caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        let reader = try await reader(called: request.reader)
        guard reader.stores else { throw .refused(.fingerprintUnavailable(.notSupported)) }
        let ours = await readers.prints(on: reader)
        let chip = try await atReader { run in await self.readers.chip(of: reader, ours, run) }
        try await exchange.show(.fingerClear(reader: reader.name))
        for owned in ours {
            let finger = Finger(rawValue: owned.finger.finger) ?? .unnamed
            try await exchange.show(.fingerClearOurs(account: owned.account, finger))
        }
        switch chip.map({ $0.count - $0.known.count }) {
        case nil: try await exchange.show(.fingerClearUnknown)
        case .some(let foreign): try await exchange.show(.fingerClearForeign(count: foreign))
        }
        if !request.agreed, try await exchange.choose(.fingerClearAsk) != .yes {
            throw .refused(.cancelled)
        }
        let failure = try await atReader { _ async -> ScannerFailure? in
            do throws(ScannerFailure) {
                try await self.readers.fingerprints.clear(at: reader.choice)
                return nil
            } catch {
                return error
            }
        }
        switch failure {
        case nil: break
        case .fault(let fault):
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(fault)))
        case .lost: throw .refused(.fingerprintUnavailable(.worker))
        }
        for store in Set(ours.map(\.store)) {
            await forget(ours.filter { $0.store == store }.map(\.finger.finger), of: store)
        }
        desk.audit.note(
            .change, "a reader's chip was cleared", service: exchange.caller.hello.service,
            uid: exchange.caller.credentials.uid)
        return .fingerCleared
    }

    /// While this has the reader, nobody is asked for a finger. Nobody waits for an answer in it.
    private func atReader<R>(
        _ body: (FingerRun) async -> R
    ) async throws(Interruption) -> R {
        let run = FingerRun()
        do { try await readers.fingerSeat.take(run, of: nil) } catch {
            throw .refused(.fingerprintUnavailable(.busy))
        }
        defer { readers.fingerSeat.leave() }
        return await body(run)
    }

    private func reader(called name: [UInt8]) async throws(Interruption) -> FingerprintReader {
        let found: [FingerprintReader]
        do throws(ScannerFailure) {
            found = try await readers.fingerprints.readers(mayBeOld: false)
        } catch {
            throw .refused(.fingerprintUnavailable(.worker))
        }
        let named = found.filter { [$0.name, $0.driver, $0.port, $0.id].contains(name) }
        guard named.count == 1 else { throw .refused(.doesNotExist(.reader)) }
        return named[0]
    }

    /// These fingers are on no chip any more.
    private func forget(_ numbers: [UInt8], of store: StoreID) async {
        guard let host = desk.vault.host(store) else { return }
        let left = (try? await host.enrolledFingers())?.fingers ?? []
        if left.allSatisfy({ numbers.contains($0.finger) }) {
            try? await host.turnFingerprintOff()
        } else {
            for number in numbers { try? await host.forgetFinger(number) }
        }
        readers.fingerSeat.withdraw(of: store)
    }

    // MARK: list

    func listFingers(_ target: Target, _ exchange: any Conversation)
        async throws(Interruption) -> FingerprintState
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        let host = visit.host
        var state = FingerprintState(on: host.fingerprintIsOn)
        let enrolled = try await refusingAsync { () async throws(Refusal) in
            try await host.enrolledFingers().fingers
        }
        let purpose: FingerPurpose = host.fingerprintIsOn ? .open : .enroll
        var why: NoFinger?
        var isAtReader = true
        if let found = await readers.noFinger(purpose, visit) {
            why = found
            isAtReader = false
        }
        if case .refused(let found) = await readers.fingerTarget(purpose, enrolled, visit.policy) {
            why = why ?? found
        }
        let readers = readers.fingerprints.lastReaders
        state.readers = readers.map(\.device)
        state.failuresLeft = UInt8(clamping: host.fingerFailuresLeft(visit.policy))
        state.keepsPassword = host.keepsKeyringPassword
        self.readers.retryLeaving()
        var gone: Set<UInt8> = []
        let run = FingerRun()
        if isAtReader, self.readers.fingerSeat.takeIfFree(run, of: host.id) {
            for reader in readers where reader.stores && run.stop == nil {
                let ours = await self.readers.prints(on: reader)
                guard let chip = await self.readers.chip(of: reader, ours, run) else { continue }
                state.foreign += UInt16(clamping: max(0, chip.count - chip.known.count))
                for (place, print) in ours.enumerated()
                where print.store == host.id && !chip.known.contains(place) {
                    gone.insert(print.finger.finger)
                }
            }
            self.readers.fingerSeat.leave()
        }
        state.fingers = enrolled.map { finger in
            FingerprintState.Enrolled(
                finger: Finger(rawValue: finger.finger) ?? .unnamed,
                reader: Text.clean(Text.clean(finger.readerName), limit: Limits.text),
                at: finger.enrolledAt,
                standing: gone.contains(finger.finger)
                    ? .gone : standing(of: finger, readers, visit.policy))
        }
        let areGone = !enrolled.isEmpty && state.fingers.allSatisfy { $0.standing == .gone }
        let isUsable = state.fingers.contains { $0.standing == .usable }
        state.ready =
            host.fingerprintIsOn && host.residentAge(visit.policy) == .good && isUsable
        let reason = why.map { Refusal.FingerprintReason($0) }
        if let reason = reason ?? (areGone ? .unknownPrint : nil) {
            state.unavailable = exchange.voice.bytes(reason.phrase)
            state.advice = reason.hint.map { exchange.voice.bytes($0) } ?? []
        }
        return state
    }

    private func standing(
        of finger: EnrolledFinger, _ readers: [FingerprintReader], _ policy: Policy
    ) -> FingerprintState.Enrolled.Standing {
        let place = FingerPlace(reader: finger.reader, port: finger.port)
        if readers.contains(where: { known(place, at: $0.facts, policy) }) { return .usable }
        return readers.contains { $0.id == finger.reader } ? .moved : .away
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
    /// For a caller that asked for a finger only.
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
