internal import Wire

/// What somebody may do with a store that is shared.
public enum Role: Sendable {
    /// Everything; whom it is shared with is the owner's to say.
    case owner
    /// Read and write.
    case writer
    /// Read.
    case reader
}

/// Whom a store is shared with.
public enum ShareTarget: Hashable, Sendable {
    /// The account of that name.
    case person(String)
    /// Whoever is in the Unix group of that name.
    case group(String)
    /// Whoever has an account on this machine; for shared configuration alone.
    case everybody
}

/// Somebody whom a store is shared with.
public struct Member: Sendable {
    /// Who.
    public var target: ShareTarget
    /// What they may do; nil where that is nothing, which no member has now.
    public var role: Role?
    /// They wait: they have no store of their own yet, or nobody could give them the key.
    public var isPending: Bool
    /// They came by a group that it is shared with.
    public var isByGroup: Bool
}

extension Store {
    /// Shares the store with somebody, changes what they may do, or makes them its owner. The store
    /// was made by ``NewStore/shared`` or ``NewStore/configuration``. What opens the person's own
    /// store, `default`, is asked for.
    ///
    /// - Returns: What was done, as a finished sentence for people: also that they wait, or have to
    ///   say yes before they own it. Programs look at ``members()``.
    @discardableResult
    public func share(
        to target: ShareTarget, as role: Role = .writer, with prompter: some Prompter = .silent
    ) async throws(VaultError) -> String {
        let (kind, name) = try target.parts()
        let request = ShareStore(
            target: self.target, kind: kind, name: name, role: StoreRole(role))
        return try await vault.converse(
            self, .changing, Outgoing(.share, request), with: prompter)
    }

    /// Shares it with them no more: from then on they get nothing of it, and it has a new key.
    /// What opens the person's own store, `default`, is asked for.
    ///
    /// - Returns: What was done, as a finished sentence for people: also that the new key is still
    ///   due.
    @discardableResult
    public func unshare(
        from target: ShareTarget, with prompter: some Prompter = .silent
    ) async throws(VaultError) -> String {
        let (kind, name) = try target.parts()
        let request = UnshareStore(target: self.target, kind: kind, name: name)
        return try await vault.converse(
            self, .changing, Outgoing(.unshare, request), with: prompter)
    }

    /// Whom the store is shared with.
    public func members() async throws(VaultError) -> [Member] {
        try await vault.link.ask(.members, target, for: .memberList, MemberList.self)
            .members.map(Member.init)
    }
}

extension ShareTarget {
    fileprivate func parts() throws(VaultError) -> (MemberKind, [UInt8]) {
        let (kind, name): (MemberKind, String) =
            switch self {
            case .person(let name): (.person, name)
            case .group(let name): (.group, name)
            case .everybody: (.everybody, "")
            }
        guard name.utf8.count <= Limits.text, !name.utf8.contains(0) else {
            throw VaultError(.invalidArgument, "this is no name of an account")
        }
        return (kind, Array(name.utf8))
    }
}

extension Member {
    init(_ entry: MemberList.Entry) {
        let name = String(decoding: entry.name, as: UTF8.self)
        target =
            switch entry.kind {
            case .person: .person(name)
            case .group: .group(name)
            case .everybody: .everybody
            }
        role = Role(entry.role)
        isPending = entry.isPending
        isByGroup = entry.isByGroup
    }
}

extension Role {
    init?(_ role: StoreRole) {
        switch role {
        case .none: return nil
        case .owner: self = .owner
        case .writer: self = .writer
        case .reader: self = .reader
        }
    }
}

extension StoreRole {
    init(_ role: Role) {
        self =
            switch role {
            case .owner: .owner
            case .writer: .writer
            case .reader: .reader
            }
    }
}
