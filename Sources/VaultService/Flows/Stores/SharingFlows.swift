import KeySlots
import Posix
import StoreKeeping
import Wire
import Words

/// Shares stores with other people, and ends that. Both change who can open the store, so its owner
/// shows what opens their own store first.
@LoopActor
final class SharingFlows {
    let desk: Desk
    let proving: Proving

    init(desk: Desk, proving: Proving) {
        self.desk = desk
        self.proving = proving
    }

    func share(_ request: ShareStore, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let person = try await own(request.target, exchange)
        let access = try await desk.requireShared(request.target, person, least: .owner)
        let who = try await who(request.kind, request.name)
        try requireRole(request.role, who, access.host)
        guard who != .person(uid: person.uid, name: person.name) else {
            throw .refused(.invalidAction(action: .share, reason: .isOwner))
        }
        let key = try await prove(access, person, exchange)
        if request.role == .owner { return try await handOn(access.host, who, person, exchange) }
        let publicKey = publicKey(of: who, access.host)
        var member = Member(
            who, request.role == .reader ? .reader : .writer, addedAt: Clock.wallSeconds(),
            addedBy: person.uid)
        if let known = access.host.members.first(where: { $0.member.who == who })?.member {
            member.addedAt = known.addedAt
        }
        let made = member
        try await refusingAsync { () async throws(Refusal) in
            try await access.host.add(made, key, sealedTo: publicKey)
        }
        desk.auditChange("a store was shared", access.host, person, exchange)
        switch who {
        case .group, .everybody: return .shared
        case .person: return publicKey == nil && access.host.isShared ? .sharedPending : .shared
        }
    }

    func unshare(_ request: UnshareStore, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let person = try await own(request.target, exchange)
        let isOneself = request.kind == .person && request.name == person.name
        let access = try await desk.requireShared(
            request.target, person, least: isOneself ? .reader : .owner)
        let host = access.host
        let gone = try removed(request, host)
        guard !gone.contains(.person(uid: host.owner.uid, name: host.owner.name)) else {
            throw .refused(.invalidAction(action: .unshare, reason: .isOwner))
        }
        _ = try await prove(access, person, exchange)
        try await refusingAsync { () async throws(Refusal) in try await host.remove(gone) }
        desk.auditChange("a store is shared with fewer people", host, person, exchange)
        guard host.isShared else { return .unshared }
        // The person may leave: it goes on without them.
        let done = First<Refusal?>()
        EventLoop.shared.task {
            do throws(Refusal) {
                try await host.giveNewKey()
                done.settle(nil)
            } catch {
                done.settle(error)
            }
        }
        guard let refusal = await done.value() else { return .unsharedWithNewKey }
        desk.noteRefusal(refusal, exchange.caller)
        return .unsharedKeyDue(refusal)
    }

    // MARK: who

    /// Nobody shares another person's store, root neither: what opens it is not root's to show.
    private func own(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Person
    {
        let person = try await desk.person(target.subject, exchange.caller)
        guard person.uid == exchange.caller.credentials.uid else {
            throw .refused(.notPermitted(.notYours))
        }
        return person
    }

    private func who(_ kind: MemberKind, _ name: [UInt8]) async throws(Interruption) -> Member.Who {
        switch kind {
        case .everybody: return .everybody
        case .person:
            switch await desk.directory.account(named: name) {
            case .found(let name, let uid): return .person(uid: uid, name: name)
            case .none: throw .refused(.doesNotExist(.account))
            case .unknown: throw .refused(.serviceUnavailable(.directory))
            }
        case .group:
            switch await desk.directory.group(named: name) {
            case .found(let gid): return .group(gid: gid, name: name)
            case .none: throw .refused(.doesNotExist(.group))
            case .unknown: throw .refused(.serviceUnavailable(.groups))
            }
        }
    }

    /// Only a person owns a store, and only what is no secret is everybody's.
    private func requireRole(
        _ role: StoreRole, _ who: Member.Who, _ host: StoreHost
    ) throws(Interruption) {
        let isPossible =
            switch (who, role) {
            case (_, .none): false
            case (.person, .owner): host.isShared
            case (_, .owner): false
            case (.everybody, .reader): host.isConfiguration
            case (.everybody, .writer): false
            case (_, .writer), (_, .reader): true
            }
        guard isPossible else { throw .refused(.invalidArgument(.role)) }
    }

    private func publicKey(of who: Member.Who, _ host: StoreHost) -> [UInt8]? {
        guard host.isShared, case .person(let uid, let name) = who else { return nil }
        return desk.vault.publicKey(of: Person(uid: uid, name: name))
    }

    /// By name: the account may be gone. With a group go those who came by it.
    private func removed(_ request: UnshareStore, _ host: StoreHost) throws(Interruption) -> [Member
        .Who]
    {
        let members = host.members.map(\.member)
        let named = members.filter { member in
            switch (request.kind, member.who) {
            case (.everybody, .everybody): true
            case (.person, .person(_, request.name)), (.group, .group(_, request.name)): true
            case (.person, _), (.group, _), (.everybody, _): false
            }
        }
        guard !named.isEmpty else { throw .refused(.doesNotExist(.member)) }
        let byGroup = request.kind == .group ? members.filter(\.isByGroup) : []
        return (named + byGroup).map(\.who)
    }

    // MARK: what is shown

    /// The store key, by what the person shows at their own store.
    private func prove(
        _ access: Access, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> StoreKey {
        guard let own = try desk.ownStore(of: person) else {
            throw .refused(.doesNotExist(.store))
        }
        let visit = try await desk.visit(own, person, exchange)
        try refusing { () throws(Refusal) in try own.requireUsable() }
        let opening = try await proving.admit(visit, .promptCurrent)
        let host = access.host
        return try await refusingAsync { () async throws(Refusal) in
            if host.isConfiguration { return try await host.deviceKey().key }
            guard let ring = try await own.ring(of: opening) else { throw .unknown }
            // It says which of two keys counts, and whom somebody has made a member.
            try await host.openShared(ring, person)
            return try await host.memberKey(ring, person).key
        }
    }

    /// The other person has to be able to open it already: else nobody could, if the one before
    /// leaves.
    private func handOn(
        _ host: StoreHost, _ who: Member.Who, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        guard case .person(let uid, let name) = who else {
            throw .refused(.invalidArgument(.role))
        }
        let next = Person(uid: uid, name: name)
        guard host.member(next)?.member.isSealed(to: desk.vault.publicKey(of: next)) == true else {
            throw .refused(.invalidAction(action: .share, reason: .notYetMember))
        }
        try await refusingAsync { () async throws(Refusal) in
            try await self.desk.vault.handOn(host, to: next)
        }
        desk.auditChange("a shared store has another owner", host, next, exchange)
        return .handedOn
    }
}
