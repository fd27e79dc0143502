import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Makes, uses and offers recovery keys.
@LoopActor
final class RecoveryFlows {
    let desk: Desk
    let passcodes: Passcodes
    let settling: Settling
    let proving: Proving
    let permissions: Permissions

    init(
        desk: Desk, passcodes: Passcodes, settling: Settling, proving: Proving,
        permissions: Permissions
    ) {
        self.desk = desk
        self.passcodes = passcodes
        self.settling = settling
        self.proving = proving
        self.permissions = permissions
    }

    func newRecoveryKey(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try permissions.require(.newRecoveryKey, visit)
        guard !visit.host.isConfiguration else {
            throw .refused(.invalidAction(action: .newRecoveryKey, reason: .shared))
        }
        // Else whoever is at the machine could make a key that opens the store for good.
        if visit.host.isFollower {
            let parent = try refusing { () throws(Refusal) in try visit.host.requireParent() }
            guard parent.hasPasscode else {
                let name = visit.host.parentName
                throw .refused(
                    .invalidAction(
                        action: .newRecoveryKey, reason: .parentWithoutPasscode(name)))
            }
        }
        guard exchange.caller.isTerminal else {
            throw .refused(.invalidAction(action: .newRecoveryKey, reason: .terminalOnly))
        }
        try await showNewRecoveryKey(
            visit.host, try await proving.admit(visit, .change), visit.person, exchange)
        desk.auditChange("a new recovery key was made", visit)
        return .recoveryMade
    }

    /// The recovery key opens nothing from then on. It may be lost, or in other hands.
    func delete(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        let host = visit.host
        try refusing { () throws(Refusal) in try host.requireUsable() }
        guard host.hasRecovery else { throw .refused(.doesNotExist(.recoveryKey)) }
        let opening = try await proving.admit(visit, .change)
        try await refusingAsync { () async throws(Refusal) in
            try await host.removeRecoveryKey(opening)
        }
        desk.auditChange("the recovery key was deleted", visit)
        return .recoveryDeleted
    }

    func showNewRecoveryKey(
        _ host: StoreHost, _ opening: consuming Opening, _ person: Person,
        _ exchange: any Conversation
    ) async throws(Interruption) {
        let new: StoreHost.NewRecoveryKey
        do throws(Refusal) {
            // The person may take minutes to write it down.
            new = try await host.addRecoveryKey(consume opening, by: person)
        } catch {
            throw .refused(error)
        }
        guard let shown = new.text.take() else { throw .refused(.unknown) }
        do throws(Interruption) {
            try await exchange.reveal(.recoveryKeep, shown)
        } catch {
            try? await host.withdraw(new)
            throw error
        }
        try await refusingAsync { () async throws(Refusal) in try await host.settle(new) }
    }

    func recover(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        var visit = try await desk.visit(target, exchange)
        let host = visit.host
        try refusing { () throws(Refusal) in
            try desk.policies.requireUsable()
            try Self.requireRecoveryKeys(visit.policy)
            try host.mayTry(.recovery, visit.policy)
        }
        guard host.hasRecovery else {
            // Its advice is to make a recovery key, which needs a passcode and so a try.
            let isLocked = host.hasPasscode && host.isRetryLocked(visit.policy)
            throw .refused(
                isLocked ? host.limitReached(visit.policy) : .doesNotExist(.recoveryKey))
        }
        // For a shared store there is no passcode to choose: the owner's own store opens it.
        let publicKey = host.isShared ? try desk.requirePublicKey(of: visit.person) : nil
        let typed = try await exchange.secret(.recoveryKey())
        visit = try await desk.renewed(visit)
        try refusing { () throws(Refusal) in try Self.requireRecoveryKeys(visit.policy) }
        await host.newKeyEnds()
        try await desk.requireStill(.owner, visit.person, in: host)
        let key = try refusing { () throws(Refusal) in try StoreHost.recoveryKey(typed) }
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await host.attemptRecovery(key, visit.policy)
        }
        desk.audit.note(
            .attempt, "a recovery key was accepted", store: host.id.description,
            person: visit.person, uid: exchange.caller.credentials.uid)
        await settling.tellMended(visit)
        if let publicKey { return try await recoverShared(visit, opening, key, publicKey) }
        // Where the policy wants no passcodes, no new one is needed. But a store of another machine
        // needs one, to be brought under this machine's key.
        if case .noPasscodeMode = visit.inForce, host.isUsable {
            try await settling.notify(of: DueStep(.dropPasscode, .policy), exchange)
            try await refusingAsync { () async throws(Refusal) in
                try await host.turnOff(opening, .inNoPasscodeMode, visit.policy)
            }
            desk.auditChange("the policy turned the passcode off", visit)
            return .turnedOff
        }
        // Using the key leads at once to a new passcode. Until that is set, nothing has changed.
        if host.followsLogin {
            let password = try await proving.askLoginPassword(exchange)
            try await passcodes.follow(password, visit, consume opening)
        } else {
            try await enterPasscode(visit, recovered: consume opening)
        }
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally(clears: true) { $0.right(.recovery) }
        }
        desk.auditChange("the passcode was changed with the recovery key", visit)
        return .recovered
    }

    private func recoverShared(
        _ visit: Visit, _ opening: Opening, _ key: RecoveryKeyBox, _ publicKey: [UInt8]
    ) async throws(Interruption) -> Message {
        let host = visit.host
        return try await host.needed { () async throws(Interruption) in
            let recovery = try await refusingAsync { () async throws(Refusal) in
                let recovery = try await recoverShared(
                    host, opening, key, visit.policy, visit.person, publicKey)
                _ = try await host.updateTally(clears: true) { $0.right(.recovery) }
                return recovery
            }
            desk.auditChange("a shared store was opened with its recovery key", visit)
            // Where this fails, the next opening does it.
            do throws(Refusal) { try await host.giveNewKey() } catch {
                desk.noteRefusal(error, visit.caller)
            }
            return switch recovery {
            case .opened: .recoveredShared
            case .alone: .recoveredSharedAlone
            }
        }
    }

    /// Where the store has begun to get a new key since the recovery key was accepted, what that has
    /// given opens nothing any more. Once the new key is there, the recovery key gives the new one.
    private func recoverShared(
        _ host: StoreHost, _ opening: Opening, _ key: RecoveryKeyBox, _ policy: Policy,
        _ person: Person, _ publicKey: [UInt8]
    ) async throws(Refusal) -> StoreHost.SharedRecovery {
        var opening = opening
        for _ in 0..<2 {
            do throws(Refusal) {
                return try await host.recoverShared(opening, for: person, sealedTo: publicKey)
            } catch {
                guard error == .busy else { throw error }
            }
            await host.newKeyEnds()
            opening = try await host.attemptRecovery(key, policy)
        }
        return try await host.recoverShared(opening, for: person, sealedTo: publicKey)
    }

    /// A person who does not finish what the key has begun finds it due later, also with the former
    /// passcode.
    private func enterPasscode(
        _ visit: Visit, recovered opening: consuming Opening
    ) async throws(Interruption) {
        let step = DueStep(.change, .recovery)
        var isDue = false
        if visit.host.isUsable, visit.host.hasPasscode {
            isDue = (try? await visit.host.begin(step)) != nil
        }
        do throws(Interruption) {
            _ = try await passcodes.enterNewPasscode(visit, consume opening)
        } catch {
            throw isDue && error == .refused(.cancelled) ? .refused(.changeRequired(step)) : error
        }
    }

    /// From its reload on, a policy that forbids recovery keys makes them useless. A key that was
    /// made before stays in the store, and opens it again when the policy allows that.
    static func requireRecoveryKeys(_ policy: Policy) throws(Refusal) {
        guard policy.allowRecoveryKey else { throw .policyDenies(key: "AllowRecoveryKey") }
    }

    // MARK: offered until it is answered

    /// Another person's key must not be shown on root's terminal unasked.
    func offersRecovery(_ visit: Visit) -> Bool {
        visit.caller.isTerminal && visit.caller.credentials.uid == visit.person.uid
            && visit.host.isRecoveryOfferDue(visit.policy)
    }

    /// On a screen "later" leaves it; elsewhere leaving ends the exchange.
    private func wantsRecovery(
        _ exchange: any Conversation
    ) async throws(Interruption) -> Choice {
        guard exchange.drawsScreens else { return try await exchange.choose(.recoveryOffer) }
        do throws(Interruption) {
            return try await exchange.present(.recoveryOffer()).button == .makeKey ? .yes : .no
        } catch .refused(.cancelled) {
            return .neither
        }
    }

    /// Offers a recovery key for a store that was made where none could be shown, as at a login: on
    /// a terminal, to its owner. If no offer is due, nothing is shown. A yes or a no is the last
    /// answer; anything else leaves the offer for the next time.
    func offerRecovery(_ target: Target, _ exchange: any Conversation) async throws(Interruption) {
        let caller = exchange.caller
        let person = try await desk.person(target.subject, caller)
        guard let host = try desk.ownStore(of: person, named: target.store) else { return }
        let visit = try await desk.visit(host, person, exchange)
        guard offersRecovery(visit) else { return }
        switch try await wantsRecovery(exchange) {
        case .yes:
            try await showNewRecoveryKey(
                host, try await proving.admit(visit, .change), person, exchange)
            desk.auditChange("a new recovery key was made", visit)
        case .no: try await exchange.show(.recoveryLater)
        case .neither: return try await exchange.show(.recoveryAskedAgain)
        }
        // If this cannot be written, the offer comes once more.
        do throws(Refusal) {
            try await host.writeTerms(.terms) { terms, _ in
                terms.recoveryWasOffered = true
            }
        } catch {
            desk.noteRefusal(error, caller)
        }
    }
}
