import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// One person at one store in one exchange, under the policy that was in force when it began: a
/// request sees that one whole, whatever is read anew meanwhile.
@LoopActor
struct Visit {
    let person: Person
    let host: StoreHost
    let exchange: Exchange
    let inForce: PolicyInForce

    var policy: Policy { inForce.policy }
    var caller: Caller { exchange.caller }
}

extension Service {
    func visit(
        _ target: Target, _ exchange: Exchange, _ use: PolicyUse = .opening,
        evenIfOwnerChanged: Bool = false
    ) async throws(Interruption) -> Visit {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target, evenIfOwnerChanged: evenIfOwnerChanged)
        return try await visit(host, person, exchange, use)
    }

    func visit(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange, _ use: PolicyUse = .opening
    ) async throws(Interruption) -> Visit {
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await self.policy(for: person, host, use)
        }
        return Visit(person: person, host: host, exchange: exchange, inForce: inForce)
    }

    /// The policy that holds now, also where it changed since the visit began.
    func renewed(_ visit: Visit) async throws(Interruption) -> Visit {
        try await self.visit(visit.host, visit.person, visit.exchange)
    }
}
