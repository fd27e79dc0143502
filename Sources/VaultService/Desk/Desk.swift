import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// What each request asks first: which person is meant, which policy holds, which store it is
/// about, and what goes into the journal.
@LoopActor
final class Desk {
    let policies: PolicyKeeper
    let vault: Vault
    let directory: Directory
    let speech: Speech
    let audit: Audit
    let people: PolicyPeople
    let orders: OrdersInForce
    /// What the derivation of a new passcode costs by a policy.
    let cost: @Sendable (Policy) -> KeyDerivation.Cost

    init(
        policies: PolicyKeeper, vault: Vault, directory: Directory, speech: Speech, audit: Audit,
        people: PolicyPeople, orders: OrdersInForce,
        cost: @escaping @Sendable (Policy) -> KeyDerivation.Cost
    ) {
        self.policies = policies
        self.vault = vault
        self.directory = directory
        self.speech = speech
        self.audit = audit
        self.people = people
        self.orders = orders
        self.cost = cost
    }

    // MARK: for whom

    /// The account that a request is about. A peer that is not root speaks only for itself. For
    /// every other name it gets the same refusal, whether that account exists or not.
    func person(_ subject: Subject, _ caller: Caller) async throws(Interruption) -> Person {
        switch caller.standing {
        case .root:
            if !subject.name.isEmpty {
                guard subject.uid != Subject.unknownUID else {
                    throw .refused(.doesNotExist(.account))
                }
                return Person(uid: subject.uid, name: subject.name)
            }
            return try await account(of: caller)
        case .privateOwner, .other:
            let own = try await account(of: caller)
            guard subject.name.isEmpty || subject.name == own.name else {
                throw .refused(.notPermitted(.notYours))
            }
            return own
        }
    }

    private func account(of caller: Caller) async throws(Interruption) -> Person {
        if let known = caller.account { return known }
        switch await directory.account(of: caller.credentials.uid) {
        case .found(let name, let uid):
            let person = Person(uid: uid, name: name)
            caller.account = person
            return person
        case .none: throw .refused(.notPermitted(.notYours))
        case .unknown:
            throw .refused(.serviceUnavailable(.directory))
        }
    }

    // MARK: whose policy

    /// What a policy is needed for.
    enum PolicyUse {
        case opening
        /// Creating and changing: not by a policy of which the daemon is not sure.
        case changing
    }

    /// The person's policy, with their groups and the store's policy key. It is asked for once in a
    /// request, so the request sees either the old or the new policy, and that as a whole.
    func policy(
        for person: Person, _ host: StoreHost?, _ use: PolicyUse = .opening
    ) async throws(Refusal) -> PolicyInForce {
        try await policy(
            for: person, key: host?.identity.policyKey ?? Vault.defaultName, use)
    }

    func policy(
        for person: Person, key: [UInt8], _ use: PolicyUse = .opening
    ) async throws(Refusal) -> PolicyInForce {
        let answer = await policyAnswer(for: person, key: key)
        switch use {
        case .opening: break
        case .changing:
            try policies.requireUsable()
            guard answer.isKnown else {
                throw .serviceUnavailable(.groups)
            }
        }
        return answer.policy
    }

    func policyAnswer(for person: Person, _ host: StoreHost?) async -> PolicyPeople.Answer {
        await policyAnswer(for: person, key: host?.identity.policyKey ?? Vault.defaultName)
    }

    /// The policy of a store with this policy key.
    func policyAnswer(for person: Person, key: [UInt8]) async -> PolicyPeople.Answer {
        await people.policy(for: person, key: key, keeps: vault.hasStore(person))
    }

    func knowledge(of person: Person) -> PolicyKnowledge {
        if case .broken = policies.standing { return .broken }
        return people.isKnown(person) ? .known : .groupsUnknown
    }

    /// Why the policy that is shown is not what the files say.
    func problem(_ answer: PolicyPeople.Answer, _ voice: Voice) -> [UInt8] {
        switch policies.standing {
        case .good:
            answer.isKnown ? [] : voice.bytes(Refusal.serviceUnavailable(.groups).message)
        case .lastGood(let problem), .broken(let problem):
            Text.clean(problem.description, limit: Limits.policyText)
        }
    }

    /// Takes the quota over from the policy. It is one number for all stores of a person, whatever
    /// their policy keys: the one that holds for `default`.
    /// This asks for the person's groups if the policy depends on them. It is called when a store
    /// is opened, and after the policy changed.
    func followQuota(of person: Person) async {
        let reading = policies.reading
        let answer = await people.policy(
            for: person, key: Vault.defaultName, keeps: vault.hasStore(person))
        vault.allotment(of: person).follow(
            answer.policy.policy, reading: answer.isKnown ? reading : nil)
    }

    /// The quota by the groups that were last known. It asks for no groups, because a `set` must
    /// not wait for the directory service.
    @discardableResult
    func quotaNow(of person: Person) -> Allotment {
        let allotment = vault.allotment(of: person)
        guard allotment.reading != policies.reading else { return allotment }
        let subject = PolicySubject(
            user: person.name, groups: people.lastGroups(of: person) ?? [],
            store: Vault.defaultName)
        allotment.follow(policies.book.inForce(for: subject).policy, reading: policies.reading)
        return allotment
    }

    // MARK: which store

    /// Nil if the person has none.
    func ownStore(of person: Person, named name: [UInt8] = []) throws(Interruption) -> StoreHost? {
        try refusing { () throws(Refusal) in try vault.store(of: person, named: name) }
    }

    func requireStore(
        of person: Person, _ target: Target, evenIfOwnerChanged: Bool = false,
        evenIfBarred: Bool = false
    ) throws(Interruption) -> StoreHost {
        do throws(Interruption) {
            if let host = try ownStore(of: person, named: target.store) {
                // What they share is kept open by the others, but not for them.
                if !evenIfBarred, host.health != .erased { try requireNotBarred(person) }
                return host
            }
        } catch {
            if evenIfOwnerChanged, let host = vault.strayStore(of: person, named: target.store) {
                return host
            }
            throw error
        }
        throw .refused(.doesNotExist(.store))
    }

    func visit(
        _ target: Target, _ exchange: any Conversation, _ use: PolicyUse = .opening,
        evenIfOwnerChanged: Bool = false, evenIfBarred: Bool = false
    ) async throws(Interruption) -> Visit {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(
            of: person, target, evenIfOwnerChanged: evenIfOwnerChanged, evenIfBarred: evenIfBarred)
        return try await visit(host, person, exchange, use)
    }

    func visit(
        _ host: StoreHost, _ person: Person, _ exchange: any Conversation,
        _ use: PolicyUse = .opening
    ) async throws(Interruption) -> Visit {
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await self.policy(for: person, host, use)
        }
        return Visit(person: person, host: host, exchange: exchange, inForce: inForce)
    }

    /// The visit under the policy that holds now, which may have changed since the visit began.
    func renewed(_ visit: Visit) async throws(Interruption) -> Visit {
        try await self.visit(visit.host, visit.person, visit.exchange)
    }

    // MARK: what an organisation wants

    /// What is the person's, and what others share with them, is kept from them by the organisation
    /// that this machine has joined.
    func requireNotBarred(_ person: Person) throws(Interruption) {
        if let bar = orders.bar(of: person) { throw .refused(.barred(bar)) }
    }

    // MARK: what goes into the journal

    func noteRefusal(_ refusal: Refusal, _ caller: Caller) {
        // What a program is answered, nobody may have read.
        if caller.hasPerson { noteShown(refusal) }
        guard !refusal.isEveryday else { return }
        audit.note(
            .refusal, refusal.message.english, service: caller.hello.service, code: refusal.code,
            uid: caller.credentials.uid)
    }

    /// From the day on which a person has read that the machine is locked, there is time until it is
    /// wiped.
    func noteShown(_ refusal: Refusal) {
        guard case .barred(.offline) = refusal else { return }
        let orders = orders
        EventLoop.shared.task { await orders.wasShown() }
    }

    /// Once for each opening of the store: the records that could not be given are the person's
    /// own affair, and `list` names them.
    func noteDamage(_ host: StoreHost, _ caller: Caller) {
        audit.note(
            .fault, "records of a store are damaged", store: host.id.description,
            person: host.owner, uid: caller.credentials.uid)
    }

    func auditChange(_ text: String, _ visit: Visit) {
        auditChange(text, visit.host, visit.person, visit.exchange)
    }

    func auditChange(
        _ text: String, _ host: StoreHost, _ person: Person, _ exchange: any Conversation
    ) {
        audit.note(
            .change, text, store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
    }
}
