import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// Decides what may be done with a store. `actions` lists it, and each flow asks again before it
/// acts.
@LoopActor
final class Permissions {
    let desk: Desk
    let readers: Readers

    init(desk: Desk, readers: Readers) {
        self.desk = desk
        self.readers = readers
    }

    func actions(_ target: Target, _ caller: Caller) async throws(Interruption) -> ActionList {
        let person = try await desk.person(target.subject, caller)
        let host = desk.vault.ownStore(of: person, named: target.store)
        let stray = host == nil ? desk.vault.strayStore(of: person, named: target.store) : nil
        let answer = await desk.policyAnswer(for: person, host)
        await readers.lookForReaders(answer.policy.policy)
        let voice = desk.speech.voice(of: caller)
        let input = actionInput(person, host ?? stray, answer.policy, caller)
        return ActionList(
            actions: PasscodeAction.allCases.map { action in
                var entry = ActionList.Entry(
                    name: Array(action.rawValue.utf8), allowed: true, code: 0, reason: [],
                    verb: verb(of: action, input, person, caller))
                switch decide(action, input) {
                case .allowed: break
                case .refused(let obstacle):
                    let refusal = refusal(of: action, obstacle, host, answer.policy.policy)
                    entry.allowed = false
                    entry.code = refusal.code.rawValue
                    entry.reason = voice.bytes(refusal.actionReason)
                }
                return entry
            })
    }

    /// The same decision, at the moment at which the action is performed.
    func require(
        _ action: PasscodeAction, _ person: Person, _ host: StoreHost, _ inForce: PolicyInForce,
        _ caller: Caller
    ) throws(Refusal) {
        switch decide(action, actionInput(person, host, inForce, caller)) {
        case .allowed: return
        case .refused(let obstacle): throw refusal(of: action, obstacle, host, inForce.policy)
        }
    }

    /// `endingToFollow`: that the store follows the login password is what is to change, and no
    /// obstacle to it.
    func require(
        _ action: PasscodeAction, _ visit: Visit, endingToFollow: Bool = false
    ) throws(Interruption) {
        var input = actionInput(visit.person, visit.host, visit.inForce, visit.caller)
        if endingToFollow { input.followsLogin = false }
        switch decide(action, input) {
        case .allowed: return
        case .refused(let obstacle):
            throw .refused(refusal(of: action, obstacle, visit.host, visit.policy))
        }
    }

    private func actionInput(
        _ person: Person, _ host: StoreHost?, _ inForce: PolicyInForce, _ caller: Caller
    ) -> ActionInput {
        ActionInput(
            store: host.map { actionStore($0, person, inForce.policy) } ?? .absent,
            followsLogin: host?.followsLogin ?? false, policy: inForce,
            knowledge: desk.knowledge(of: person), hardware: readers.hardware(inForce.policy),
            asker: asker(person, caller))
    }

    private func actionStore(_ host: StoreHost, _ person: Person, _ policy: Policy) -> ActionStore {
        guard host.identity.uid == person.uid, host.identity.account == person.name else {
            return .ownerChanged
        }
        switch host.health {
        case .erased: return .erased
        case .damaged: return .damaged
        case .barred: return .barred
        case .live:
            if host.identity.kind != .own { return .following }
            return host.hasPasscode && host.isRetryLocked(policy)
                ? .retryLocked : .usable(host.passcodeState)
        }
    }

    func asker(_ person: Person, _ caller: Caller) -> ActionAsker {
        if caller.credentials.uid == 0, person.uid != 0 { return .root }
        return caller.isTrusted ? .personWithDaemon : .person
    }

    private func refusal(
        of action: PasscodeAction, _ obstacle: ActionObstacle, _ host: StoreHost?,
        _ policy: Policy
    ) -> Refusal {
        func invalid(_ reason: Refusal.ActionReason) -> Refusal {
            .invalidAction(action: Refusal.Action(action), reason: reason)
        }
        switch obstacle {
        case .noStore: return .doesNotExist(.store)
        case .retryLocked:
            return host?.limitReached(policy) ?? .retryLimitReached(.locked(.nothing))
        case .erased: return host?.gone ?? .deleted
        case .barred:
            guard case .barred(let bar) = host?.health else { return .locked }
            return .barred(bar)
        case .damaged:
            guard case .damaged(let what) = host?.health else { return .storeDamaged(.unknown) }
            return .storeDamaged(what)
        case .ownerChanged: return .notPermitted(.ownerChanged)
        case .policyBroken:
            guard case .broken(let problem) = desk.policies.standing else { return .unknown }
            return PolicyKeeper.refusal(problem)
        case .groupsUnknown: return .serviceUnavailable(.groups)
        case .noPasscodeMode: return .policyDenies(key: "UseDefaultPolicy")
        case .policy(let key): return invalid(.policy(key: key))
        case .passcodeOn: return invalid(.passcodeOn)
        case .passcodeOff:
            return invalid(action == .turnOnFingerprint ? .passcodeFirst : .passcodeOff)
        case .followsLogin: return invalid(.followsLogin)
        case .followsStore:
            return invalid(host?.isFollower == true ? .follows(host?.parentName ?? "") : .shared)
        case .fingerprintOn: return invalid(.fingerprint(.on))
        case .fingerprintOff: return invalid(.fingerprint(.off))
        case .noReader: return invalid(.fingerprint(.noReader))
        case .externalReader: return invalid(.fingerprint(.external))
        }
    }

    /// The command that the person types.
    private func verb(
        of action: PasscodeAction, _ input: ActionInput, _ person: Person, _ caller: Caller
    ) -> [UInt8] {
        let verb: String
        switch action {
        case .createPasscode:
            verb = input.store == .absent ? "appvault create" : "appvault passwd --on"
        case .changePasscode: verb = input.followsLogin ? "passwd" : "appvault passwd"
        case .turnOffPasscode: verb = "appvault passwd --off"
        case .turnOnFingerprint: verb = "appvault fingerprint enroll"
        case .turnOffFingerprint: verb = "appvault fingerprint off"
        case .lock: verb = "appvault lock"
        case .reset: verb = "appvault reset"
        case .newRecoveryKey: verb = "appvault recovery new"
        }
        guard input.asker == .root, verb != "passwd" else { return Array(verb.utf8) }
        return Text.clean("\(verb) --user \(Text.clean(person.name))", limit: Limits.text)
    }
}

extension Refusal.Action {
    init(_ action: PasscodeAction) {
        self =
            switch action {
            case .createPasscode: .createPasscode
            case .changePasscode: .changePasscode
            case .turnOffPasscode: .turnOffPasscode
            case .turnOnFingerprint: .turnOnFingerprint
            case .turnOffFingerprint: .turnOffFingerprint
            case .lock: .lock
            case .reset: .reset
            case .newRecoveryKey: .newRecoveryKey
            }
    }
}

extension Refusal {
    /// The reason in an entry of the list, which names the action itself.
    fileprivate var actionReason: Phrase {
        if case .invalidAction(_, let reason) = self { return reason.phrase }
        return message
    }
}
