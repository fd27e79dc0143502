import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Changes the passcode, turns it off and on, and lets the store follow the login password or not.
@LoopActor
final class PasscodeFlows {
    let desk: Desk
    let passcodes: Passcodes
    let permissions: Permissions
    let proving: Proving
    let failedTokens: FailedTokens

    init(
        desk: Desk, passcodes: Passcodes, permissions: Permissions, proving: Proving,
        failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.passcodes = passcodes
        self.permissions = permissions
        self.proving = proving
        self.failedTokens = failedTokens
    }

    func change(_ request: Passcode, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(request.target, exchange, .changing)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        switch request.change {
        case .change:
            return visit.host.hasPasscode
                ? try await changePasscode(visit) : try await turnOn(visit, .changePasscode)
        case .turnOff: return try await turnOff(visit)
        case .turnOn: return try await turnOn(visit, .createPasscode)
        case .followLogin: return try await followLogin(visit)
        case .ownPasscode:
            return visit.host.hasPasscode
                ? try await changePasscode(visit, endingToFollow: true)
                : try await turnOn(visit, .createPasscode)
        }
    }

    private func followLogin(_ visit: Visit) async throws(Interruption) -> Message {
        // A store that follows already is refused here.
        try permissions.require(.changePasscode, visit)
        let opening = try await proving.admit(visit, .change)
        let password = try await proving.askLoginPassword(visit.exchange)
        let present = try await desk.renewed(visit)
        try permissions.require(.changePasscode, present)
        try await passcodes.follow(password, present, opening)
        desk.auditChange("the store follows its owner's login password from now on", visit)
        return .following
    }

    private func changePasscode(
        _ visit: Visit, endingToFollow: Bool = false
    ) async throws(Interruption) -> Message {
        try permissions.require(.changePasscode, visit, endingToFollow: endingToFollow)
        let opening = try await proving.prove(visit, .change)
        _ = try await passcodes.enterNewPasscode(visit, opening)
        desk.auditChange("the passcode was changed", visit)
        return .changed
    }

    private func turnOff(_ visit: Visit) async throws(Interruption) -> Message {
        try permissions.require(.turnOffPasscode, visit)
        let opening = try await proving.prove(visit, .change)
        let present = try await desk.renewed(visit)
        try permissions.require(.turnOffPasscode, present)
        try await refusingAsync { () async throws(Refusal) in
            try await visit.host.turnOff(opening, .byChoice, present.policy)
        }
        failedTokens.forget(visit.host)
        desk.auditChange("the passcode was turned off", visit)
        return .turnedOff
    }

    private func turnOn(_ visit: Visit, _ action: PasscodeAction) async throws(Interruption)
        -> Message
    {
        try permissions.require(action, visit)
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await visit.host.deviceKey()
        }
        _ = try await passcodes.enterNewPasscode(visit, opening)
        desk.auditChange("a passcode was created", visit)
        return .turnedOn
    }
}
