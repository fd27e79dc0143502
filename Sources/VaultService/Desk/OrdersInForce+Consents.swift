import Fleet
import Policy
import Posix
import StoreKeeping
import Words

/// What people have answered to what their organisation asks, and that they have said who they are.
extension OrdersInForce {
    var consents: Consents { organisation?.consents ?? .none }
    var signIn: SignIn? { organisation?.signIn }

    func agreements(of person: Person) -> Agreements {
        let name = organisation?.orderer.name ?? ""
        if let kept = agreements[person.uid], kept.account == person.name,
            kept.organisation == name
        {
            return kept
        }
        return Agreements(account: person.name, organisation: name)
    }

    /// It counts once it is on the disk.
    func say(
        _ agrees: Bool, to item: Consents.Item, _ person: Person
    ) async throws(Refusal) {
        var said = agreements(of: person)
        said.say(agrees, to: item, at: Clock.wallSeconds())
        try await keep(said, person)
    }

    /// It counts once it is on the disk.
    func haveSignedIn(_ signIn: SignIn, _ person: Person) async throws(Refusal) {
        var said = agreements(of: person)
        said.haveSignedIn(signIn, at: Clock.wallSeconds())
        try await keep(said, person)
    }

    private func keep(_ said: Agreements, _ person: Person) async throws(Refusal) {
        let (folder, kept, uid) = (folder, said, person.uid)
        try await pool.run {
            Result { () throws(Refusal) in
                do throws(FleetFolder.Fault) {
                    try folder.keep(kept, of: uid)
                } catch {
                    throw error.refusal
                }
            }
        }.get()
        agreements[person.uid] = said
    }
}
