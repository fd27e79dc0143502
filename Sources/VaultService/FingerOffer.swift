import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
internal import Synchronization
import Wire
import Words

/// A finger that was read in a login whose passcode is made when it is confirmed. One that is never kept does not
/// stay on a chip.
final class ComingFinger: Sendable {
    let finger: EnrolledFinger
    private let isKept = Mutex(false)
    private let drop: @Sendable (EnrolledFinger) -> Void

    init(_ finger: EnrolledFinger, drop: @escaping @Sendable (EnrolledFinger) -> Void) {
        self.finger = finger
        self.drop = drop
    }

    deinit {
        if finger.isOnChip, !isKept.withLock({ $0 }) { drop(finger) }
    }

    func kept() {
        isKept.withLock { $0 = true }
    }
}

/// A finger is offered where a passcode was just made. Whatever comes of it, the passcode stays, and so does the login.
extension Service {
    /// To a person who can see the line.
    func offerFinger(_ visit: Visit, _ opening: Opening) async throws(Interruption) {
        guard await isFingerToOffer(visit.inForce), visit.host.hasPasscode,
            await noFinger(.enroll, visit) == nil
        else { return }
        try await offering(visit.exchange) { () async throws(Interruption) in
            let done = try await self.enroll(.rightIndex, visit, opening)
            try await visit.exchange.show(done)
        }
    }

    /// In a login, after the passcode was chosen and before it is made; so nothing is kept yet.
    func offerComingFinger(
        _ person: Person, _ host: StoreHost?, _ exchange: Exchange
    ) async throws(Interruption) -> ComingFinger? {
        guard let inForce = try? await policy(for: person, host), await isFingerToOffer(inForce),
            await isAtReader(person, inForce.policy, exchange.caller)
        else { return nil }
        var coming: ComingFinger?
        try await offering(exchange) { () async throws(Interruption) in
            let (read, _) = try await self.readNewFinger(
                .rightIndex, of: person, inForce.policy, exchange, beside: nil)
            coming = ComingFinger(read) { [weak self] finger in
                EventLoop.shared.task { self?.forgetOnChips([finger]) }
            }
            try await exchange.show(.fingerComing(.rightIndex))
        }
        return coming
    }

    private func isFingerToOffer(_ inForce: PolicyInForce) async -> Bool {
        if case .noPasscodeMode = inForce { return false }
        guard inForce.policy.allowFingerprint else { return false }
        await lookForReaders(inForce.policy)
        switch hardware(inForce.policy) {
        case .none: return false
        case .readerUsable: return true
        }
    }

    /// As for any other enrolment; the passcode that it wants is there in a moment.
    func isAtReader(_ person: Person, _ policy: Policy, _ caller: Caller) async -> Bool {
        let seen = await sighting(caller, person, policy)
        return obstacleToFinger(at: circumstances(caller, person, seen)) == nil
    }

    private func offering(
        _ exchange: Exchange, _ enroll: () async throws(Interruption) -> Void
    ) async throws(Interruption) {
        do throws(Interruption) {
            try await exchange.show(.fingerprintLearnMore)
            guard try await exchange.choose(.fingerprintOffer) else { return }
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

    /// The login was confirmed, and the passcode is there.
    func keep(
        _ coming: ComingFinger, _ opening: Opening, _ host: StoreHost, _ person: Person,
        _ caller: Caller
    ) async {
        let why: Refusal
        do throws(Refusal) {
            let inForce = try await policy(for: person, host)
            if case .noPasscodeMode = inForce { return }
            guard inForce.policy.allowFingerprint, host.hasPasscode else { return }
            try await host.keepFinger(coming.finger, opening.ground)
            coming.kept()
            await host.keepResident(opening.key, opening.ground, inForce.policy)
            return audit.note(
                .change, "a finger was enrolled", store: host.id.description, person: person,
                service: caller.hello.service, uid: caller.credentials.uid)
        } catch {
            why = error
        }
        audit.note(
            .fault, "a finger was not kept: \(why.message.english)", store: host.id.description,
            person: person, service: caller.hello.service, code: why.code,
            uid: caller.credentials.uid)
    }
}
