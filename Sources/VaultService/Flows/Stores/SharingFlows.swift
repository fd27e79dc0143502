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
        let first = try await desk.requireShared(request.target, person)
        let who = try await who(request.kind, request.name)
        _ = try wish(request.role, who, person, first)
        let proof = try await prove(first.host, person, exchange)
        let host = first.host
        return try await host.needed { () async throws(Interruption) in
            let key = try await key(of: host, proof, person)
            // It may have been handed on, renamed, or they removed, while they typed.
            let access = try await sameStill(host, request.target, person)
            switch try wish(request.role, who, person, access) {
            case .share(let role):
                return try await share(host, who, role, key, person, exchange)
            case .shareAgain(let member):
                return try await shareAgain(host, member, key, person, exchange)
            case .offer(let next): return try await offer(host, next, key, person, exchange)
            case .accept: return try await accept(host, key, person, exchange)
            }
        }
    }

    func unshare(_ request: UnshareStore, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let person = try await own(request.target, exchange)
        let first = try await desk.requireShared(request.target, person)
        let host = first.host
        _ = try await removed(request, first, person)
        let proof = try await prove(host, person, exchange)
        return try await host.needed { () async throws(Interruption) in
            _ = try await key(of: host, proof, person)
            let access = try await sameStill(host, request.target, person)
            let gone = try await removed(request, access, person)
            let isRecoveryGone = host.hasRecovery && host.recoveryIsKnown(to: gone)
            let isOneself = self.isOneself(request, person)
            try await refusingAsync { () async throws(Refusal) in
                try await host.remove(gone) { () throws(Refusal) in
                    guard isOneself || host.owner == person else {
                        throw .notPermitted(.ownerOnly)
                    }
                }
            }
            desk.auditChange("a store is shared with fewer people", host, person, exchange)
            guard host.isShared else { return .unshared }
            if isRecoveryGone { try? await exchange.show(.recoveryDeleted) }
            do throws(Refusal) {
                try await desk.removeGone(from: host)
                try await host.giveNewKey()
            } catch {
                desk.noteRefusal(error, exchange.caller)
                return .unsharedKeyDue(error)
            }
            return await isStillIn(gone, host) ? .unsharedButGroup : .unsharedWithNewKey
        }
    }

    /// Under the name that was given there may be another store by now, or this one under another.
    private func sameStill(
        _ host: StoreHost, _ target: Target, _ person: Person
    ) async throws(Interruption) -> Access {
        let access = try await desk.requireShared(target, person)
        guard access.host === host else { throw .refused(.doesNotExist(.store)) }
        return access
    }

    // MARK: what is done

    private enum Wish {
        case share(Member.Role)
        /// With a member whose own store was made anew. Any member who writes may do that.
        case shareAgain(Member)
        case offer(Person)
        /// What the owner has offered.
        case accept
    }

    private func wish(
        _ role: StoreRole, _ who: Member.Who, _ person: Person, _ access: Access
    ) throws(Interruption) -> Wish {
        let host = access.host
        try requireRole(role, who, host)
        let isOneself = who == .person(uid: person.uid, name: person.name)
        if isOneself, role == .owner, access.role != .owner, isOffered(host, to: person) {
            return .accept
        }
        guard access.role == .owner else {
            guard access.role == .writer, let member = lost(who, host) else {
                throw .refused(.notPermitted(.ownerOnly))
            }
            return .shareAgain(member)
        }
        guard !isOneself else {
            throw .refused(.invalidAction(action: .share, reason: .isOwner))
        }
        guard role == .owner else { return .share(role == .reader ? .reader : .writer) }
        guard case .person(let uid, let name) = who else {
            throw .refused(.invalidArgument(.role))
        }
        return .offer(Person(uid: uid, name: name))
    }

    /// By whoever owns it now: what an owner before has offered is no offer any more.
    private func isOffered(_ host: StoreHost, to person: Person) -> Bool {
        guard let member = host.member(person)?.member else { return false }
        return member.role == .owner && member.addedBy == host.owner.uid
    }

    /// A member whom it does not open for any more, or an owner to whom root has given it.
    private func lost(_ who: Member.Who, _ host: StoreHost) -> Member? {
        guard host.isShared, case .person(let uid, let name) = who else { return nil }
        let person = Person(uid: uid, name: name)
        guard let publicKey = desk.vault.publicKey(of: person),
            !host.opens(for: person, publicKey)
        else { return nil }
        if let member = host.member(person)?.member { return member }
        guard host.owner == person else { return nil }
        return Member(who, .writer, addedAt: Clock.wallSeconds(), addedBy: uid)
    }

    private func share(
        _ host: StoreHost, _ who: Member.Who, _ role: Member.Role, _ key: SharedKey,
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let publicKey = publicKey(of: who, host)
        var member = Member(who, role, addedAt: Clock.wallSeconds(), addedBy: person.uid)
        if let known = host.members.first(where: { $0.member.who == who })?.member {
            member.addedAt = known.addedAt
        }
        let made = member
        let isAgain = lost(who, host)?.slot != nil
        try await refusingAsync { () async throws(Refusal) in
            try await host.add(made, key, sealedTo: publicKey, if: isOwned(host, by: person))
        }
        desk.auditChange("a store was shared", host, person, exchange)
        switch who {
        case .group, .everybody, .recoveryKey: return .shared
        case .person where publicKey == nil && host.isShared: return .sharedPending
        case .person: return isAgain ? .sharedAgain : .shared
        }
    }

    private func shareAgain(
        _ host: StoreHost, _ member: Member, _ key: SharedKey, _ person: Person,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let publicKey = publicKey(of: member.who, host)
        try await refusingAsync { () async throws(Refusal) in
            try await host.add(member, key, sealedTo: publicKey) { () throws(Refusal) in
                // Neither of the two was removed meanwhile.
                let them = self.person(member.who)
                guard host.member(person) != nil,
                    them.map({ host.member($0) != nil || host.owner == $0 }) == true
                else { throw .doesNotExist(.member) }
            }
        }
        desk.auditChange("a store was shared again with a member", host, person, exchange)
        return .sharedAgain
    }

    /// It is offered, and not given: a store counts among its owner's, takes of their quota, and has
    /// a name that programs of theirs may look for. And the other person has to be able to open it
    /// already: else nobody could, if the owner leaves.
    private func offer(
        _ host: StoreHost, _ next: Person, _ key: SharedKey, _ person: Person,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        guard host.opens(for: next, desk.vault.publicKey(of: next)),
            var member = host.member(next)?.member
        else { throw .refused(.invalidAction(action: .share, reason: .notYetMember)) }
        (member.role, member.isByGroup, member.addedBy) = (.owner, false, person.uid)
        let offered = member
        try await refusingAsync { () async throws(Refusal) in
            try await host.add(offered, key, sealedTo: nil) { () throws(Refusal) in
                try isOwned(host, by: person)()
                guard host.member(next) != nil else { throw .doesNotExist(.member) }
            }
        }
        desk.auditChange("a shared store was offered to another owner", host, next, exchange)
        let name = host.identity.account + [UInt8(ascii: "/")] + host.identity.storeName
        return .handOnOffered(store: name, to: next.name)
    }

    private func accept(
        _ host: StoreHost, _ key: SharedKey, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        desk.quotaNow(of: person)
        let former = host.owner
        let offers = host.sharedWith.filter {
            $0.role == .owner && self.person($0.who) != person
        }
        let isStillOffered: StoreHost.Proviso = { () throws(Refusal) in
            guard host.owner == former, self.isOffered(host, to: person) else {
                throw .notPermitted(.ownerOnly)
            }
        }
        try await refusingAsync { () async throws(Refusal) in
            try self.desk.vault.requireRoom(for: host, of: person)
            // First: after the other step they would be offers to take it back.
            for var other in offers {
                other.role = .writer
                try await host.add(other, key, sealedTo: nil) { () throws(Refusal) in
                    try isStillOffered()
                    guard self.person(other.who).map({ host.member($0) != nil }) == true else {
                        throw .busy
                    }
                }
            }
            try await self.desk.vault.handOn(host, to: person, if: isStillOffered)
        }
        desk.auditChange("a shared store has another owner", host, person, exchange)
        return host.hasRecovery ? .tookOverWithRecovery : .tookOver
    }

    private func isOwned(_ host: StoreHost, by person: Person) -> StoreHost.Proviso {
        { () throws(Refusal) in
            guard host.owner == person else { throw .notPermitted(.ownerOnly) }
        }
    }

    private func person(_ who: Member.Who) -> Person? {
        guard case .person(let uid, let name) = who else { return nil }
        return Person(uid: uid, name: name)
    }

    /// Whether somebody who was removed is in a group that it is shared with.
    private func isStillIn(_ gone: [Member.Who], _ host: StoreHost) async -> Bool {
        for person in gone.compactMap(person) {
            if await desk.role(of: person, in: host) != nil { return true }
        }
        return false
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
            case (.everybody, .writer), (.recoveryKey, _): false
            case (_, .writer), (_, .reader): true
            }
        guard isPossible else { throw .refused(.invalidArgument(.role)) }
    }

    private func publicKey(of who: Member.Who, _ host: StoreHost) -> [UInt8]? {
        guard host.isShared, case .person(let uid, let name) = who else { return nil }
        return desk.vault.publicKey(of: Person(uid: uid, name: name))
    }

    private func isOneself(_ request: UnshareStore, _ person: Person) -> Bool {
        request.kind == .person && request.name == person.name
    }

    /// By name: the account may be gone. With a group go those who came by it, and are in no other
    /// one.
    private func removed(
        _ request: UnshareStore, _ access: Access, _ person: Person
    ) async throws(Interruption) -> [Member.Who] {
        let host = access.host
        let isOneself = isOneself(request, person)
        try access.require(isOneself ? .reader : .owner)
        let members = host.sharedWith.filter { member in
            switch (request.kind, member.who) {
            case (.everybody, .everybody): true
            case (.person, .person(_, request.name)), (.group, .group(_, request.name)): true
            case (.person, _), (.group, _), (.everybody, _): false
            }
        }
        if members.isEmpty, request.kind == .person,
            case .found(let name, let uid) = await desk.directory.account(named: request.name)
        {
            let who = Member.Who.person(uid: uid, name: name)
            if host.isDamaged(who) {
                try requireNotOwner([who], of: host)
                return [who]
            }
        }
        guard !members.isEmpty else { throw .refused(.doesNotExist(.member)) }
        try requireNotOwner(members.map(\.who), of: host)
        // They would be back at once.
        guard !isOneself || !members.contains(where: \.isByGroup) else {
            throw .refused(.invalidAction(action: .unshare, reason: .memberByGroup))
        }
        let named = members.map(\.who)
        return named + (request.kind == .group ? await desk.gone(from: host, without: named) : [])
    }

    private func requireNotOwner(
        _ members: [Member.Who], of host: StoreHost
    ) throws(Interruption) {
        guard !members.contains(where: { person($0) == host.owner }) else {
            throw .refused(.invalidAction(action: .unshare, reason: .isOwner))
        }
    }

    // MARK: what is shown

    /// What the person's own store opens, by what they show there.
    private func prove(
        _ host: StoreHost, _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> (own: StoreHost, opening: Opening) {
        guard let own = try desk.ownStore(of: person) else {
            throw .refused(.doesNotExist(.store))
        }
        let visit = try await desk.visit(own, person, exchange)
        try refusing { () throws(Refusal) in try own.requireUsable() }
        let opening = try await proving.admit(visit, .change)
        await host.newKeyEnds()
        return (own, opening)
    }

    /// The key of the shared store.
    private func key(
        of host: StoreHost, _ proof: (own: StoreHost, opening: Opening), _ person: Person
    ) async throws(Interruption) -> SharedKey {
        try await refusingAsync { () async throws(Refusal) in
            if host.isConfiguration { return try await host.deviceKey().shared }
            guard let ring = try await proof.own.ring(of: proof.opening) else { throw .unknown }
            // It says which of two keys counts, and whom somebody has made a member.
            try await host.openShared(ring, person)
            return try await host.memberKey(ring, person)
        }
    }
}
