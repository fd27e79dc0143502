import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Sets a new passcode in a store.
@LoopActor
final class Passcodes {
    let desk: Desk
    let newPasscodes: NewPasscodes
    let failedTokens: FailedTokens

    init(desk: Desk, newPasscodes: NewPasscodes, failedTokens: FailedTokens) {
        self.desk = desk
        self.newPasscodes = newPasscodes
        self.failedTokens = failedTokens
    }

    /// Asks for a new passcode of the store's own and sets it. Returns what opens the store from
    /// now on.
    func enterNewPasscode(_ visit: Visit, _ opening: Opening) async throws(Interruption)
        -> Opening
    {
        let new = try await newPasscodes.askNewPasscode(
            Entry(
                person: visit.person, host: visit.host, exchange: visit.exchange,
                opening: opening))
        return try await set(new, visit, opening)
    }

    func set(_ new: NewPasscode, _ visit: Visit, _ opening: Opening) async throws(Interruption)
        -> Opening
    {
        let ground = try await replace(visit, opening, with: new.coming)
        let opening = Opening(
            key: opening.key, ground: ground, typed: new.typed, departures: opening.departures)
        // A fingerprint that was on stays on, without a question.
        if visit.host.fingerprintIsOn { await keepResident(visit, opening) }
        return opening
    }

    /// What the store opens with from now on.
    func replace(
        _ visit: Visit, _ opening: consuming Opening, with new: consuming ComingPasscode
    ) async throws(Interruption) -> Ground {
        let replaced: StoreHost.Replaced
        do throws(Refusal) {
            replaced = try await visit.host.replacePasscode(
                consume opening, with: consume new, desk.cost(visit.policy), visit.policy)
        } catch {
            throw .refused(error)
        }
        failedTokens.forget(visit.host)
        if replaced.recoveryIsRevoked {
            desk.auditChange(Self.recoveryRevoked, visit)
            // The passcode is set, even if no person reads this any more.
            try? await visit.exchange.show(.recoveryRevoked)
        }
        return replaced.ground
    }

    /// From now on the store opens with this login password.
    func follow(_ password: TypedPasscode, _ visit: Visit, _ opening: consuming Opening)
        async throws(Interruption)
    {
        _ = try await replace(visit, consume opening, with: .login(password))
        newPasscodes.noteLoginPassword(password, visit.host, visit.policy)
    }

    /// The same where nobody is there to be told anything.
    func rekey(_ host: StoreHost, _ opening: Opening, _ login: TypedPasscode, _ policy: Policy)
        async throws(Refusal)
    {
        _ = try await host.replacePasscode(opening, with: .login(login), desk.cost(policy), policy)
        failedTokens.forget(host)
        newPasscodes.noteLoginPassword(login, host, policy)
    }

    static let recoveryRevoked = "the recovery key, made without a passcode, was revoked"

    /// After the passcode or the login password was typed and nothing is due any more: fingers open
    /// the store from here on.
    func keepResident(_ visit: Visit, _ opening: Opening) async {
        guard let proof = opening.proof else { return }
        switch visit.inForce {
        case .noPasscodeMode: visit.host.wipeResident()
        case .administrators(let policy), .standard(let policy):
            await visit.host.keepResident(proof.key, opening.ground, policy)
        }
    }
}
