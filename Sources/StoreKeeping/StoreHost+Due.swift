import KeySlots
import Policy
import Posix
import Secrets
import Words

/// What the policy may demand of a store, and what was noted about it.
extension StoreHost {
    package var passcodeState: PasscodeState {
        PasscodeState(hasPasscode: hasPasscode, snapshot.terms, identity)
    }

    package var pending: Terms.Pending? { snapshot.terms.pending(on: snapshot.passcodes.first) }

    package var clock: ClockReading {
        ClockReading(
            now: Clock.wallSeconds(), builtAt: BuildDate.seconds, lastKnown: snapshot.terms.seenAt)
    }

    package func expiry(_ policy: Policy) -> Expiry {
        Expiry(
            state: passcodeState, followsLogin: followsLogin,
            setAt: snapshot.passcodes.first?.details.setAt ?? 0, expireDays: policy.expireDays,
            clock)
    }

    /// What is due, as far as the daemon knows. Whether the passcode falls short of the rules is
    /// seen only when it is typed.
    package func due(
        _ inForce: PolicyInForce, _ hardware: Hardware, _ compliance: Compliance = .notYetKnown
    ) -> Due {
        // What opens it is another store's, which is judged itself.
        if identity.kind != .own { return .nothing(.sameRules) }
        let policy = inForce.policy
        return decided(
            DueInput(
                state: passcodeState, followsLogin: followsLogin, target: DueTarget(inForce),
                judgedDigest: snapshot.passcodes.first?.details.policyDigest ?? [],
                presentDigest: policy.ruleDigest,
                fingerprintWasAllowed: snapshot.terms.fingerprintWasAllowed, hardware: hardware,
                compliance: compliance, isExpired: expiry(policy).isExpired,
                pending: pending?.reason)
        )
    }

    /// The result of judging the passcode when it was last typed, and the rules that it was judged
    /// by. It is never written down: not even that much about a login password goes to the disk.
    package struct Judged {
        package let digest: [UInt8]
        package let salt: [UInt8]
        package let compliance: Compliance
    }

    /// One judgement under way: one passcode against one set of rules.
    package struct Judging {
        package let number: UInt64
        package let digest: [UInt8]
        package let salt: [UInt8]
    }

    /// Nil if the result is known already, or if it is not sure to which slot the passcode belongs.
    package func beginJudging(_ policy: Policy) -> Judging? {
        let slots = snapshot.passcodes
        guard let slot = provenSlot ?? (slots.count == 1 ? slots.first : nil) else { return nil }
        if let judged, judged.salt == slot.details.salt, judged.digest == policy.ruleDigest,
            judged.compliance != .notYetKnown
        {
            return nil
        }
        judgings += 1
        return Judging(number: judgings, digest: policy.ruleDigest, salt: slot.details.salt)
    }

    /// Keeps the result, unless a later judgement has begun meanwhile.
    package func note(_ compliance: Compliance, _ judging: Judging) {
        guard judging.number == judgings else { return }
        judged = Judged(digest: judging.digest, salt: judging.salt, compliance: compliance)
    }

    /// Whether the present passcode meets the rules, as far as is known.
    package func compliance(_ policy: Policy) -> Compliance {
        guard let slot = snapshot.passcodes.first else { return .notYetKnown }
        if !followsLogin, slot.details.policyDigest == policy.ruleDigest { return .meetsTheRules }
        guard let judged, judged.salt == slot.details.salt, judged.digest == policy.ruleDigest
        else { return .notYetKnown }
        return judged.compliance
    }

    /// Writes the marker that makes an interrupted flow go on.
    package func begin(_ step: DueStep) async throws(Refusal) {
        guard pending != Terms.Pending(step.flow, step.reason) else { return }
        try await writeTerms(.terms) { terms, slot in
            // A finger without a passcode opens nothing any more. What is left to do is to create a
            // passcode.
            if step.reason == .migration { terms.fingerprintIsOn = false }
            terms.begin(Terms.Pending(step.flow, step.reason), on: slot)
        }
        if step.reason == .migration { await forgetFingers() }
    }

    package func writeTerms(
        _ during: Refusal.During, _ ground: Ground? = nil,
        _ change: @escaping @Sendable (inout Terms, PasscodeSlot?) -> Void
    ) async throws(Refusal) {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            if let ground { try require(ground) }
            let slot = snapshot.passcodes.first
            var changed = snapshot.terms
            change(&changed, slot)
            guard changed != snapshot.terms else { return }
            let terms = changed
            try await onDisk(file, during) { (file) throws(KeyError) in try file.write(terms) }
        }
    }

    /// Notes that the store was judged and nothing was due: from here on only changes of the policy
    /// matter. A disk that refuses this must keep no person out, so the caller goes on without it.
    package func noteJudged(
        _ policy: Policy, _ ground: Ground, byNow why: NothingDue
    ) async throws(Refusal) {
        let now = clock
        try await writeTerms(.terms) { terms, _ in
            terms.end()
            if why != .noPasscodeMode { terms.fingerprintWasAllowed = policy.allowFingerprint }
            // Noting the clock once a day is enough.
            if now.doubt == nil, now.now >= now.lastKnown + 86_400 { terms.seenAt = now.now }
        }
        switch why {
        case .neverJudged, .meetsTheRules:
            let digest = policy.ruleDigest
            try await inTurn(.own) { () async throws(Refusal) in
                guard let slot = slot(of: ground) else { return }
                try await onDisk(try requireLive(), .terms) {
                    (file) throws(KeyError) in
                    try file.write(policyDigest: digest, on: slot)
                }
            }
        case .noPasscodeMode, .withoutByChoice, .withoutByPolicyDefault, .followsLogin, .sameRules:
            return
        }
    }
}

private func decided(_ input: DueInput) -> Due { due(input) }
