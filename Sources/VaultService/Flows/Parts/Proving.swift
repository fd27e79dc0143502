import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Gets the key of a store: with the passcode that the person types now, or without one in state
/// none.
@LoopActor
final class Proving {
    let desk: Desk
    let lookout: Lookout
    let settling: Settling

    init(desk: Desk, lookout: Lookout, settling: Settling) {
        self.desk = desk
        self.lookout = lookout
        self.settling = settling
    }

    /// The store key for an action that needs the passcode typed just now (in state none nothing is
    /// typed). It comes only after everything that the policy demands of the store now was carried
    /// out.
    func admit(_ visit: Visit, _ occasion: Sheet.Occasion) async throws(Interruption) -> Opening {
        if visit.host.isFollower { return try await admitAtParent(visit, occasion) }
        if visit.host.isShared { return try await admitAtOwn(visit, occasion) }
        let opening = try await open(visit, occasion)
        switch try await settling.settle(visit, opening) {
        case .settled(let opening): return opening
        case .due(let still): throw .refused(still.refusal)
        }
    }

    /// For a store that follows another one, what opens that one is shown.
    private func admitAtParent(_ visit: Visit, _ occasion: Sheet.Occasion)
        async throws(Interruption)
        -> Opening
    {
        let parent = try await parentVisit(visit)
        let opening = try await admit(parent, occasion)
        return try await refusingAsync { () async throws(Refusal) in
            guard let ring = try await parent.host.ring(of: opening) else { throw .unknown }
            return try await visit.host.opening(with: ring, proven: opening.ground)
        }
    }

    /// For a shared store, what opens the member's own store is shown.
    private func admitAtOwn(_ visit: Visit, _ occasion: Sheet.Occasion) async throws(Interruption)
        -> Opening
    {
        let (own, opening) = try await proveAtOwn(visit, occasion)
        return try await refusingAsync { () async throws(Refusal) in
            guard let ring = try await own.ring(of: opening) else { throw .unknown }
            let departures = visit.host.departures
            let shared = try await visit.host.memberKey(ring, visit.person)
            return Opening(
                key: shared.key, ground: .member(proven: opening.ground), departures: departures,
                generation: shared.generation)
        }
    }

    /// Also where the person's slot was sealed to a key that they no longer have.
    func proveAtOwn(
        _ visit: Visit, _ occasion: Sheet.Occasion
    ) async throws(Interruption) -> (StoreHost, Opening) {
        let own = try await ownVisit(visit)
        let opening = try await admit(own, occasion)
        await visit.host.newKeyEnds()
        // They may have handed it on while they typed.
        try await desk.requireStill(.owner, visit.person, in: visit.host)
        return (own.host, opening)
    }

    private func ownVisit(_ visit: Visit) async throws(Interruption) -> Visit {
        guard let own = try desk.ownStore(of: visit.person) else {
            throw .refused(.doesNotExist(.store))
        }
        try refusing { () throws(Refusal) in try own.requireUsable() }
        return try await desk.visit(own, visit.person, visit.exchange)
    }

    func parentVisit(_ visit: Visit) async throws(Interruption) -> Visit {
        let parent = try refusing { () throws(Refusal) in
            let parent = try visit.host.requireParent()
            try parent.requireUsable()
            return parent
        }
        return try await desk.visit(parent, visit.person, visit.exchange)
    }

    func open(_ visit: Visit, _ occasion: Sheet.Occasion) async throws(Interruption) -> Opening {
        if visit.host.hasPasscode { return try await prove(visit, occasion) }
        return try await refusingAsync { () async throws(Refusal) in
            try await visit.host.deviceKey()
        }
    }

    /// Asks for the passcode, up to three times on a terminal. Every answer is counted.
    func prove(
        _ visit: Visit, _ occasion: Sheet.Occasion
    ) async throws(Interruption) -> Opening {
        do throws(Interruption) {
            return try await ask(visit, occasion)
        } catch {
            switch (error, occasion) {
            case (.refused(let refusal), .reset): throw .refused(refusal.insideReset)
            case (.refused, .opening), (.refused, .openingOneOfSeveral), (.refused, .change),
                (.gone, _):
                throw error
            }
        }
    }

    private func ask(_ visit: Visit, _ occasion: Sheet.Occasion)
        async throws(Interruption) -> Opening
    {
        let exchange = visit.exchange
        let host = visit.host
        let standing = await lookout.standing(visit)
        var rounds = exchange.caller.hasPerson ? 3 : 1
        var offersReset = false
        let name = host.identity.storeName == Vault.defaultName ? [] : host.identity.storeName
        try await showCancel(visit)
        while true {
            rounds -= 1
            try refusing { () throws(Refusal) in try host.mayTry(standing.kind, visit.policy) }
            try await warnBeforeLast(standing.kind, visit)
            let sheet = Sheet.passcode(occasion, store: name, offersReset: offersReset)
            let answer = try await exchange.present(sheet)
            guard answer.button != .forgotten else { throw .refused(.resetRequested) }
            guard answer.button != .somebodyElse else { throw .refused(.switchUser(to: [])) }
            guard let typed = answer.values.first, !typed.isEmpty else {
                throw .refused(.cancelled)
            }
            let refusal: Refusal
            do throws(Refusal) {
                return try await host.attempt(
                    standing.kind, try TypedPasscode(typed), visit.policy)
            } catch {
                refusal = error
            }
            desk.audit.note(
                .attempt, "a passcode was not accepted", store: host.id.description,
                person: visit.person, code: refusal.code, uid: exchange.caller.credentials.uid)
            guard case .invalidPasscode(let left, _) = refusal, rounds > 0 else {
                throw .refused(refusal)
            }
            try await exchange.show(.retry(left: left), .error)
            offersReset = try await showForgotten(visit, occasion)
        }
    }

    /// The front end has proven it with a PAM transaction, where this machine can.
    func askLoginPassword(_ exchange: any Conversation) async throws(Interruption) -> TypedPasscode
    {
        let typed = try await exchange.passcodes(.loginPassword())[0]
        guard !typed.isEmpty else { throw .refused(.cancelled) }
        return typed
    }

    // MARK: lines around a passcode

    /// Shows one line before a try that may be the last.
    func warnBeforeLast(_ kind: TryKind, _ visit: Visit) async throws(Interruption) {
        guard visit.exchange.audience == .person else { return }
        switch visit.host.stakes(kind, visit.policy) {
        case .nothing, .refusal: break
        case .lock: try await visit.exchange.show(.lastLocks)
        case .erase: try await visit.exchange.show(.lastErases)
        }
    }

    /// Shows one line that says how a person goes on who has forgotten the passcode. True where a
    /// screen may offer it.
    @discardableResult
    func showForgotten(
        _ visit: Visit, _ occasion: Sheet.Occasion = .opening
    ) async throws(Interruption) -> Bool {
        guard visit.policy.showReset, visit.exchange.audience == .person else { return false }
        // There it would stand in the place of what was wrong, and no command can be typed.
        guard !visit.caller.keepsLastLine else { return false }
        switch (visit.host.forgotten(visit.policy), occasion) {
        case (.nothing, _): return false
        case (.recover, .opening), (.recover, .openingOneOfSeveral), (.recover, .change):
            try await visit.exchange.show(.forgottenRecoverable)
            return true
        case (.reset, .opening), (.reset, .openingOneOfSeveral), (.reset, .change):
            try await visit.exchange.show(.forgotten)
            return true
        case (.recover, .reset): try await visit.exchange.show(.forgottenRecoverable)
        case (.reset, .reset), (.resetByRoot, _): try await visit.exchange.show(.forgottenInReset)
        }
        return false
    }

    func showCancel(_ visit: Visit) async throws(Interruption) {
        guard visit.policy.showCancel, visit.caller.cancelsByEnter else { return }
        try await visit.exchange.show(.mayCancel)
    }

    /// Shows one line about a store that is damaged, or out of use for an organisation's orders, once
    /// in a login: its other modules ask again.
    func tellOutOfUse(of person: Person, _ exchange: any Conversation) async throws(Interruption) {
        guard let host = desk.vault.ownStore(of: person, named: []) else { return }
        let why: Refusal
        do throws(Refusal) {
            return try host.requireUsable()
        } catch {
            guard error.isOutOfUse, host.takeDamageNews() else { return }
            why = error
        }
        let line: Message
        if case .storeDamaged = why { line = .storeDamaged } else { line = .outOfUse(why) }
        try await exchange.show(line, .error)
        if !exchange.caller.hello.silent { desk.noteShown(why) }
    }

    /// Shows one line, but none to a stranger.
    func tell(_ refusal: Refusal, _ visit: Visit) async throws(Interruption) {
        let exchange = visit.exchange
        guard exchange.audience == .person else { return }
        switch TryRefusal(refusal) {
        case .wrong(let left)?: try await exchange.show(.retry(left: left), .error)
        // At sudo nothing else says why the right passcode is refused.
        case .limitReached(.erased)?: try await exchange.insist(.erased)
        case .limitReached(.locked(let forgotten))?:
            try await exchange.insist(.retryLocked(forgotten))
        case .throttled(let seconds)?: try await exchange.insist(.throttled(seconds: seconds))
        case nil: break
        }
    }

    /// Shows one line that says what the person can do next, if the front end can show it.
    func tellStillDue(_ still: StillDue, _ visit: Visit) async throws(Interruption) {
        guard !visit.caller.hello.oneSecret, !visit.host.isOpen else { return }
        switch still.why {
        case .notHere: try await visit.exchange.show(.due(still.step.line))
        case .refused: try await visit.exchange.show(.cancelledChange)
        }
    }
}

extension Proving {
    /// Opens the caller's own store, with its passcode typed just now.
    /// One that others share with the caller, too, where the caller may do as much as that with it.
    func openOwn(
        _ target: Target, _ exchange: any Conversation, least role: Member.Role = .owner
    ) async throws(Interruption) -> (Visit, Ground) {
        // First check whose store it is: no other person may learn whether there is one.
        let person = try await desk.person(target.subject, exchange.caller)
        guard person.uid == exchange.caller.credentials.uid else {
            throw .refused(.notPermitted(.notYours))
        }
        if let access = try await desk.shared(with: person, named: target.store) {
            try access.require(role)
            let visit = try await desk.visit(access.host, person, exchange)
            return (visit, try await openShared(access, role, visit))
        }
        let visit = try await desk.visit(target, exchange)
        return (visit, try await openOwn(visit))
    }

    private func openShared(
        _ access: Access, _ role: Member.Role, _ visit: Visit
    ) async throws(Interruption) -> Ground {
        guard access.host.isShared else {
            try await desk.open(access, visit.person)
            return .device
        }
        let ground = try await openOwn(try await ownVisit(visit))
        let wasOpen = visit.host.isOpen
        // They may have been removed while they typed.
        try await desk.open(try await desk.renewed(access, visit.person, least: role), visit.person)
        if !wasOpen { noteOpened(visit) }
        await visit.tellLog()
        return .member(proven: ground)
    }

    private func openOwn(_ visit: Visit) async throws(Interruption) -> Ground {
        let host = visit.host
        try refusing { () throws(Refusal) in try host.requireUsable() }
        if host.isFollower { return try await openFollower(visit) }
        let opening = try await admit(visit, .change)
        let wasOpen = host.isOpen
        try await refusingAsync { () async throws(Refusal) in
            try await host.open(opening)
            // The owner has left meanwhile.
            guard host.isOpen else { throw host.whyShut }
        }
        if !wasOpen { noteOpened(visit) }
        await visit.tellLog()
        return opening.ground
    }

    private func openFollower(_ visit: Visit) async throws(Interruption) -> Ground {
        let ground = try await openOwn(try await parentVisit(visit))
        let wasOpen = visit.host.isOpen
        try await refusingAsync { () async throws(Refusal) in try await visit.host.openAlong() }
        if !wasOpen { noteOpened(visit) }
        await visit.tellLog()
        return .parent(proven: ground)
    }

    func noteOpened(_ visit: Visit) {
        desk.audit.note(
            .unlock, "a store was opened", store: visit.host.id.description, person: visit.person,
            service: visit.caller.hello.service, uid: visit.caller.credentials.uid)
    }
}
