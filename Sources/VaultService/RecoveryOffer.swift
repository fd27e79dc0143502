import KeySlots
import Policy
import Secrets
import StoreKeeping
import Wire
import Words

/// The recovery key of a store that was made where none could be shown, as at a login: offered once,
/// on a terminal, to its owner.
extension Service {
    /// Where nothing is due, nothing is said.
    func offerRecovery(_ target: Target, _ exchange: Exchange) async throws(Interruption) {
        let caller = exchange.caller
        let person = try await person(target.subject, caller)
        // Root's terminal is not where somebody else's key is shown unasked.
        guard caller.isTerminal, caller.credentials.uid == person.uid,
            let host = try ownStore(of: person, named: target.store)
        else { return }
        let visit = try await visit(host, person, exchange)
        guard host.isRecoveryOfferDue(visit.policy) else { return }
        if try await exchange.choose(.recoveryOffer) {
            let opening = try await admit(visit, .promptCurrent)
            try await showNewRecoveryKey(host, opening, exchange)
            auditChange("a new recovery key was made", visit)
        } else {
            try await exchange.show(.recoveryLater)
        }
        // Where this cannot be written the question comes once more.
        do throws(Refusal) {
            try await host.writeTerms(.terms) { terms, _ in
                terms.recoveryWasOffered = true
            }
        } catch {
            noteRefusal(error, caller)
        }
    }
}
