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
    func shared(with person: Person, named name: [UInt8]) async -> Access? {
        guard let host = sharedStore(named: name, of: person) else { return nil }
        guard let role = await role(of: person, in: host) else { return nil }
        return Access(host: host, role: role)
    }

    func requireShared(
        _ target: Target, _ person: Person, least role: Member.Role = .reader
    ) async throws(Interruption) -> Access {
        if let access = await shared(with: person, named: target.store) {
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
        let asksGroups = host.members.contains { entry in
            if case .group = entry.member.who { true } else { false }
        }
        return host.role(
            of: person, groups: asksGroups ? await people.groups(of: person) : [])
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
            try await self.admit(person, to: host, access.role)
            // Also where another member has it open: everybody reads with a slot of their own.
            guard host.member(person)?.member.isSealed(to: vault.publicKey(of: person)) == true
            else { throw .invalidAction(action: .unlock, reason: .membershipPending) }
            try await host.openShared(ring, person)
        }
    }

    /// A member who has no slot yet, or one for a key that they no longer have, gets one, where
    /// another member's store is open.
    private func admit(
        _ person: Person, to host: StoreHost, _ role: Member.Role
    ) async throws(Refusal) {
        guard let publicKey = vault.publicKey(of: person),
            host.member(person)?.member.isSealed(to: publicKey) != true,
            let (ring, other) = ringOfAnother(than: person, in: host)
        else { return }
        let (key, _) = try await host.memberKey(ring, other)
        // Nobody has shown it for this generation yet.
        if !host.records.isOpen { try await host.openShared(ring, other) }
        let member =
            host.member(person)?.member
            ?? Member(
                .person(uid: person.uid, name: person.name), role,
                addedAt: Clock.wallSeconds(), addedBy: host.owner.uid, isByGroup: true)
        try await host.add(member, key, sealedTo: publicKey)
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
