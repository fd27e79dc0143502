import Posix
import Wire
import Words

/// The flows that a person starts on a store. Each is written once, against a conversation.
@LoopActor
final class Flows {
    let stores: StoreFlows
    let people: PeopleFlow
    let passcodes: PasscodeFlows
    let recovery: RecoveryFlows
    let resyncing: ResyncFlow
    let owner: OwnerFlows
    let fingers: FingerFlows
    let keyrings: Keyrings
    let mending: MendFlow
    let holding: HoldFlow
    let naming: NamingFlow
    let sharing: SharingFlows
    let apps: AppFlow
    let consenting: Consenting

    init(
        stores: StoreFlows, people: PeopleFlow, passcodes: PasscodeFlows, recovery: RecoveryFlows,
        resyncing: ResyncFlow, owner: OwnerFlows, fingers: FingerFlows, keyrings: Keyrings,
        mending: MendFlow, holding: HoldFlow, naming: NamingFlow, sharing: SharingFlows,
        apps: AppFlow, consenting: Consenting
    ) {
        self.stores = stores
        self.people = people
        self.passcodes = passcodes
        self.recovery = recovery
        self.resyncing = resyncing
        self.owner = owner
        self.fingers = fingers
        self.keyrings = keyrings
        self.mending = mending
        self.holding = holding
        self.naming = naming
        self.sharing = sharing
        self.apps = apps
        self.consenting = consenting
    }

    /// Runs the flow of a request. The message, if there is one, ends the exchange.
    func run(_ request: FlowRequest, _ exchange: any Conversation) async throws(Interruption)
        -> Message?
    {
        switch request {
        case .create(let create): return try await stores.create(create, exchange)
        case .openStore(let target): return try await people.openStore(target, exchange)
        case .lock(let target): return try await stores.lock(target, exchange)
        case .passcode(let passcode): return try await passcodes.change(passcode, exchange)
        case .recoveryNew(let target): return try await recovery.newRecoveryKey(target, exchange)
        case .recover(let target): return try await recovery.recover(target, exchange)
        case .reset(let target): return try await owner.reset(target, exchange)
        case .resync(let target): return try await resyncing.resync(target, exchange)
        case .triesClear(let target): return try await owner.clearTries(target, exchange)
        case .chown(let chown): return try await owner.chown(chown, exchange)
        case .fingerprintEnroll(let finger): return try await fingers.enroll(finger, exchange)
        case .fingerprintVerify(let target): return try await fingers.verifyFinger(target, exchange)
        case .fingerprintDelete(let finger): return try await fingers.deleteFinger(finger, exchange)
        case .fingerprintSwitch(let change): return try await fingers.switchFinger(change, exchange)
        case .keyringForget(let target): return try await keyrings.forgetKeyring(target, exchange)
        case .fingerprintClear(let clear): return try await fingers.clearChip(clear, exchange)
        case .mend(let target): return try await mending.mend(target, exchange)
        case .rename(let rename): return try await naming.rename(rename, exchange)
        case .share(let share): return try await sharing.share(share, exchange)
        case .unshare(let unshare): return try await sharing.unshare(unshare, exchange)
        case .recoveryDelete(let target): return try await recovery.delete(target, exchange)
        case .hold(let hold): return try await holding.hold(hold, exchange)
        case .switchStore(let request): return try await people.run(request, exchange)
        case .consentAsk(let ask): return try await consenting.answer(ask, exchange)
        case .appOpen(let app): return try await apps.open(app, exchange)
        case .offerRecovery(let target):
            try await recovery.offerRecovery(target, exchange)
            return nil
        }
    }
}
