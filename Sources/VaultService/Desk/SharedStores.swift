import KeySlots
import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// A store that is shared, as one of its members may use it.
struct Access {
    let host: StoreHost
    let role: Member.Role

    func require(_ least: Member.Role) throws(Interruption) {
        guard role.rawValue <= least.rawValue else {
            throw .refused(.notPermitted(least == .owner ? .ownerOnly : .readOnly))
        }
    }
}

/// Finds stores that are shared with a person, and opens them. Whoever is no member is told the same
/// as of a store that does not exist.
extension Desk {
    /// By `OWNER/NAME`, by its id, or by its name alone where it is the person's own. Nil where it is
    /// not shared, or not with this person.
    func shared(
        with person: Person, named name: [UInt8]
    ) async throws(Interruption) -> Access? {
        guard let host = sharedStore(named: name, of: person) else { return nil }
        guard let role = await role(of: person, in: host) else {
            guard !host.isDamaged(.person(uid: person.uid, name: person.name)) else {
                throw .refused(.storeDamaged(.memberFile))
            }
            return nil
        }
        try requireNotBarred(person)
        return Access(host: host, role: role)
    }

    func requireShared(
        _ target: Target, _ person: Person, least role: Member.Role = .reader
    ) async throws(Interruption) -> Access {
        if let access = try await shared(with: person, named: target.store) {
            try access.require(role)
            return access
        }
        if (try? vault.store(of: person, named: target.store)) ?? nil != nil {
            throw .refused(.invalidAction(action: .share, reason: .notShared))
        }
        throw .refused(.doesNotExist(.store))
    }

    private func sharedStore(named name: [UInt8], of person: Person) -> StoreHost? {
        if let own = vault.ownStore(of: person, named: name) {
            return own.isShared || own.isConfiguration ? own : nil
        }
        let stores = vault.sharedStores
        if let id = StoreID(text: String(decoding: name, as: UTF8.self)) {
            return stores.first { $0.id == id }
        }
        if name == Self.machineWide {
            return stores.first { $0.owner.uid == 0 && $0.identity.storeName == name }
        }
        guard let slash = name.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (owner, store) = (Array(name[..<slash]), Array(name[(slash + 1)...]))
        return stores.first {
            $0.identity.account == owner && $0.identity.storeName == store
        }
    }

    /// Root's store of this name is everybody's to look for.
    private static let machineWide = Array("shared".utf8)

    func role(of person: Person, in host: StoreHost) async -> Member.Role? {
        let role = host.role(of: person, groups: await groups(of: person, for: host))
        // Root may change the machine's configuration in any case.
        return host.isConfiguration && person.uid == 0 && role != .owner ? .writer : role
    }

    /// Those that the store is shared with and the person is in; nil where nobody can tell. A group
    /// that was made anew under the name of a former one is another group.
    private func groups(
        of person: Person, for host: StoreHost, without gone: [Member.Who] = []
    ) async -> [[UInt8]]? {
        let shared = host.sharedWith.compactMap { member -> (gid: UInt32, name: [UInt8])? in
            guard case .group(let gid, let name) = member.who, !gone.contains(member.who)
            else { return nil }
            return (gid, name)
        }
        guard !shared.isEmpty else { return [] }
        guard let all = await people.groups(of: person) else { return nil }
        var groups: [[UInt8]] = []
        for (gid, name) in shared where all.contains(name) {
            switch await people.number(ofGroup: name) {
            // A group that is gone is not among theirs. Who does not know it may not be up yet.
            case .found(gid), .unknown, .none: groups.append(name)
            case .found: break
            }
        }
        return groups
    }

    /// As it is now: the person may have typed for minutes, or gone on for hours.
    func renewed(
        _ access: Access, _ person: Person, least: Member.Role = .reader
    ) async throws(Interruption) -> Access {
        guard let role = await role(of: person, in: access.host) else {
            throw .refused(.doesNotExist(.store))
        }
        try requireNotBarred(person)
        let access = Access(host: access.host, role: role)
        try access.require(least)
        return access
    }

    /// Where the store is shared at all.
    func requireStill(
        _ least: Member.Role, _ person: Person, in host: StoreHost
    ) async throws(Interruption) {
        guard host.isShared || host.isConfiguration else { return }
        _ = try await renewed(Access(host: host, role: .reader), person, least: least)
    }

    /// To which what is shared with this person is sealed. Their store opens it, so that one has to
    /// have been open once.
    func requirePublicKey(of person: Person) throws(Interruption) -> [UInt8] {
        guard let own = try ownStore(of: person) else {
            throw .refused(.doesNotExist(.store))
        }
        return try refusing { () throws(Refusal) in
            try own.requireUsable()
            guard own.hasPasscode else { throw .doesNotExist(.passcode) }
            guard let publicKey = vault.publicKey(of: person) else { throw .locked }
            return publicKey
        }
    }

    /// Those that are shared with this person, their own among them.
    func allShared(with person: Person) async -> [Access] {
        var all: [Access] = []
        for host in vault.sharedStores where host.isUsable {
            if let role = await role(of: person, in: host) {
                all.append(Access(host: host, role: role))
            }
        }
        return all
    }

    /// Opens it by what the person's own store opens, which has to be open.
    func open(_ access: Access, _ person: Person) async throws(Interruption) {
        let host = access.host
        try await refusingAsync { () async throws(Refusal) in
            try host.requireUsable()
            if host.isConfiguration {
                guard !host.isOpen else { return }
                return try await host.open(try await host.deviceKey())
            }
            guard let ring = vault.ring(of: person) else { throw .locked }
            if !host.opens(for: person, vault.publicKey(of: person)) {
                try await self.admit(person, to: host)
            }
            // Also where another member has it open: everybody reads with a slot of their own.
            guard host.opens(for: person, vault.publicKey(of: person)) else {
                guard !host.isDamaged(.person(uid: person.uid, name: person.name)) else {
                    throw .storeDamaged(.memberFile)
                }
                let waits = !host.hasSlot(person) && host.owner != person
                throw .invalidAction(
                    action: .unlock, reason: waits ? .membershipPending : .membershipLost)
            }
            try await host.openShared(ring, person)
            // Their store was locked meanwhile.
            guard vault.ring(of: person) === ring else {
                if !host.isNeeded, !hasOpenMember(host) { await host.lock() }
                throw .locked
            }
        }
    }

    /// A member who has no slot yet gets one, where another member's store is open.
    private func admit(_ person: Person, to host: StoreHost) async throws(Refusal) {
        let groups = await groups(of: person, for: host)
        guard let publicKey = vault.publicKey(of: person), !host.hasSlot(person),
            let (ring, other) = ringOfAnother(than: person, in: host)
        else { return }
        do throws(Refusal) {
            let key = try await host.memberKey(ring, other)
            // That one's store was locked meanwhile.
            guard vault.ring(of: other) === ring else { throw .locked }
            // Nobody has shown it for this generation yet.
            if !host.records.isOpen { try await host.openShared(ring, other) }
            try await host.admit(person, groups: groups, key, sealedTo: publicKey)
        } catch {
            if !host.isNeeded, !hasOpenMember(host) { await host.lock() }
            throw error
        }
    }

    /// Whether somebody's store is open that opens this one.
    func hasOpenMember(_ host: StoreHost) -> Bool {
        host.sharedWith.contains { member in
            guard case .person(let uid, let name) = member.who else { return false }
            let person = Person(uid: uid, name: name)
            return vault.ring(of: person) != nil && member.isSealed(to: vault.publicKey(of: person))
        }
    }

    /// Whoever has left a group that the store is shared with.
    func removeGone(from host: StoreHost) async throws(Refusal) {
        let gone = await gone(from: host)
        // Unless somebody has made them a member themselves meanwhile.
        let byGroup = Set(host.sharedWith.filter(\.isByGroup).map(\.who))
        try await host.remove(gone.filter(byGroup.contains))
    }

    /// Who came by a group and is in none any more that it is shared with, once it is no longer
    /// shared with these. Where nobody can tell, they stay.
    func gone(
        from host: StoreHost, without groups: [Member.Who] = []
    ) async -> [Member.Who] {
        var gone: [Member.Who] = []
        for member in host.sharedWith where member.isByGroup {
            guard case .person(let uid, let name) = member.who else { continue }
            let person = Person(uid: uid, name: name)
            guard let left = await self.groups(of: person, for: host, without: groups)
            else { continue }
            if left.isEmpty { gone.append(member.who) }
        }
        return gone
    }

    private func ringOfAnother(
        than person: Person, in host: StoreHost
    ) -> (Ring, Person)? {
        for member in host.members.map(\.member) {
            guard case .person(let uid, let name) = member.who else { continue }
            let other = Person(uid: uid, name: name)
            guard other != person, member.isSealed(to: vault.publicKey(of: other)),
                let ring = vault.ring(of: other)
            else { continue }
            return (ring, other)
        }
        return nil
    }
}
