import Policy
import Posix
import SealedStore
import StoreKeeping
import Wire
import Words

/// The owner knows of damage to the records, and goes on without what is gone.
@LoopActor
final class MendFlow {
    let desk: Desk
    let proving: Proving

    init(desk: Desk, proving: Proving) {
        self.desk = desk
        self.proving = proving
    }

    /// The passcode is typed for it: a program of the person's could otherwise hide what somebody
    /// did to the file.
    func mend(_ target: Target, _ exchange: any Conversation) async throws(Interruption) -> Message
    {
        let (visit, ground) = try await proving.openOwn(target, exchange)
        let mended = try await refusingAsync { () async throws(Refusal) in
            try visit.host.require(ground)
            return try await visit.host.mend()
        }
        desk.auditChange(
            "damage was acknowledged: records found again: \(mended.found), removed: "
                + "\(mended.removed), accepted as they are: \(mended.accepted)", visit)
        return .recordsMended(
            found: mended.found, removed: mended.removed, accepted: mended.accepted)
    }
}
