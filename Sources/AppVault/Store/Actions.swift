internal import Wire

/// Something that can be done with a store and with what opens it.
public struct StoreAction: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Its name, as `appvault actions` lists it.
    public var rawValue: String

    /// The action of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the action.
    public var description: String { rawValue }

    /// A store without a passcode gets one.
    public static let createPasscode = StoreAction(rawValue: "create-passcode")
    /// The passcode is changed.
    public static let changePasscode = StoreAction(rawValue: "change-passcode")
    /// The store needs no passcode any more, and no finger.
    public static let turnOffPasscode = StoreAction(rawValue: "turn-off-passcode")
    /// Fingers open the store.
    public static let turnOnFingerprint = StoreAction(rawValue: "turn-on-fingerprint")
    /// No finger opens it any more.
    public static let turnOffFingerprint = StoreAction(rawValue: "turn-off-fingerprint")
    /// The store is locked.
    public static let lock = StoreAction(rawValue: "lock")
    /// The store and all in it is removed.
    public static let reset = StoreAction(rawValue: "reset")
    /// A new recovery key is made and shown; the former one opens nothing any more.
    public static let newRecoveryKey = StoreAction(rawValue: "new-recovery-key")
}

/// Whether an action may be taken now, and why not.
public struct ActionState: Sendable {
    /// The action.
    public var action: StoreAction
    /// Whether it may be taken.
    public var isAllowed: Bool
    /// The refusal that it would get; nil where it is allowed.
    public var refusal: VaultError?
}

extension Store {
    /// Every action that there is, with whether it may be taken now.
    public func actions() async throws(VaultError) -> [ActionState] {
        try await vault.link.ask(.actions, target, for: .actionList, ActionList.self)
            .actions.map { entry in
                ActionState(
                    action: StoreAction(rawValue: String(decoding: entry.name, as: UTF8.self)),
                    isAllowed: entry.allowed,
                    refusal: entry.allowed
                        ? nil
                        : VaultError(
                            VaultError.Code(rawValue: Int(entry.code)),
                            String(decoding: entry.reason, as: UTF8.self)))
            }
    }

    /// Takes the action. What needs it asks for the passcode, even if the store is open.
    ///
    /// - Throws: ``VaultError/Code/invalidAction`` where it cannot be taken now, and for an action
    ///   that this version does not know.
    /// - Returns: What was done, as a finished sentence for people; empty after
    ///   ``StoreAction/lock`` and ``StoreAction/reset``.
    @discardableResult
    public func perform(
        _ action: StoreAction, with prompter: some Prompter = .silent
    ) async throws(VaultError) -> String {
        switch action {
        case .createPasscode: return try await passcode(.turnOn, .creating, prompter)
        case .changePasscode: return try await passcode(.change, .changing, prompter)
        case .turnOffPasscode: return try await passcode(.turnOff, .changing, prompter)
        case .turnOnFingerprint: return try await fingers(true, prompter)
        case .turnOffFingerprint: return try await fingers(false, prompter)
        case .newRecoveryKey:
            return try await vault.converse(
                self, .changing, Outgoing(.recoveryNew, target), with: prompter)
        case .lock:
            try await lock()
            return ""
        case .reset:
            try await reset(with: prompter)
            return ""
        default:  // lint: allow (names that this version does not know may come)
            throw VaultError(
                .invalidAction, "\(action) is no action of this version",
                parameters: ["action": action.rawValue])
        }
    }

    /// Proves the recovery key, and then sets a new passcode. The store is locked afterwards, and the
    /// new passcode opens it.
    ///
    /// - Returns: What was done, as a finished sentence for people.
    @discardableResult
    public func recover(with prompter: some Prompter) async throws(VaultError) -> String {
        try await vault.converse(self, .opening, Outgoing(.recover, target), with: prompter)
    }

    private func passcode<P: Prompter>(
        _ change: Passcode.Change, _ intent: Conversation<P>.Intent, _ prompter: P
    ) async throws(VaultError) -> String {
        try await vault.converse(
            self, intent, Outgoing(.passcode, Passcode(target: target, change: change)),
            with: prompter)
    }

    private func fingers(
        _ on: Bool, _ prompter: some Prompter
    ) async throws(VaultError) -> String {
        guard wireName.count <= Limits.text else {
            throw VaultError(.invalidArgument, "a shared store has no fingers of its own")
        }
        let said = try await vault.converse(
            self, .changing,
            Outgoing(
                .fingerprintSwitch, FingerSwitch(subject: Subject(), store: wireName, on: on)),
            with: prompter)
        await vault.hooks.told(
            PromptEvent(
                kind: on ? .fingerOn : .fingerOff, store: name, id: "", mode: nil, code: nil))
        return said
    }
}
