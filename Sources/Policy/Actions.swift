/// What can be done with a store and with the ways to open it, by the names that `appvault actions`
/// lists.
public enum PasscodeAction: String, CaseIterable, Sendable {
    case createPasscode = "create-passcode"
    case changePasscode = "change-passcode"
    case turnOffPasscode = "turn-off-passcode"
    case turnOnFingerprint = "turn-on-fingerprint"
    case turnOffFingerprint = "turn-off-fingerprint"
    case lock
    case reset
    case newRecoveryKey = "new-recovery-key"
}

/// The state of a store, as far as it decides which actions are possible.
public enum ActionStore: Equatable, Hashable, Sendable {
    case absent
    case usable(PasscodeState)
    /// Another store opens it, so it has no passcode and no finger of its own.
    case following
    /// Only the recovery key or root can unlock the store again.
    case retryLocked
    case erased
    case damaged
    /// The organisation of this machine keeps it shut.
    case barred
    /// The account that it belongs to has changed.
    case ownerChanged
}

/// Who asks for the action.
public enum ActionAsker: CaseIterable, Sendable {
    case person
    /// The person, at a private daemon that they run themselves, or root for itself.
    case personWithDaemon
    /// Root for somebody else: root decides alone.
    case root
}

/// How sure the daemon is of the policy for this person.
public enum PolicyKnowledge: CaseIterable, Sendable {
    case known
    /// A file is broken, and there never was a good one.
    case broken
    /// The directory service has never answered which groups the person is in.
    case groupsUnknown
}

/// All that decides whether an action is possible.
public struct ActionInput: Sendable {
    public var store: ActionStore
    public var followsLogin: Bool
    public var policy: PolicyInForce
    public var knowledge: PolicyKnowledge
    public var hardware: Hardware
    public var asker: ActionAsker

    public init(
        store: ActionStore, followsLogin: Bool, policy: PolicyInForce, knowledge: PolicyKnowledge,
        hardware: Hardware, asker: ActionAsker
    ) {
        self.store = store
        self.followsLogin = followsLogin
        self.policy = policy
        self.knowledge = knowledge
        self.hardware = hardware
        self.asker = asker
    }
}

public enum ActionDecision: Equatable, Sendable {
    case allowed
    case refused(ActionObstacle)
}

/// Why an action is not possible.
public enum ActionObstacle: Equatable, Hashable, Sendable {
    case noStore
    case retryLocked
    case erased
    case damaged
    case barred
    case ownerChanged
    case policyBroken
    case groupsUnknown
    case noPasscodeMode
    /// A key of the policy forbids it.
    case policy(key: String)
    case passcodeOn
    case passcodeOff
    /// Its passcode is the login password, which `passwd` changes.
    case followsLogin
    /// It opens with another store.
    case followsStore
    case fingerprintOn
    case fingerprintOff
    case noReader
    case externalReader
}

/// Decides for the list of actions, and again when an action is performed.
public func decide(_ action: PasscodeAction, _ input: ActionInput) -> ActionDecision {
    if let obstacle = obstacle(to: action, input) { return .refused(obstacle) }
    return .allowed
}

private func obstacle(to action: PasscodeAction, _ input: ActionInput) -> ActionObstacle? {
    switch action {
    case .lock: obstacleToLock(input)
    case .reset: obstacleToReset(input)
    case .newRecoveryKey: obstacleToNewRecoveryKey(input)
    case .createPasscode, .changePasscode, .turnOffPasscode, .turnOnFingerprint,
        .turnOffFingerprint:
        obstacleToChange(action, input)
    }
}

/// Locking is never refused for a store that could be open.
private func obstacleToLock(_ input: ActionInput) -> ActionObstacle? {
    switch input.store {
    case .absent: .noStore
    case .ownerChanged: .ownerChanged
    case .erased: .erased
    case .usable, .following, .retryLocked, .damaged, .barred: nil
    }
}

private func obstacleToReset(_ input: ActionInput) -> ActionObstacle? {
    switch (input.store, input.asker) {
    case (.absent, _): .noStore
    case (.usable, _), (.following, _), (.erased, _): nil
    // No try is left to prove the passcode. polkit may allow the person a reset without it, but it
    // does not know a private daemon.
    case (.retryLocked, .root), (.retryLocked, .person): nil
    case (.retryLocked, .personWithDaemon): .retryLocked
    case (.damaged, .person): .damaged
    case (.damaged, _): nil
    // It destroys what the organisation may want to have back.
    case (.barred, .root): nil
    case (.barred, _): .barred
    case (.ownerChanged, .root): nil
    case (.ownerChanged, _): .ownerChanged
    }
}

private func obstacleToNewRecoveryKey(_ input: ActionInput) -> ActionObstacle? {
    switch input.store {
    case .usable, .following:
        if let unsure = obstacle(of: input.knowledge) { return unsure }
        return input.policy.policy.allowRecoveryKey ? nil : .policy(key: "AllowRecoveryKey")
    case .absent, .retryLocked, .erased, .damaged, .barred, .ownerChanged:
        return obstacle(of: input.store)
    }
}

private func obstacleToChange(_ action: PasscodeAction, _ input: ActionInput) -> ActionObstacle? {
    switch input.store {
    // If there is no store, creating a passcode means creating the store, which asks for one.
    case .absent where action == .createPasscode:
        return obstacle(of: input.knowledge) ?? obstacle(of: input.policy)
    case .absent, .retryLocked, .erased, .damaged, .barred, .ownerChanged:
        return obstacle(of: input.store)
    case .following: return .followsStore
    case .usable(let state):
        return obstacle(of: input.knowledge) ?? obstacle(of: input.policy)
            ?? obstacle(to: action, state, input)
    }
}

private func obstacle(
    to action: PasscodeAction, _ state: PasscodeState, _ input: ActionInput
) -> ActionObstacle? {
    let policy = input.policy.policy
    switch (action, state) {
    case (.createPasscode, .none), (.createPasscode, .fingerprintOnly): return nil
    case (.createPasscode, _): return .passcodeOn
    // Without a passcode, a change creates one.
    case (.changePasscode, .none), (.changePasscode, .fingerprintOnly): return nil
    case (.changePasscode, _): return input.followsLogin ? .followsLogin : nil
    case (.turnOffPasscode, .none), (.turnOffPasscode, .fingerprintOnly): return .passcodeOff
    case (.turnOffPasscode, _):
        return policy.allowNoPasscode ? nil : .policy(key: "AllowNoPasscode")
    // A fingerprint needs a passcode beside it.
    case (.turnOnFingerprint, .none): return .passcodeOff
    case (.turnOnFingerprint, .passcodeAndFingerprint), (.turnOnFingerprint, .fingerprintOnly):
        return .fingerprintOn
    case (.turnOnFingerprint, .passcode):
        switch input.hardware {
        case _ where !policy.allowFingerprint: return .policy(key: "AllowFingerprint")
        case .none: return .noReader
        case .onlyExternal: return .externalReader
        case .readerUsable: return nil
        }
    case (.turnOffFingerprint, .passcodeAndFingerprint): return nil
    // Without the fingerprint, everybody who has the machine could open the store.
    case (.turnOffFingerprint, .fingerprintOnly): return .passcodeOff
    case (.turnOffFingerprint, .none), (.turnOffFingerprint, .passcode): return .fingerprintOff
    case (.lock, _), (.reset, _), (.newRecoveryKey, _): return nil
    }
}

private func obstacle(of store: ActionStore) -> ActionObstacle? {
    switch store {
    case .absent: .noStore
    case .usable, .following: nil
    case .retryLocked: .retryLocked
    case .erased: .erased
    case .damaged: .damaged
    case .barred: .barred
    case .ownerChanged: .ownerChanged
    }
}

private func obstacle(of knowledge: PolicyKnowledge) -> ActionObstacle? {
    switch knowledge {
    case .known: nil
    case .broken: .policyBroken
    case .groupsUnknown: .groupsUnknown
    }
}

private func obstacle(of policy: PolicyInForce) -> ActionObstacle? {
    switch policy {
    case .administrators, .standard: nil
    case .noPasscodeMode: .noPasscodeMode
    }
}
