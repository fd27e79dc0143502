import Policy
import Testing

@Suite("Actions")
struct ActionsTests {
    static let states: [PasscodeState] =
        WithoutReason.allCases.map { .none($0) }
        + [.passcode, .passcodeAndFingerprint, .fingerprintOnly]
    static let stores: [ActionStore] =
        states.map { .usable($0) }
        + [.following, .absent, .retryLocked, .erased, .damaged, .barred, .ownerChanged]

    static func policies() -> [PolicyInForce] {
        var all: [PolicyInForce] = []
        for bits in 0..<8 {
            var policy = Policy.builtIn
            policy.allowNoPasscode = bits & 1 == 0
            policy.allowFingerprint = bits & 2 == 0
            policy.allowRecoveryKey = bits & 4 == 0
            all += [.administrators(policy), .standard(policy), .noPasscodeMode(policy)]
        }
        return all
    }

    /// Every input there is.
    static func each(_ body: (ActionInput) -> Void) {
        for store in stores {
            for policy in policies() {
                for knowledge in PolicyKnowledge.allCases {
                    for hardware in Hardware.allCases {
                        for asker in ActionAsker.allCases {
                            for follows in [false, true] {
                                body(
                                    ActionInput(
                                        store: store, followsLogin: follows, policy: policy,
                                        knowledge: knowledge, hardware: hardware, asker: asker))
                            }
                        }
                    }
                }
            }
        }
    }

    private static func isMode(_ input: ActionInput) -> Bool {
        if case .noPasscodeMode = input.policy { return true }
        return false
    }

    @Test("no policy, no broken file and no silent directory keeps a store from being locked")
    func lock() {
        Self.each { input in
            switch input.store {
            case .usable, .following, .retryLocked, .damaged, .barred:
                #expect(decide(.lock, input) == .allowed)
            case .absent, .erased, .ownerChanged: #expect(decide(.lock, input) != .allowed)
            }
        }
    }

    @Test("root always gets rid of another person's store, whatever has become of it")
    func reset() {
        Self.each { input in
            if input.asker == .root, input.store != .absent {
                #expect(decide(.reset, input) == .allowed)
            }
            if input.asker == .person, input.store == .damaged {
                #expect(decide(.reset, input) != .allowed)
            }
            if input.store == .retryLocked {
                let mayBe: ActionDecision =
                    input.asker == .personWithDaemon ? .refused(.retryLocked) : .allowed
                #expect(decide(.reset, input) == mayBe)
            }
        }
    }

    @Test("nothing is made or changed by a policy that nobody may be sure of")
    func unsure() {
        Self.each { input in
            guard input.knowledge != .known else { return }
            for action in PasscodeAction.allCases where action != .lock && action != .reset {
                #expect(decide(action, input) != .allowed)
            }
        }
    }

    @Test("in no-passcode mode every action on the passcode and the finger answers that")
    func noPasscodeMode() {
        Self.each { input in
            guard Self.isMode(input), input.knowledge == .known, case .usable = input.store else {
                return
            }
            for action in PasscodeAction.allCases {
                switch action {
                case .lock, .reset, .newRecoveryKey: break
                case .createPasscode, .changePasscode, .turnOffPasscode, .turnOnFingerprint,
                    .turnOffFingerprint:
                    #expect(decide(action, input) == .refused(.noPasscodeMode))
                }
            }
        }
    }

    @Test("what is done at a usable store, by its state and its policy alone")
    func table() {
        Self.each { input in
            guard case .usable(let state) = input.store, input.knowledge == .known,
                !Self.isMode(input)
            else { return }
            let policy = input.policy.policy
            let has: Bool
            let finger: Bool
            switch state {
            case .none: (has, finger) = (false, false)
            case .passcode: (has, finger) = (true, false)
            case .passcodeAndFingerprint: (has, finger) = (true, true)
            case .fingerprintOnly: (has, finger) = (false, true)
            }
            #expect((decide(.createPasscode, input) == .allowed) == !has)
            // Without a passcode, a change creates one.
            #expect((decide(.changePasscode, input) == .allowed) == (!has || !input.followsLogin))
            #expect(
                (decide(.turnOffPasscode, input) == .allowed) == (has && policy.allowNoPasscode))
            #expect(
                (decide(.turnOnFingerprint, input) == .allowed)
                    == (has && !finger && policy.allowFingerprint
                        && input.hardware == .readerUsable))
            // A fingerprint that the policy forbids may still be turned off.
            #expect((decide(.turnOffFingerprint, input) == .allowed) == (has && finger))
            #expect((decide(.newRecoveryKey, input) == .allowed) == policy.allowRecoveryKey)
        }
    }

    @Test("a store that another one opens has no passcode and no finger of its own")
    func following() {
        Self.each { input in
            guard input.store == .following else { return }
            for action in PasscodeAction.allCases {
                switch action {
                case .lock, .reset: #expect(decide(action, input) == .allowed)
                case .newRecoveryKey:
                    #expect(
                        (decide(action, input) == .allowed)
                            == (input.knowledge == .known && input.policy.policy.allowRecoveryKey))
                case .createPasscode, .changePasscode, .turnOffPasscode, .turnOnFingerprint,
                    .turnOffFingerprint:
                    #expect(decide(action, input) == .refused(.followsStore))
                }
            }
        }
    }

    @Test("without a store only creating one is left")
    func absent() {
        Self.each { input in
            guard input.store == .absent else { return }
            for action in PasscodeAction.allCases where action != .createPasscode {
                #expect(decide(action, input) == .refused(.noStore))
            }
            #expect(
                (decide(.createPasscode, input) == .allowed)
                    == (input.knowledge == .known && !Self.isMode(input)))
        }
    }

    @Test("a reader that is there and may not be used is not called missing")
    func external() {
        func obstacle(_ hardware: Hardware) -> ActionDecision {
            decide(
                .turnOnFingerprint,
                ActionInput(
                    store: .usable(.passcode), followsLogin: false, policy: .standard(.builtIn),
                    knowledge: .known, hardware: hardware, asker: .person))
        }
        #expect(obstacle(.onlyExternal) == .refused(.externalReader))
        #expect(obstacle(.none) == .refused(.noReader))
    }

    @Test("a key that forbids is named")
    func named() {
        var policy = Policy.builtIn
        policy.allowNoPasscode = false
        policy.allowFingerprint = false
        policy.allowRecoveryKey = false
        let input = ActionInput(
            store: .usable(.passcode), followsLogin: false, policy: .administrators(policy),
            knowledge: .known, hardware: .readerUsable, asker: .person)
        #expect(decide(.turnOffPasscode, input) == .refused(.policy(key: "AllowNoPasscode")))
        #expect(decide(.turnOnFingerprint, input) == .refused(.policy(key: "AllowFingerprint")))
        #expect(decide(.newRecoveryKey, input) == .refused(.policy(key: "AllowRecoveryKey")))
    }
}
