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
        let opening = try await proving.admit(visit, .change)
        let done = try await enrolment.enroll(finger, try await desk.renewed(visit), opening)
        try await offerWho(visit, opening)
        return done
    }

    /// Where fingers open the store of somebody else at this account, too. The passcode was typed for the
    /// enrolment; whatever comes of this, the finger is enrolled.
    private func offerWho(_ visit: Visit, _ opening: Opening) async throws(Interruption) {
        let host = visit.host
        let others = desk.vault.stores(of: visit.person.uid).contains {
            $0 !== host && $0.identity.kind == .own && $0.owner == visit.person
                && $0.isUsable && $0.fingerprintIsOn
        }
        guard visit.caller.hasPerson, host.identity.kind == .own, !host.fingersTellWho, others
        else { return }
        do throws(Interruption) {
            guard try await visit.exchange.present(.fingerprintWho()).button == .enable else {
                return
            }
            try await refusingAsync { () async throws(Refusal) in
                try await host.letFingersTellWho(true, opening.ground)
            }
        } catch .refused(.cancelled) {
            return
        }
        desk.auditChange("a finger says who it is from now on", visit)
        try await visit.exchange.show(.peopleFingerOn(store: host.identity.storeName))
    }

    // MARK: verify

    func verifyFinger(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        let outcome = try await scans.scanFinger(.verify, visit, otherwise: .nothing) {
            _ throws(Interruption) in
        }
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
        _ = try await proving.admit(visit, .change)
        let present = try await found()
        let others = present.fingers.contains { $0.finger != number }
        try await refusingAsync { () async throws(Refusal) in
            if others {
                let deleted = try await host.forgetFinger(number)
                // A scan that has read this finger's file already must not match it any more.
                self.readers.fingerSeat.withdraw(of: host.id)
                if let deleted { readers.forgetOnChips([deleted], of: host.id) }
                // The other may have been deleted at the same time.
                await readers.endWithoutFinger(host)
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
        _ = try await proving.admit(visit, .change)
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
        let shown = try await atReader { run in await self.contents(of: reader, run) }
        let contents = try refusing { () throws(Refusal) in try shown.get() }
        try await exchange.show(.fingerClear(reader: reader.name))
        for owned in contents.ours {
            let finger = Finger(rawValue: owned.finger.finger) ?? .unnamed
            try await exchange.show(.fingerClearOurs(account: owned.account, finger))
        }
        switch contents.chip {
        case nil: try await exchange.show(.fingerClearUnknown)
        case .some(let chip): try await exchange.show(.fingerClearForeign(count: chip.foreign))
        }
        if !request.agreed { _ = try await exchange.present(.fingerprintClear()) }
        switch try await atReader({ run in await self.clear(reader, contents, run) }) {
        case .cleared: break
        case .changed:
            try await exchange.show(.fingerClearChanged, .error)
            throw .refused(.cancelled)
        case .refused(let refusal): throw .refused(refusal)
        }
        desk.audit.note(
            .change, "a reader's chip was cleared", service: exchange.caller.hello.service,
            uid: exchange.caller.credentials.uid)
        return .fingerCleared
    }

    /// What a reader's chip holds.
    private struct Contents: Sendable {
        var ours: [Readers.Owned]
        var chip: Readers.Chip?

        func isSame(as other: Contents) -> Bool {
            chip == other.chip && ours.count == other.ours.count
                && zip(ours, other.ours).allSatisfy { $0.isSame(as: $1) }
        }
    }

    private enum Clearing: Sendable {
        case cleared
        /// Somebody enrolled or deleted a finger while root was asked.
        case changed
        case refused(Refusal)
    }

    private func contents(
        of reader: FingerprintReader, _ run: FingerRun
    ) async -> Result<Contents, Refusal> {
        let prints = await readers.prints(on: reader)
        if let unread = prints.unread { return .failure(unread) }
        let chip = await readers.chip(of: reader, prints.owned, run)
        // Another request wants the reader: what it said is not to be relied on.
        if run.isOver { return .failure(.fingerprintUnavailable(.busy)) }
        return .success(Contents(ours: prints.owned, chip: chip))
    }

    private func clear(
        _ reader: FingerprintReader, _ shown: Contents, _ run: FingerRun
    ) async -> Clearing {
        do throws(ScannerFailure) {
            let present = try await readers.fingerprints.readers(mayBeOld: false)
            guard present.contains(where: { $0.choice == reader.choice && $0.stores }) else {
                return .changed
            }
            switch await contents(of: reader, run) {
            case .failure(let refusal): return .refused(refusal)
            case .success(let present): guard present.isSame(as: shown) else { return .changed }
            }
        } catch {
            return .refused(Self.refusal(error))
        }
        do throws(ScannerFailure) {
            try await readers.fingerprints.clear(at: reader.choice)
        } catch {
            // The reader may have deleted some of the prints before it failed.
            let gone = await deleted(of: shown, reader, run)
            if !gone.isEmpty { desk.audit.note(.change, "a reader's chip was cleared in part") }
            await forget(gone)
            return .refused(Self.refusal(error))
        }
        await forget(shown.ours)
        return .cleared
    }

    private static func refusal(_ failure: ScannerFailure) -> Refusal {
        switch failure {
        case .fault(let fault): .fingerprintUnavailable(Refusal.FingerprintReason(fault))
        case .lost: .fingerprintUnavailable(.worker)
        }
    }

    /// Our prints that were on the chip and are not there any more. None where the reader does not
    /// say.
    private func deleted(
        of shown: Contents, _ reader: FingerprintReader, _ run: FingerRun
    ) async -> [Readers.Owned] {
        guard let before = shown.chip, let now = await readers.chip(of: reader, shown.ours, run)
        else { return [] }
        return before.known.subtracting(now.known).sorted().map { shown.ours[$0] }
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
    private func forget(_ gone: [Readers.Owned]) async {
        for (store, fingers) in Dictionary(grouping: gone, by: \.store) {
            guard let host = desk.vault.host(store) else { continue }
            for owned in fingers { _ = try? await host.forgetFinger(exactly: owned.finger) }
            await readers.endWithoutFinger(host)
            readers.fingerSeat.withdraw(of: store)
        }
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
            (gone, state.foreign) = await missing(from: readers, host.id, run)
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

    /// Which of the store's fingers are on no chip where they should be, and how many prints there
    /// are not ours.
    private func missing(
        from present: [FingerprintReader], _ store: StoreID, _ run: FingerRun
    ) async -> (gone: Set<UInt8>, foreign: UInt16) {
        var (gone, held): (Set<UInt8>, Set<UInt8>) = ([], [])
        var foreign = 0
        for reader in present where reader.stores && !run.isOver {
            let prints = await readers.prints(of: reader.id)
            var asked = prints.owned
            var chip = await readers.chip(of: reader, asked, run)
            if let chip, prints.unread == nil { foreign += chip.foreign }
            // The print of another account may be one that ends the worker.
            let own = asked.filter { $0.store == store }
            if chip == nil, !own.isEmpty, own.count < asked.count, !run.isOver {
                asked = own
                chip = await readers.chip(of: reader, own, run)
            }
            for (place, print) in asked.enumerated() where print.store == store {
                // A reader that does not say may hold it.
                if chip?.known.contains(place) ?? true {
                    held.insert(print.finger.finger)
                } else {
                    gone.insert(print.finger.finger)
                }
            }
        }
        return (gone.subtracting(held), UInt16(clamping: foreign))
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
