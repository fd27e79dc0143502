import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Removes stores, and does what only root may do.
@LoopActor
final class OwnerFlows {
    let desk: Desk
    let permissions: Permissions
    let proving: Proving
    let authority: Authority
    let failedTokens: FailedTokens

    init(
        desk: Desk, permissions: Permissions, proving: Proving, authority: Authority,
        failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.permissions = permissions
        self.proving = proving
        self.authority = authority
        self.failedTokens = failedTokens
    }

    func reset(_ target: Target, _ exchange: any Conversation) async throws(Interruption) -> Message
    {
        try await reset(
            try await desk.visit(
                target, exchange, evenIfOwnerChanged: exchange.caller.credentials.uid == 0,
                evenIfBarred: true))
    }

    func reset(_ visit: Visit) async throws(Interruption) -> Message {
        let caller = visit.caller
        let host = visit.host
        let person = visit.person
        // It may destroy what the organisation wants to have back, and root may do that.
        if permissions.asker(person, caller) != .root { try desk.requireNotBarred(person) }
        try permissions.require(.reset, visit)
        // Root may always do this. The person has to prove who they are, if there is still
        // something to protect.
        var how = "a store was reset"
        switch (host.health, permissions.asker(person, caller)) {
        case (.live, .person) where host.isShared, (.live, .personWithDaemon) where host.isShared:
            _ = try await proving.proveAtOwn(visit, .change)
        case (.live, .person) where Self.isKeptByParent(host),
            (.live, .personWithDaemon) where Self.isKeptByParent(host):
            _ = try await proving.admit(visit, .change)
        case (.live, .person) where host.hasPasscode:
            switch try await prove(visit) {
            case .passcode: break
            case .polkit: how = "a store was reset without its passcode, as polkit allows"
            }
        case (.live, .personWithDaemon) where host.hasPasscode:
            _ = try await proving.prove(visit, .reset)
        case (.live, _), (.erased, _), (.damaged, _), (.barred, _): break
        }
        try await refusingAsync { () async throws(Refusal) in try await self.desk.vault.remove(host)
        }
        failedTokens.remove(host)
        desk.audit.note(
            .erase, how, store: host.id.description, person: person,
            uid: caller.credentials.uid)
        return .reset
    }

    /// What opens the store that it follows is shown. Where that is gone, nothing can be.
    private static func isKeptByParent(_ host: StoreHost) -> Bool {
        (try? host.requireParent())?.hasPasscode == true
    }

    private enum Proof { case passcode, polkit }

    /// A reset destroys and never opens. So a person who has forgotten the passcode may do it with
    /// what polkit demands, at a terminal, where they have typed the store's name.
    private func prove(_ visit: Visit) async throws(Interruption) -> Proof {
        if visit.caller.isTerminal {
            switch try await authority.allows(.reset, visit.caller) {
            case .yes:
                // The answer may have taken minutes.
                try permissions.require(.reset, try await desk.renewed(visit))
                return .polkit
            case .no: try await visit.exchange.show(.resetNotAllowed)
            case .noAgent, .absent: try await visit.exchange.show(.resetNotAsked)
            }
        }
        _ = try await proving.prove(visit, .reset)
        return .passcode
    }

    func clearTries(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        guard exchange.caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        let person = try await desk.person(target.subject, exchange.caller)
        let host = try desk.requireStore(of: person, target)
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally(clears: true) { $0.cleared() }
        }
        failedTokens.forget(host)
        desk.auditChange("the tries were cleared", host, person, exchange)
        return .cleared
    }

    func chown(_ request: Chown, _ exchange: any Conversation) async throws(Interruption) -> Message
    {
        guard exchange.caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        let owner = try await desk.person(request.owner, exchange.caller)
        guard let id = StoreID(bytes: request.store), let host = desk.vault.host(id) else {
            throw .refused(.doesNotExist(.store))
        }
        try await refusingAsync { () async throws(Refusal) in
            try await self.desk.vault.chown(host, to: owner)
        }
        desk.auditChange("a store was given to another account", host, owner, exchange)
        return .moved
    }
}
