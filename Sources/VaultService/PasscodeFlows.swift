import KeySlots
import Policy
import Secrets
import StoreKeeping
import Wire
import Words

/// The passcode: changed, turned off, turned on.
extension Service {
    func change(_ request: Passcode, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let visit = try await visit(request.target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        switch request.change {
        case .change:
            return visit.host.hasPasscode
                ? try await changePasscode(visit) : try await turnOn(visit, .changePasscode)
        case .turnOff: return try await turnOff(visit)
        case .turnOn: return try await turnOn(visit, .createPasscode)
        }
    }

    private func changePasscode(_ visit: Visit) async throws(Interruption) -> Message {
        try require(.changePasscode, visit)
        let opening = try await prove(visit, .promptCurrent)
        _ = try await enterNewPasscode(visit, opening)
        auditChange("the passcode was changed", visit)
        return .changed
    }

    private func turnOff(_ visit: Visit) async throws(Interruption) -> Message {
        try require(.turnOffPasscode, visit)
        let opening = try await prove(visit, .promptCurrent)
        let present = try await renewed(visit)
        try require(.turnOffPasscode, present)
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.turnOff(opening, .byChoice, present.policy)
        }
        failedTokens.forget(visit.host)
        auditChange("the passcode was turned off", visit)
        return .turnedOff
    }

    private func turnOn(_ visit: Visit, _ action: PasscodeAction) async throws(Interruption)
        -> Message
    {
        try require(action, visit)
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await visit.host.deviceKey()
        }
        _ = try await enterNewPasscode(visit, opening)
        auditChange("a passcode was created", visit)
        return .turnedOn
    }

    /// A new passcode of its own, typed and in place; what opens the store from now on.
    func enterNewPasscode(_ visit: Visit, _ opening: Opening) async throws(Interruption)
        -> Opening
    {
        let new = try await askNewPasscode(
            Entry(
                person: visit.person, host: visit.host, exchange: visit.exchange,
                opening: opening))
        return try await set(new, visit, opening)
    }

    func set(_ new: NewPasscode, _ visit: Visit, _ opening: Opening) async throws(Interruption)
        -> Opening
    {
        let ((used, kept), (secret, typed)) = try refusing { () throws(Refusal) in
            (try opening.doubled(), try new.secret.doubled())
        }
        let ground = try await replace(visit, used, with: .own(secret, digest: new.digest))
        let opening = Opening(key: kept.key, ground: ground, typed: typed)
        // A fingerprint that was on stays on, without a question.
        if visit.host.fingerprintIsOn { await keepResident(visit, opening) }
        return opening
    }

    /// What the store opens with from now on.
    func replace(_ visit: Visit, _ opening: Opening, with new: ComingPasscode)
        async throws(Interruption) -> Ground
    {
        let replaced = try await refusingAsync { () async throws(Refusal) in
            try await visit.host.replacePasscode(
                opening, with: new, self.cost(visit.policy), visit.policy)
        }
        failedTokens.forget(visit.host)
        if replaced.recoveryIsRevoked {
            auditChange(Self.recoveryRevoked, visit)
            // The passcode is in place, whoever is there to read this.
            try? await visit.exchange.show(.recoveryRevoked)
        }
        return replaced.ground
    }

    static let recoveryRevoked = "the recovery key, made without a passcode, was revoked"

    func auditChange(_ text: String, _ visit: Visit) {
        auditChange(text, visit.host, visit.person, visit.exchange)
    }

    func auditChange(
        _ text: String, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) {
        audit.note(
            .change, text, store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
    }
}
