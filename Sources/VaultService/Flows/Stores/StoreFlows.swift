import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Creates, opens and locks stores.
@LoopActor
final class StoreFlows {
    let desk: Desk
    let newPasscodes: NewPasscodes
    let enrolment: Enrolment
    let permissions: Permissions
    let proving: Proving
    let scans: FingerScans
    let recovery: RecoveryFlows
    let transactions: Transactions
    let consenting: Consenting
    /// How this person has the machine join an organisation; nil where they may not, or it has.
    var joining: @LoopActor (Caller) async -> Joining? = { _ in nil }
    typealias Joining = @LoopActor (any Conversation) async throws(Interruption) -> Message

    init(
        desk: Desk, newPasscodes: NewPasscodes, enrolment: Enrolment, permissions: Permissions,
        proving: Proving, scans: FingerScans, recovery: RecoveryFlows, transactions: Transactions,
        consenting: Consenting
    ) {
        self.desk = desk
        self.newPasscodes = newPasscodes
        self.enrolment = enrolment
        self.permissions = permissions
        self.proving = proving
        self.scans = scans
        self.recovery = recovery
        self.transactions = transactions
        self.consenting = consenting
    }

    // MARK: create, unlock, lock

    /// `offersNone`: where the policy allows it, a passcode that is left empty makes a store without.
    func create(
        _ request: Create, _ exchange: any Conversation, offersNone: Bool = true
    ) async throws(Interruption) -> Message {
        switch request.way {
        case .guidedFollowLogin: return try await welcome(request, .loginPassword, exchange)
        case .guidedOwnPasscode: return try await welcome(request, .ownPasscode, exchange)
        case .followLogin, .ownPasscode, .noPasscode, .usuallyFollowLogin, .usuallyOwnPasscode,
            .followStore, .shared, .configuration:
            break
        }
        let person = try await desk.person(request.target.subject, exchange.caller)
        try await consenting.settle(person, exchange)
        try desk.requireNotBarred(person)
        if let existing = try desk.ownStore(of: person, named: request.target.store) {
            try refusing { () throws(Refusal) in try existing.requireUsable() }
            guard request.openExisting, isAsked(existing, request, person) else {
                throw .refused(.alreadyExists)
            }
            if let access = try await desk.shared(with: person, named: request.target.store) {
                return try await open(access, person, exchange)
            }
            return try await open(try await desk.visit(existing, person, exchange))
        }
        if request.openExisting, request.target.store.contains(UInt8(ascii: "/")) {
            // One that somebody else has made, and shares.
            guard let access = try await desk.shared(with: person, named: request.target.store)
            else {
                throw .refused(.doesNotExist(.store))
            }
            return try await open(access, person, exchange)
        }
        let label = try label(request, person)
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: person, key: label.policyKey, .changing)
        }
        let start: StoreStart
        switch request.way {
        case .followStore: start = try await following(request.parent, person, exchange)
        case .shared: start = try shared(by: person)
        case .configuration: start = .configuration
        case .followLogin, .ownPasscode, .noPasscode, .usuallyFollowLogin, .usuallyOwnPasscode,
            .guidedFollowLogin, .guidedOwnPasscode:
            start = try await self.start(
                request.way, person, label.policyKey, inForce, exchange, offersNone: offersNone)
        }
        let hasPasscode = start.coming != nil
        let made: Vault.NewStore
        do throws(Refusal) {
            made = try await make(person, label, consume start, inForce.policy)
        } catch {
            throw .refused(error)
        }
        desk.audit.note(
            .create, "a store was created", store: made.host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        switch request.way {
        case .followStore: return .createdFollowing
        case .shared, .configuration: return .createdShared
        case .followLogin, .ownPasscode, .noPasscode, .usuallyFollowLogin, .usuallyOwnPasscode,
            .guidedFollowLogin, .guidedOwnPasscode:
            break
        }
        guard hasPasscode else { return .createdWithout }
        guard exchange.caller.hasPerson else { return .created }
        if inForce.policy.allowRecoveryKey, exchange.caller.isTerminal {
            try await recovery.showNewRecoveryKey(made.host, made.opening, person, exchange)
        }
        try await enrolment.offerFinger(
            try await desk.visit(made.host, person, exchange), made.opening)
        return .created
    }

    /// A program that opens what exists relies on who can read it: a store of another kind, which
    /// somebody may have handed on to its person, is not the one that it means.
    private func isAsked(_ host: StoreHost, _ request: Create, _ person: Person) -> Bool {
        switch (request.way, host.identity.kind) {
        case (.followStore, .follows(let parent)):
            desk.vault.ownStore(of: person, named: request.parent)?.id == parent
        case (.shared, .shared), (.configuration, .configuration): true
        case (.followLogin, .own), (.ownPasscode, .own), (.noPasscode, .own),
            (.usuallyFollowLogin, .own), (.usuallyOwnPasscode, .own), (.guidedFollowLogin, .own),
            (.guidedOwnPasscode, .own):
            true
        case (.followStore, _), (.shared, _), (.configuration, _), (.followLogin, _),
            (.ownPasscode, _), (.noPasscode, _), (.usuallyFollowLogin, _),
            (.usuallyOwnPasscode, _), (.guidedFollowLogin, _), (.guidedOwnPasscode, _):
            false
        }
    }

    private func label(_ request: Create, _ person: Person) throws(Interruption) -> Vault.Label {
        try refusing { () throws(Refusal) in
            let name = request.target.store
            if !name.isEmpty { try NamingFlow.requireName(name) }
            switch request.way {
            case .followStore, .shared, .configuration:
                // Logins and keyrings go by the one of this name, which has slots of its own.
                guard !name.isEmpty, name != Vault.defaultName else {
                    throw .invalidArgument(.defaultKind)
                }
            case .followLogin, .ownPasscode, .noPasscode, .usuallyFollowLogin,
                .usuallyOwnPasscode, .guidedFollowLogin, .guidedOwnPasscode:
                break
            }
            var key = request.policyKey
            if key.isEmpty {
                let parent =
                    request.way == .followStore
                    ? desk.vault.ownStore(of: person, named: request.parent) : nil
                key = parent?.identity.policyKey ?? Vault.defaultName
                if request.way == .followStore, name == PolicySubject.secrets {
                    key = PolicySubject.secrets
                }
            }
            try NamingFlow.requirePolicyKey(key)
            // What is built in for it is for a store that another one opens and locks.
            guard key != PolicySubject.secrets || request.way == .followStore else {
                throw .invalidArgument(.secretsPolicyKey)
            }
            var id: StoreID?
            if request.id.contains(where: { $0 != 0 }) {
                id = StoreID(bytes: request.id)
                guard id != nil else { throw .invalidArgument(.storeID) }
            }
            return Vault.Label(name, id: id, policyKey: key)
        }
    }

    /// A store that follows an open one is made without a question: it is empty, and a program may
    /// keep its things in one.
    private func following(
        _ name: [UInt8], _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> StoreStart {
        guard let parent = try desk.ownStore(of: person, named: name) else {
            throw .refused(.doesNotExist(.store))
        }
        try refusing { () throws(Refusal) in
            try parent.requireUsable()
            guard parent.identity.kind == .own else { throw .invalidArgument(.parent) }
        }
        if parent.isOpen, let ring = parent.ring { return .following(ring) }
        let visit = try await desk.visit(parent, person, exchange)
        let opening = try await proving.admit(visit, .change)
        return try await refusingAsync { () async throws(Refusal) in
            guard let ring = try await parent.ring(of: opening) else {
                throw .invalidArgument(.parent)
            }
            return .following(ring)
        }
    }

    /// The store of whoever makes it opens it, so that one has to have been open once.
    private func shared(by person: Person) throws(Interruption) -> StoreStart {
        .shared(publicKey: try desk.requirePublicKey(of: person))
    }

    private func make(
        _ person: Person, _ label: Vault.Label, _ start: consuming StoreStart, _ policy: Policy
    ) async throws(Refusal) -> Vault.NewStore {
        let login = start.login
        let made = try await desk.vault.create(
            for: person, label, consume start, desk.cost(policy), policy)
        if let login { newPasscodes.noteLoginPassword(login, made.host, policy) }
        return made
    }

    /// How a new store begins. What the person chose is made so or refused; where they have not
    /// chosen, the policy may do without a passcode.
    private func start(
        _ wanted: Create.Way, _ person: Person, _ key: [UInt8], _ inForce: PolicyInForce,
        _ exchange: any Conversation, offersNone: Bool
    ) async throws(Interruption) -> StoreStart {
        let policy = inForce.policy
        switch (wanted, inForce) {
        case (.noPasscode, .noPasscodeMode), (.usuallyFollowLogin, .noPasscodeMode),
            (.usuallyOwnPasscode, .noPasscodeMode):
            return .without(.inNoPasscodeMode)
        case (.followLogin, .noPasscodeMode), (.ownPasscode, .noPasscodeMode):
            throw .refused(.policyDenies(key: "UseDefaultPolicy"))
        case (.noPasscode, _):
            guard policy.allowNoPasscode else {
                throw .refused(.policyDenies(key: "AllowNoPasscode"))
            }
            return .without(.byChoice)
        case (.usuallyFollowLogin, _) where policy.startsWithoutPasscode,
            (.usuallyOwnPasscode, _) where policy.startsWithoutPasscode:
            return .without(.byPolicyDefault)
        case (.followLogin, _), (.usuallyFollowLogin, _):
            return .with(.login(try await proving.askLoginPassword(exchange)))
        case (.ownPasscode, _), (.usuallyOwnPasscode, _):
            return try await startWithOwn(
                person, key, policy, exchange, offersNone: offersNone)
        case (.followStore, _), (.shared, _), (.configuration, _), (.guidedFollowLogin, _),
            (.guidedOwnPasscode, _):
            throw .refused(.invalidArgument(.parent))
        }
    }

    private func startWithOwn(
        _ person: Person, _ key: [UInt8], _ policy: Policy, _ exchange: any Conversation,
        offersNone: Bool
    ) async throws(Interruption) -> StoreStart {
        let maySkip = offersNone && policy.allowNoPasscode && exchange.caller.isTerminal
        do throws(Interruption) {
            let new = try await newPasscodes.askNewPasscode(
                Entry(
                    person: person, host: nil, policyKey: key, exchange: exchange,
                    maySkip: maySkip))
            return .with(new.coming)
        } catch {
            guard error == .refused(.skipped) else { throw error }
            return .without(.byChoice)
        }
    }

    func openStore(
        _ target: Target, _ exchange: any Conversation, _ occasion: Sheet.Occasion = .opening
    ) async throws(Interruption) -> Message {
        let person = try await desk.person(target.subject, exchange.caller)
        try await consenting.settle(person, exchange)
        if let access = try await desk.shared(with: person, named: target.store) {
            return try await open(access, person, exchange)
        }
        return try await open(try await desk.visit(target, exchange), occasion)
    }

    /// A shared store opens by whatever opens the member's own store.
    private func open(
        _ access: Access, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        var message = Message.opened
        if access.host.isShared {
            guard let own = try desk.ownStore(of: person) else {
                throw .refused(.doesNotExist(.store))
            }
            message = try await open(try await desk.visit(own, person, exchange))
        }
        // They may have been removed while they typed.
        try await desk.open(try await desk.renewed(access, person), person)
        return message
    }

    func open(
        _ visit: Visit, _ occasion: Sheet.Occasion = .opening
    ) async throws(Interruption) -> Message {
        let host = visit.host
        try refusing { () throws(Refusal) in try host.requireUsable() }
        if host.isOpen {
            try await goOn(visit)
            return .openAlready
        }
        if host.isFollower { return try await openFollower(visit) }
        if try await openByFinger(visit) { return .fingerVerified }
        let opening: Opening
        do throws(Interruption) {
            opening = try await proving.admit(visit, occasion)
        } catch .refused(.cancelled) {
            throw .refused(.cancelledOpening)
        }
        try await refusingAsync { () async throws(Refusal) in
            try await host.open(opening)
            // The owner has left meanwhile.
            guard host.isOpen else { throw host.whyShut }
        }
        proving.noteOpened(visit)
        await visit.tellLog()
        try await endLoss(visit)
        return .opened
    }

    /// Whatever opens the store that it follows.
    private func openFollower(_ visit: Visit) async throws(Interruption) -> Message {
        let message = try await open(try await proving.parentVisit(visit))
        try await refusingAsync { () async throws(Refusal) in try await visit.host.openAlong() }
        proving.noteOpened(visit)
        await visit.tellLog()
        try await endLoss(visit)
        if case .openAlready = message { return .opened }
        return message
    }

    /// What is kept of a log that changes were missing from goes when its owner, who has just
    /// proven to be one, no longer wants it. Until then `status` speaks of it.
    private func endLoss(_ visit: Visit) async throws(Interruption) {
        guard visit.caller.hasPerson, visit.host.records.keepsLogs else { return }
        do throws(Interruption) {
            guard try await visit.exchange.present(.changesLost()).button == .remove else {
                return
            }
        } catch .refused(.cancelled) {
            return
        }
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.records.removeKeptLogs()
        }
        desk.auditChange("what was kept of a damaged log was removed", visit)
        try await visit.exchange.show(.lossEnded)
    }

    /// `status` names this verb for what is due, also where the store is open. A program that asks
    /// for an open store is asked nothing.
    private func goOn(_ visit: Visit) async throws(Interruption) {
        guard visit.caller.hasPerson else { return }
        let isNeeded = await proving.settling.needsPasscode(visit)
        guard isNeeded || visit.host.records.keepsLogs else { return }
        _ = try await proving.admit(visit, .opening)
        try await endLoss(visit)
    }

    /// Where a person is, the finger comes first: its line is seen, and they can go on to the passcode.
    private func openByFinger(_ visit: Visit) async throws(Interruption) -> Bool {
        let outcome = try await scans.scanFinger(
            .open, visit, isSwitchedOff: !visit.caller.hasPerson || visit.caller.hello.oneSecret
        ) { opening throws(Interruption) in
            try await refusingAsync { () async throws(Refusal) in
                try await visit.host.open(opening)
                guard visit.host.isOpen else { throw .locked }
            }
            self.proving.noteOpened(visit)
            await visit.tellLog()
        }
        switch outcome {
        case .matched: return true
        case .notAsked, .ended: return false
        }
    }

    func lock(_ target: Target, _ exchange: any Conversation) async throws(Interruption) -> Message
    {
        let person = try await desk.person(target.subject, exchange.caller)
        let host = try desk.requireStore(of: person, target, evenIfBarred: true)
        // No groups are asked for, because no policy keeps a store open.
        try refusing { () throws(Refusal) in
            try permissions.require(.lock, person, host, desk.policies.inForce, exchange.caller)
        }
        let wasOpen = host.isOpen
        await host.lock()
        transactions.forgetKeys(of: host.id)
        if wasOpen {
            desk.audit.note(
                .lock, "a store was locked", store: host.id.description, person: person,
                uid: exchange.caller.credentials.uid)
        }
        return .lockedNow
    }
}
