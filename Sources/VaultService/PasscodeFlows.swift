import KeySlots
import Policy
import Secrets
import Wire

/// The passcode: changed, turned off, turned on.
extension Service {
    func change(_ request: Passcode, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let visit = try await visit(request.target, exchange, .changing)
        try visit.host.requireUsable()
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
        let proof = try await prove(visit, .promptCurrent)
        _ = try await enterNewPasscode(visit, .passcode(proof))
        auditChange("the passcode was changed", visit)
        return .changed
    }

    private func turnOff(_ visit: Visit) async throws(Interruption) -> Message {
        try require(.turnOffPasscode, visit)
        let proof = try await prove(visit, .promptCurrent)
        let present = try await renewed(visit)
        try require(.turnOffPasscode, present)
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.turnOff(
                key: proof.key, typed: proof.typed, .byChoice, present.policy)
        }
        failedTokens.forget(visit.host)
        auditChange("the passcode was turned off", visit)
        return .turnedOff
    }

    private func turnOn(_ visit: Visit, _ action: PasscodeAction) async throws(Interruption)
        -> Message
    {
        try require(action, visit)
        let key = try await refusingAsync { () async throws(Refusal) in
            try await visit.host.deviceKey()
        }
        _ = try await enterNewPasscode(visit, .device(key))
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
        try await refusingAsync { () async throws(Refusal) in
            let (key, kept) = try opening.key.doubled()
            let (secret, typed) = try new.secret.doubled()
            try await visit.host.replacePasscode(
                key: key, with: .own(secret, digest: new.digest), self.cost(visit.policy),
                former: opening.proof?.typed, visit.policy)
            self.failedTokens.forget(visit.host)
            let opening = Opening.passcode(Proof(key: kept, typed: typed))
            // A fingerprint that was on stays on, without a question.
            if visit.host.fingerprintIsOn { await self.keepResident(visit, opening) }
            return opening
        }
    }

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
