import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// The result of the flows that were due.
enum Settlement: Sendable {
    /// Nothing stands in the way any more; this opens the store.
    case settled(Opening)
    case due(StillDue)
}

/// A flow that did not run to its end: the store stays shut.
struct StillDue: Sendable {
    enum Why: Equatable, Sendable {
        /// No person can be asked here.
        case notHere
        case refused(Refusal)
    }

    let step: DueStep
    let why: Why

    /// The answer for a caller that waits for one. If the person cancelled, or cannot be asked
    /// here, the code is 36. A failure of the disk keeps its own code.
    var refusal: Refusal {
        switch why {
        case .notHere, .refused(.cancelled):
            .changeRequired(step)
        case .refused(let refusal): refusal
        }
    }
}

/// Carries out what the policy demands of a store now, at each unlock.
@LoopActor
final class Settling {
    let desk: Desk
    let readers: Readers
    let newPasscodes: NewPasscodes
    let passcodes: Passcodes
    let enrolment: Enrolment
    let transactions: Transactions
    let failedTokens: FailedTokens

    init(
        desk: Desk, readers: Readers, newPasscodes: NewPasscodes, passcodes: Passcodes,
        enrolment: Enrolment, transactions: Transactions, failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.readers = readers
        self.newPasscodes = newPasscodes
        self.passcodes = passcodes
        self.enrolment = enrolment
        self.transactions = transactions
        self.failedTokens = failedTokens
    }

    /// The limit for a policy that changes faster than a person types.
    private static let mostSteps = 16

    /// Runs what is due, one step after the other. Each step is decided anew, right before it is
    /// carried out, by the policy that is in force then.
    func settle(_ visit: Visit, _ opening: Opening) async throws(Interruption) -> Settlement {
        var visit = visit
        var opening = opening
        var read: [DueStep] = []
        await tellMended(visit)
        for _ in 0..<Self.mostSteps {
            visit = try await desk.renewed(visit)
            try refusing { () throws(Refusal) in try visit.host.require(opening.ground) }
            // A policy that could not be read, or whose groups are unknown, makes nothing due.
            guard desk.knowledge(of: visit.person) == .known else { return .settled(opening) }
            let step: DueStep
            if visit.host.mayGetPasscode { await readers.lookForReaders(visit.policy) }
            switch try await due(visit, opening) {
            case .nothing(let why):
                await noteJudged(visit, opening, why)
                _ = try settled(visit, opening)
                await passcodes.keepResident(visit, opening)
                return try settled(visit, opening)
            case .steps(let steps):
                guard let first = steps.first else { return try settled(visit, opening) }
                step = first
            }
            if step.flow == .announceFingerprint {
                guard await announced(visit) else { return try settled(visit, opening) }
                continue
            }
            // The step is due even if this cannot be written: the marker is there for `status`.
            try? await visit.host.begin(step)
            guard converses(visit) else { return .due(StillDue(step: step, why: .notHere)) }
            visit.exchange.carriesLines = true
            defer { visit.exchange.carriesLines = false }
            do throws(Interruption) {
                if !read.contains(step) {
                    try await notify(of: step, visit.exchange)
                    read.append(step)
                }
                opening = try await carryOut(step, visit, opening)
            } catch {
                switch error {
                case .gone, .refused(.passcodeChanged): throw error
                case .refused(let refusal):
                    return await stillDue(step, refusal, visit)
                }
            }
        }
        return .due(StillDue(step: DueStep(.change, .policy), why: .refused(.busy)))
    }

    /// Refuses if what opened the store was removed while the person was asked.
    private func settled(_ visit: Visit, _ opening: Opening) throws(Interruption) -> Settlement {
        try refusing { () throws(Refusal) in try visit.host.require(opening.ground) }
        return .settled(opening)
    }

    /// After a refusal: a store that was open is locked.
    func stillDue(_ step: DueStep, _ refusal: Refusal, _ visit: Visit) async -> Settlement {
        await visit.host.lock()
        transactions.forgetKeys(of: visit.host.id)
        desk.audit.note(
            .change, "a change that the policy demands was not made",
            store: visit.host.id.description, person: visit.person,
            service: visit.caller.hello.service, code: refusal.code,
            uid: visit.caller.credentials.uid)
        return .due(StillDue(step: step, why: .refused(refusal)))
    }

    /// What is due. The present passcode is judged only where that matters.
    private func due(_ visit: Visit, _ opening: Opening) async throws(Interruption) -> Due {
        let known = visit.host.due(visit.inForce, readers.hardware(visit.policy))
        guard case .onlyWhereItFallsShort = known.certainty, let proof = opening.proof else {
            return known
        }
        let compliance = await newPasscodes.compliance(of: proof, visit)
        guard compliance == .notYetKnown else {
            return visit.host.due(visit.inForce, readers.hardware(visit.policy), compliance)
        }
        // A rule that cannot run keeps no person from their own store, and nothing is noted then.
        let due = visit.host.due(visit.inForce, readers.hardware(visit.policy), .meetsTheRules)
        return due == .nothing(.meetsTheRules) ? .nothing(.sameRules) : due
    }

    /// Whether something is due, as `status` shows it, for which the passcode has to be typed. What
    /// is only told is told.
    func needsPasscode(_ visit: Visit) async -> Bool {
        guard desk.knowledge(of: visit.person) == .known else { return false }
        if visit.host.mayGetPasscode { await readers.lookForReaders(visit.policy) }
        let flows = visit.host.due(
            visit.inForce, readers.hardware(visit.policy), visit.host.compliance(visit.policy)
        ).flows
        guard flows == [.announceFingerprint] else { return !flows.isEmpty }
        _ = await announced(visit)
        return false
    }

    /// For a store without a passcode, where no person types anything: refuses if something is due.
    func requireNothingDue(_ host: StoreHost, _ person: Person) async throws(Refusal) {
        let inForce = try await desk.policy(for: person, host)
        guard desk.knowledge(of: person) == .known else { return }
        switch host.due(inForce, readers.hardware(inForce.policy)) {
        case .nothing: return
        case .steps(let steps):
            guard let step = steps.first else { return }
            throw .changeRequired(step)
        }
    }

    /// Opens a store without a passcode, without a question to its owner.
    func openIfNone(_ host: StoreHost, _ person: Person) async throws(Interruption) {
        guard !host.isOpen, !host.hasPasscode else { return }
        if host.isShared || host.isConfiguration {
            return try await desk.open(Access(host: host, role: .owner), person)
        }
        if host.isFollower {
            return try await refusingAsync { () async throws(Refusal) in
                try await host.openAlong()
            }
        }
        try await refusingAsync { () async throws(Refusal) in
            try await requireNothingDue(host, person)
            try await host.open(try await host.deviceKey())
        }
    }

    /// The step that creates a passcode where there is none, if that is due.
    func creation(_ host: StoreHost, _ inForce: PolicyInForce) -> DueStep? {
        switch host.due(inForce, readers.hardware(inForce.policy)) {
        case .nothing: return nil
        case .steps(let steps):
            guard let first = steps.first, first.isCreation else { return nil }
            return first
        }
    }

    // MARK: the steps

    /// Carries out one step. Returns what opens the store from then on. If the policy has changed
    /// meanwhile, nothing happens, and the caller decides anew.
    private func carryOut(_ step: DueStep, _ visit: Visit, _ opening: Opening)
        async throws(Interruption) -> Opening
    {
        switch step.flow {
        case .create, .createOfferingFingerprint, .change:
            return try await demandNewPasscode(step, visit, opening)
        case .dropPasscode, .dropBoth:
            return try await dropPasscode(step, visit, opening)
        case .dropFingerprint:
            guard try await isStillDue(step, visit, opening) else { return opening }
            try await refusingAsync { () async throws(Refusal) in
                try await visit.host.turnFingerprintOff()
                try await visit.host.writeTerms(.terms) { terms, _ in terms.end() }
            }
            desk.auditChange("the policy turned the fingerprint off", visit)
            return opening
        case .announceFingerprint:
            return opening
        }
    }

    private func demandNewPasscode(_ step: DueStep, _ visit: Visit, _ opening: Opening)
        async throws(Interruption) -> Opening
    {
        // The person should not type a passcode that the policy no longer wants.
        guard try await isStillDue(step, visit, opening) else { return opening }
        if visit.caller.cancelsByEnter { try await visit.exchange.show(.mayCancel) }
        let new = try await newPasscodes.askNewPasscode(
            Entry(
                person: visit.person, host: visit.host, exchange: visit.exchange,
                opening: opening))
        let present = try await desk.renewed(visit)
        guard present.policy.ruleDigest == new.digest,
            try await isStillDue(step, present, opening)
        else { return opening }
        let changed = try await passcodes.set(new, present, opening)
        desk.auditChange("the policy demanded a new passcode", visit)
        try await visit.exchange.show(opening.ground == .device ? .created : .changed)
        guard step.flow == .createOfferingFingerprint, visit.caller.hasPerson else {
            return changed
        }
        try await enrolment.offerFinger(try await desk.renewed(visit), changed)
        return changed
    }

    private func dropPasscode(_ step: DueStep, _ visit: Visit, _ opening: Opening)
        async throws(Interruption) -> Opening
    {
        let present = try await desk.renewed(visit)
        guard try await isStillDue(step, present, opening), opening.ground != .device else {
            return opening
        }
        try await refusingAsync { () async throws(Refusal) in
            try await present.host.turnOff(opening, .inNoPasscodeMode, present.policy)
        }
        failedTokens.forget(present.host)
        desk.auditChange("the policy turned the passcode off", visit)
        return Opening(
            key: opening.key, ground: .device, departures: opening.departures)
    }

    private func isStillDue(_ step: DueStep, _ visit: Visit, _ opening: Opening)
        async throws(Interruption) -> Bool
    {
        switch try await due(try await desk.renewed(visit), opening) {
        case .nothing: false
        case .steps(let steps): steps.first?.flow == step.flow
        }
    }

    /// Shows one line; asks and demands nothing. False if no line can be shown: it is shown later
    /// then.
    private func announced(_ visit: Visit) async -> Bool {
        guard converses(visit), !visit.caller.hello.silent else { return false }
        do {
            try await visit.exchange.show(.fingerprintAllowed)
            try await visit.host.writeTerms(.terms) { terms, _ in
                terms.fingerprintWasAllowed = true
            }
            return true
        } catch {
            return false
        }
    }

    /// If this cannot be written, the store opens all the same.
    private func noteJudged(_ visit: Visit, _ opening: Opening, _ why: NothingDue) async {
        try? await visit.host.noteJudged(visit.policy, opening.ground, byNow: why)
        guard let proof = opening.proof else { return }
        if visit.host.followsLogin {
            newPasscodes.noteLoginPassword(proof.typed, visit.host, visit.policy)
        } else {
            try? await visit.host.remember(opening, keep: visit.policy.historyCount)
        }
    }

    /// Whether there is a person who can be asked more than once. A module that does not run as
    /// root may claim anything about itself, so it is not believed.
    func converses(_ visit: Visit) -> Bool {
        let caller = visit.caller
        switch caller.hello.frontEnd {
        case .terminal, .program, .device, .dialog: return true
        case .pamPassword, .pamSession: return false
        case .pamAuth:
            return caller.isTrusted && !caller.hello.oneSecret
                && visit.policy.acts(
                    .converse(onTerminal: !caller.hello.tty.isEmpty), at: caller.hello.service)
        }
    }
}
