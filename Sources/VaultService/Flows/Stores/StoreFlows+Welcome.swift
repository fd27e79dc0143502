import KeySlots
import Policy
import StoreKeeping
import Wire
import Words

/// A person meets the vault: one screen after the other, until their store is ready. Whoever is
/// interrupted goes on where they were: what is there already is not asked again.
extension StoreFlows {
    func welcome(
        _ request: Create, _ usual: Sheet.UsualWay, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let person = try await desk.person(request.target.subject, exchange.caller)
        if let host = try desk.ownStore(of: person, named: request.target.store) {
            try refusing { () throws(Refusal) in try host.requireUsable() }
            return try await finish(host, request.target, person, exchange)
        }
        // By lines there is no third answer.
        let joining = exchange.drawsScreens ? await joining(exchange.caller) : nil
        let welcome = Sheet.welcome(
            organisation: desk.orders.orderer?.name, mayJoin: joining != nil)
        if try await exchange.present(welcome).button == .invitation, let joining {
            try await exchange.show(try await joining(exchange))
            try desk.requireNotBarred(person)
        }
        try await consenting.settle(person, exchange)
        try desk.requireNotBarred(person)
        var chosen = request
        chosen.way = try await way(usual, request, person, exchange)
        // Whoever draws has asked already whether there is to be one at all.
        let done = try await create(chosen, exchange, offersNone: !exchange.drawsScreens)
        try await sayReady(exchange)
        return done
    }

    /// Not asked where the policy has stores begin without a passcode.
    private func way(
        _ usual: Sheet.UsualWay, _ request: Create, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Create.Way {
        let key = request.policyKey.isEmpty ? Vault.defaultName : request.policyKey
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: person, key: key, .changing)
        }
        let policy = inForce.policy
        if case .noPasscodeMode = inForce { return .usuallyOwnPasscode }
        if policy.startsWithoutPasscode { return .usuallyOwnPasscode }
        let sheet = Sheet.welcomeWay(usual, allowsNone: policy.allowNoPasscode)
        let button = try await exchange.present(sheet).button
        if button == .loginPassword { return .followLogin }
        return button == .noPasscode ? .noPasscode : .ownPasscode
    }

    /// What is left for a store that was made before.
    private func finish(
        _ host: StoreHost, _ target: Target, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        try await consenting.settle(person, exchange)
        try desk.requireNotBarred(person)
        let visit = try await desk.visit(host, person, exchange)
        let offersRecovery = recovery.offersRecovery(visit)
        let offersFinger = await enrolment.offersFinger(visit)
        guard offersRecovery || offersFinger else { return .welcomeNothing }
        if offersRecovery { try await recovery.offerRecovery(target, exchange) }
        if offersFinger {
            try await enrolment.offerFinger(visit) { () async throws(Interruption) in
                try await self.proving.admit(visit, .change)
            }
        }
        try await sayReady(exchange)
        return .welcomeNothing
    }

    /// The store is there, also where nobody reads this.
    private func sayReady(_ exchange: any Conversation) async throws(Interruption) {
        do throws(Interruption) {
            _ = try await exchange.present(.welcomeReady())
        } catch .refused {
            return
        }
    }
}
