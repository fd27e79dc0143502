import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// One person at one store in one exchange, under the policy that was in force when it began. The
/// request sees that policy as a whole, whatever is read anew meanwhile.
@LoopActor
struct Visit {
    let person: Person
    let host: StoreHost
    let exchange: any Conversation
    let inForce: PolicyInForce

    var policy: Policy { inForce.policy }
    var caller: Caller { exchange.caller }
}
