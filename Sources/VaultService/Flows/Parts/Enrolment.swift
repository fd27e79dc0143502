import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
internal import Synchronization
import Wire
import Words
import WorkerLinks

/// A finger that was read, from the moment at which the reader has it. In a login it is kept when
/// the login is confirmed and its passcode is made. If it is never kept, whatever the reason, its
/// print is deleted from the reader's chip.
final class ComingFinger: Sendable {
    let finger: EnrolledFinger
    private let isKept = Mutex(false)
    private let drop: @Sendable (EnrolledFinger) -> Void

    init(_ finger: EnrolledFinger, drop: @escaping @Sendable (EnrolledFinger) -> Void) {
        self.finger = finger
        self.drop = drop
    }

    deinit {
        if !isKept.withLock({ $0 }) { drop(finger) }
    }

    func kept() {
        isKept.withLock { $0 = true }
    }
}

/// Reads and keeps a new finger, and offers to enrol one where a passcode was just made. Whatever
/// the result, the passcode and the login stand.
@LoopActor
final class Enrolment {
    let desk: Desk
    let lookout: Lookout
    let readers: Readers
    let permissions: Permissions
    let touchSeconds: Int

    init(
        desk: Desk, lookout: Lookout, readers: Readers, permissions: Permissions,
        touchSeconds: Int
    ) {
        self.desk = desk
        self.lookout = lookout
        self.readers = readers
        self.permissions = permissions
        self.touchSeconds = touchSeconds
    }

    /// Offers a finger to a person who can see the line.
    func offerFinger(_ visit: Visit, _ opening: Opening) async throws(Interruption) {
        guard await isFingerToOffer(visit) else { return }
        try await offerFinger(visit) { () throws(Interruption) in opening }
    }

    /// `open` gives what the store is opened with, once the person wants a finger.
    func offerFinger(
        _ visit: Visit, openedBy open: () async throws(Interruption) -> Opening
    ) async throws(Interruption) {
        try await offering(visit.exchange) { () async throws(Interruption) in
            let done = try await self.enroll(.rightIndex, visit, try await open())
            try await visit.exchange.show(done)
        }
    }

    /// Whether the store could have one, and has none.
    func offersFinger(_ visit: Visit) async -> Bool {
        guard await isFingerToOffer(visit) else { return false }
        return !visit.host.fingerprintIsOn
    }

    private func isFingerToOffer(_ visit: Visit) async -> Bool {
        guard await isFingerToOffer(visit.inForce), visit.host.hasPasscode else { return false }
        return await readers.noFinger(.enroll, visit) == nil
    }

    /// Offers a finger in a login, after the passcode was chosen and before it is made. So nothing
    /// is kept yet.
    func offerComingFinger(
        _ person: Person, _ host: StoreHost?, _ exchange: any Conversation
    ) async throws(Interruption) -> ComingFinger? {
        guard let inForce = try? await desk.policy(for: person, host),
            await isFingerToOffer(inForce),
            await readers.isAtReader(person, inForce.policy, exchange.caller)
        else { return nil }
        var coming: ComingFinger?
        try await offering(exchange) { () async throws(Interruption) in
            coming = try await self.readNewFinger(
                .rightIndex, of: person, inForce.policy, exchange, beside: nil)
            try await exchange.show(.fingerComing(.rightIndex))
        }
        return coming
    }

    private func isFingerToOffer(_ inForce: PolicyInForce) async -> Bool {
        if case .noPasscodeMode = inForce { return false }
        guard inForce.policy.allowFingerprint else { return false }
        await readers.lookForReaders(inForce.policy)
        switch readers.hardware(inForce.policy) {
        case .none, .onlyExternal: return false
        case .readerUsable: return true
        }
    }

    private func offering(
        _ exchange: any Conversation, _ enroll: () async throws(Interruption) -> Void
    ) async throws(Interruption) {
        do throws(Interruption) {
            guard try await exchange.present(.fingerprintOffer()).button == .enable else {
                return
            }
            try await enroll()
        } catch {
            switch error {
            case .gone: throw error
            case .refused(.fingerprintUnavailable(let why)):
                try await exchange.show(.fingerUnavailable(why), .error)
            case .refused: return
            }
        }
    }

    /// Keeps the finger after the login was confirmed and the passcode was made.
    func keep(
        _ coming: ComingFinger, _ opening: Opening, _ host: StoreHost, _ person: Person,
        _ caller: Caller
    ) async {
        let why: Refusal
        do throws(Refusal) {
            let inForce = try await desk.policy(for: person, host)
            if case .noPasscodeMode = inForce { return }
            guard inForce.policy.allowFingerprint, host.hasPasscode else { return }
            try await self.keep(coming, host, opening)
            await host.keepResident(opening.key, opening.ground, inForce.policy)
            return desk.audit.note(
                .change, "a finger was enrolled", store: host.id.description, person: person,
                service: caller.hello.service, uid: caller.credentials.uid)
        } catch {
            why = error
        }
        desk.audit.note(
            .fault, "a finger was not kept: \(why.message.english)", store: host.id.description,
            person: person, service: caller.hello.service, code: why.code,
            uid: caller.credentials.uid)
    }

    // MARK: a new finger

    /// `opening` has the key that the passcode has just given.
    func enroll(
        _ finger: Finger, _ visit: Visit, _ opening: Opening
    ) async throws(Interruption) -> Message {
        try requireMayEnroll(visit)
        if let why = await readers.noFinger(.enroll, visit) {
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        }
        let coming = try await readNewFinger(
            finger, of: visit.person, visit.policy, visit.exchange, beside: visit)
        return try await keep(coming, visit, opening)
    }

    func requireMayEnroll(_ visit: Visit) throws(Interruption) {
        guard visit.host.fingerprintIsOn else {
            return try permissions.require(.turnOnFingerprint, visit)
        }
        guard visit.policy.allowFingerprint else {
            throw .refused(.policyDenies(key: "AllowFingerprint"))
        }
    }

    /// The reader's part: returns a finger that is not kept yet.
    func readNewFinger(
        _ finger: Finger, of person: Person, _ policy: Policy, _ exchange: any Conversation,
        beside visit: Visit?
    ) async throws(Interruption) -> ComingFinger {
        let run = FingerRun()
        do { try await readers.fingerSeat.take(run, of: visit?.host.id) } catch {
            throw .refused(.fingerprintUnavailable(.busy))
        }
        var enrolled: [EnrolledFinger] = []
        if let visit { enrolled = await readers.enrolledFingers(visit) }
        let target: FingerTarget
        switch await readers.fingerTarget(.enroll, enrolled, policy) {
        case .refused(let why):
            readers.fingerSeat.leave()
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(why)))
        case .found(let found): target = found
        }
        let reader = target.reader
        guard reader.identifies || target.fingers.allSatisfy({ $0.finger == finger.rawValue })
        else {
            readers.fingerSeat.leave()
            throw .refused(.fingerprintUnavailable(.oneFinger))
        }
        let chip = ChipEnrolment(
            finger, at: reader, of: visit?.host, enrolled, readers, seconds: touchSeconds)
        EventLoop.shared.task {
            let end = await chip.enroll(run)
            if case .enrolled(let print) = end {
                let read = self.coming(
                    Self.enrolled(finger, reader, print), visit?.host, chip.hasDeletedFormer)
                // Where the scan has ended before, the print is not wanted any more.
                if !run.isOver { chip.coming = read }
                run.finish(end)
            } else {
                run.finish(end)
                if let host = visit?.host, chip.hasDeletedFormer {
                    await self.readers.endWithoutFinger(host)
                }
            }
            await run.settled()
            self.readers.fingerSeat.leave()
        }
        defer { run.settle() }
        // Another person who comes in front of the reader meanwhile must not enrol a finger for
        // this person.
        func isStillHere() async -> Bool {
            await readers.isAtReader(person, policy, exchange.caller)
        }
        lookout.watchOver(run) { await isStillHere() }
        let hello = exchange.caller.hello
        let place: Message =
            switch hello.frontEnd {
            case .terminal, .program, .device, .dialog: .fingerEnrollPlace(reader.scan, finger)
            case .pamAuth, .pamPassword, .pamSession:
                FingerTurn.isAtDisplay(hello.service, tty: hello.tty)
                    ? .fingerEnrollPlace(reader.scan, finger)
                    : .fingerEnrollPlaceEnter(reader.scan, finger)
            }
        let patience = Patience(seconds: touchSeconds) { run.stop(.nobody) }
        defer { patience.end() }
        // Shown once: the touch before an enrolment and the enrolment are one to the person.
        var first: Message? = place
        let end: FingerEnd
        do throws(Interruption) {
            end = try await exchange.follow(run) { step in
                patience.begin()
                defer { if case .heard = step { first = nil } }
                return step.message(place: first, reader.scan)
            }
        } catch {
            chip.coming = nil
            throw error
        }
        let coming = chip.coming
        chip.coming = nil
        await chip.rest()
        if let known = chip.known { try await exchange.show(known, .error) }
        if chip.hasDeletedFormer {
            if case .enrolled = end {
            } else {
                try await exchange.show(.fingerFormerGone(finger), .error)
            }
        }
        switch end {
        case .enrolled:
            guard let coming, await isStillHere() else {
                throw .refused(.fingerprintUnavailable(.stopped))
            }
            return coming
        case .stopped(.person): throw .refused(.cancelled)
        case .stopped(.nobody): throw .refused(.fingerprintUnavailable(.noFinger))
        case .stopped: throw .refused(.fingerprintUnavailable(.stopped))
        case .failed(let fault):
            throw .refused(.fingerprintUnavailable(Refusal.FingerprintReason(fault)))
        case .lost, .matched, .noMatch: throw .refused(.fingerprintUnavailable(.worker))
        }
    }

    static func enrolled(
        _ finger: Finger, _ reader: FingerprintReader, _ print: SecretBox
    ) -> EnrolledFinger {
        EnrolledFinger(
            finger: finger.rawValue, enrolledAt: Clock.wallSeconds(), reader: reader.id,
            port: reader.port, readerName: reader.name, isOnChip: reader.stores, print: print)
    }

    private func coming(
        _ finger: EnrolledFinger, _ host: StoreHost?, _ hasDeletedFormer: Bool
    ) -> ComingFinger {
        ComingFinger(finger) { [weak self] finger in
            EventLoop.shared.task {
                self?.readers.forgetOnChips([finger], of: host?.id)
                if let host, hasDeletedFormer { await self?.readers.endWithoutFinger(host) }
            }
        }
    }

    private func keep(
        _ coming: ComingFinger, _ visit: Visit, _ opening: Opening
    ) async throws(Interruption) -> Message {
        let present = try await desk.renewed(visit)
        do throws(Refusal) {
            // Who left at the last touch was told of nothing.
            guard !visit.caller.hasHungUp else { throw .cancelled }
            guard present.policy.allowFingerprint, present.host.hasPasscode else {
                throw .policyDenies(key: "AllowFingerprint")
            }
            try await keep(coming, present.host, opening)
        } catch {
            throw .refused(error)
        }
        await present.host.keepResident(opening.key, opening.ground, present.policy)
        desk.auditChange("a finger was enrolled", present)
        return .fingerEnrolled(Finger(rawValue: coming.finger.finger) ?? .unnamed)
    }

    /// What it replaces is gone from its chip, too, also where another exchange enrolled it
    /// meanwhile.
    private func keep(
        _ coming: ComingFinger, _ host: StoreHost, _ opening: Opening
    ) async throws(Refusal) {
        let former = try await host.keepFinger(coming.finger, opening.ground)
        coming.kept()
        if let former { readers.forgetOnChips([former], of: host.id) }
    }
}
