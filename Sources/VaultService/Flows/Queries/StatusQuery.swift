import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// Answers what state a store is in.
@LoopActor
final class StatusQuery {
    let desk: Desk
    let readers: Readers
    let permissions: Permissions
    let sessions: LoginSessions
    let failedTokens: FailedTokens

    init(
        desk: Desk, readers: Readers, permissions: Permissions, sessions: LoginSessions,
        failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.readers = readers
        self.permissions = permissions
        self.sessions = sessions
        self.failedTokens = failedTokens
    }

    /// What `status` shows. Only the owner, whoever it is shared with, and root are told.
    func status(_ target: Target, for caller: Caller) async throws(Interruption) -> State {
        let person = try await desk.person(target.subject, caller)
        let voice = desk.speech.voice(of: caller)
        var host = desk.vault.ownStore(of: person, named: target.store)
        var role = Member.Role.owner
        if host == nil, caller.credentials.uid == person.uid,
            let access = try await desk.shared(with: person, named: target.store)
        {
            (host, role) = (access.host, access.role)
        }
        let inForce = await desk.policyAnswer(for: person, host).policy
        let allotment = desk.quotaNow(of: person)
        guard let host else {
            if let stray = desk.vault.strayStore(of: person, named: target.store) {
                var state = stray.state(
                    inForce, voice, readers.hardware(inForce.policy), sessions: 0,
                    lock: .ownerChanged)
                // It would be about another person's password.
                state.meetsRules = .unknown
                return state
            }
            var state = State(lock: .absent)
            state.used = UInt64(clamping: allotment.used)
            state.quota = UInt64(clamping: allotment.quota)
            tellOfPolicy(in: &state, inForce, voice)
            return state
        }
        if host.mayGetPasscode { await readers.lookForReaders(inForce.policy) }
        var state = host.state(
            inForce, voice, readers.hardware(inForce.policy),
            sessions: sessions.count(of: person.uid),
            lock: nil)
        state.role = StoreRole(role)
        switch role {
        case .owner:
            state.used = UInt64(clamping: allotment.used)
            state.quota = UInt64(clamping: allotment.quota)
        // It counts for its owner, and what else the owner has is not theirs to know.
        case .writer, .reader: state.used = UInt64(clamping: host.records.bytes)
        }
        if state.trouble.isEmpty, host.followsLogin, !host.isOpen, failedTokens.hasDrifted(host) {
            state.trouble = voice.bytes(Phrase(.troubleDrift))
            state.advice = voice.bytes(Phrase(.adviceDrift))
        }
        // A person who relies on the recovery key should learn this before they need it.
        if state.trouble.isEmpty, host.isUsable, host.hasRecovery,
            !inForce.policy.allowRecoveryKey
        {
            state.trouble = voice.bytes(Phrase(.troubleRecoveryOff))
            state.advice = voice.bytes(Phrase(.hintPolicyDenies))
        }
        tellOfConsents(in: &state, host, voice)
        // Only a policy that is known can make something due.
        if desk.knowledge(of: person) != .known {
            state.pending = []
            state.pendingReason = .none
            state.meetsRules = .unknown
        }
        tellOfPolicy(in: &state, inForce, voice)
        return state
    }

    /// A login asks nothing of it, so they have to learn of it here, and by the agent, which reads this.
    private func tellOfConsents(in state: inout State, _ host: StoreHost, _ voice: Voice) {
        guard state.trouble.isEmpty, host.isUsable, host.identity.storeName == Vault.defaultName,
            let organisation = desk.orders.orderer?.name
        else { return }
        let said = desk.orders.agreements(of: host.owner)
        guard !said.due(desk.orders.consents).isEmpty else { return }
        state.trouble = voice.bytes(Phrase(.troubleConsents, .text(organisation)))
        state.advice = voice.bytes(Phrase(.adviceConsents))
    }

    /// The stores of one person, or, for root, of everybody.
    func stores(_ request: Stores, for caller: Caller) async throws(Interruption) -> StoreList {
        var hosts: [StoreHost]
        var roles: [StoreID: Member.Role] = [:]
        if request.all {
            guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
            hosts = desk.vault.all
        } else {
            let person = try await desk.person(request.subject, caller)
            hosts = desk.vault.stores(of: person.uid).filter { $0.owner == person }
            for access in await desk.allShared(with: person) where access.host.owner != person {
                hosts.append(access.host)
                roles[access.host.id] = access.role
            }
        }
        let rest = hosts.sorted(by: Self.comesFirst).dropFirst(Int(clamping: request.cursor))
        let page = rest.prefix(Limits.page)
        let next = request.cursor &+ UInt32(clamping: page.count)
        var list = StoreList(cursor: page.count < rest.count ? next : 0, stores: [])
        for host in page {
            var entry = await entry(of: host)
            if let role = roles[host.id] { entry.role = StoreRole(role) }
            // What is in another person's is not root's.
            if request.all, host.owner.uid != caller.credentials.uid { entry.role = .none }
            list.stores.append(entry)
        }
        return list
    }

    /// Whom it is shared with: for its members, and for root.
    func members(_ target: Target, for caller: Caller) async throws(Interruption) -> MemberList {
        let person = try await desk.person(target.subject, caller)
        let host = try await desk.requireShared(target, person).host
        var entries = host.sharedWith.map { member in
            var entry = MemberList.Entry()
            switch member.who {
            case .person(let uid, let name):
                (entry.kind, entry.name, entry.number) = (.person, name, uid)
            case .group(let gid, let name):
                (entry.kind, entry.name, entry.number) = (.group, name, gid)
            case .everybody: entry.kind = .everybody
            case .recoveryKey: break
            }
            entry.role = StoreRole(
                host.owner == self.person(member)
                    ? .owner : member.role == .owner ? .writer : member.role)
            entry.isByGroup = member.isByGroup
            entry.isPending =
                host.isShared && entry.kind == .person
                && !member.isSealed(to: self.person(member).flatMap(desk.vault.publicKey))
            entry.addedAt = member.addedAt
            return entry
        }
        // Their access is lost until it is shared with them again.
        for uid in host.damagedMembers.sorted() {
            var entry = MemberList.Entry()
            (entry.number, entry.isPending) = (uid, true)
            if uid == host.owner.uid { entry.role = .owner }
            if case .found(let name, _) = await desk.directory.account(of: uid) {
                entry.name = name
            }
            entries.append(entry)
        }
        return MemberList(members: entries, newKeyIsDue: host.isNewKeyDue)
    }

    private func person(_ member: Member) -> Person? {
        guard case .person(let uid, let name) = member.who else { return nil }
        return Person(uid: uid, name: name)
    }

    private static func comesFirst(_ here: StoreHost, _ there: StoreHost) -> Bool {
        let (mine, theirs) = (here.identity, there.identity)
        if mine.account != theirs.account {
            return mine.account.lexicographicallyPrecedes(theirs.account)
        }
        if mine.storeName != theirs.storeName {
            return mine.storeName.lexicographicallyPrecedes(theirs.storeName)
        }
        return here.id.bytes.lexicographicallyPrecedes(there.id.bytes)
    }

    private func entry(of host: StoreHost) async -> StoreList.Entry {
        let inForce = await desk.policyAnswer(for: host.owner, host).policy
        return host.entry(inForce.policy)
    }

    /// A broken policy file is shown to everybody, with or without a store, unless the store itself
    /// has trouble. So is a policy that wants no passcodes.
    private func tellOfPolicy(in state: inout State, _ inForce: PolicyInForce, _ voice: Voice) {
        guard state.trouble.isEmpty else { return }
        switch desk.policies.standing {
        case .good:
            guard case .noPasscodeMode = inForce else { return }
            state.trouble = voice.bytes(Phrase(.troubleNoPasscodeMode))
            state.advice = voice.bytes(Phrase(.adviceNoPasscodeMode))
        case .lastGood(let problem), .broken(let problem):
            let refusal = PolicyKeeper.refusal(problem)
            state.trouble = voice.bytes(refusal.message)
            state.advice = refusal.hint.map { voice.bytes($0) } ?? []
        }
    }
}

extension StoreRole {
    init(_ role: Member.Role) {
        self =
            switch role {
            case .owner: .owner
            case .writer: .writer
            case .reader: .reader
            }
    }
}
