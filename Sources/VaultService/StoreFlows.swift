import KeySlots
import Policy
import Posix
import Secrets
import Wire

/// What a person does with a store, each written once against a conversation.
extension Service {
    /// Runs the flow of a request; the message ends the exchange.
    func run(_ request: Request, _ exchange: Exchange) async throws(Interruption) -> Message {
        switch request {
        case .create(let create): return try await self.create(create, exchange)
        case .openStore(let target): return try await openStore(target, exchange)
        case .lock(let target): return try await lock(target, exchange)
        case .passcode(let passcode): return try await change(passcode, exchange)
        case .recoveryNew(let target): return try await newRecoveryKey(target, exchange)
        case .recover(let target): return try await recover(target, exchange)
        case .reset(let target): return try await reset(target, exchange)
        case .resync(let target): return try await resync(target, exchange)
        case .triesClear(let target): return try await clearTries(target, exchange)
        case .chown(let chown): return try await self.chown(chown, exchange)
        case .hello, .reply, .abort, .authenticate, .unlock, .confirm, .sessionOpen, .sessionClose,
            .password,
            .status, .get, .set, .delete, .list, .exportBegin, .exportNext, .importBegin,
            .importChunk:
            throw .refused(.protocolError)
        }
    }

    // MARK: create, unlock, lock

    private func create(_ request: Create, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(request.target.subject, exchange.caller)
        if let existing = try vault.store(of: person, named: request.target.store) {
            try existing.requireUsable()
            guard request.openExisting else { throw .refused(.alreadyExists) }
            return try await open(existing, person, exchange)
        }
        try refusing { () throws(Refusal) in try policies.requireUsable() }
        let way = try allowedWay(request.way)
        var secret: SecretBox?
        switch way {
        case .followLogin: secret = try await askLoginPassword(exchange)
        case .ownPasscode: secret = try await askNewPasscode(exchange, current: nil)
        case .noPasscode: secret = nil
        }
        let cost = cost
        let made = try await refusingAsync { () async throws(Refusal) in
            try await self.vault.create(
                for: person, named: request.target.store, secret, cost,
                followsLogin: way == .followLogin)
        }
        audit.note(
            .create, "a store was created", store: made.host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        if way != .noPasscode, exchange.caller.isTerminal, policies.policy.allowRecoveryKey {
            try await showNewRecoveryKey(made.host, made.key, exchange)
        }
        return way == .noPasscode ? .createdWithout : .created
    }

    private func allowedWay(_ wanted: Create.Way) throws(Interruption) -> Create.Way {
        if case .noPasscodeMode = policies.inForce { return .noPasscode }
        if wanted == .noPasscode, !policies.policy.allowNoPasscode {
            throw .refused(.policyDenies(key: "AllowNoPasscode"))
        }
        return wanted
    }

    private func openStore(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        return try await open(host, person, exchange)
    }

    private func open(_ host: StoreHost, _ person: Person, _ exchange: Exchange)
        async throws(Interruption)
        -> Message
    {
        try host.requireUsable()
        if host.isOpen { return .openAlready }
        let key = try await proveOrDevice(host, person, exchange, .prompt)
        try await refusingAsync { () async throws(Refusal) in try await host.open(key) }
        audit.note(
            .unlock, "a store was opened", store: host.id.description, person: person,
            service: exchange.caller.hello.service, uid: exchange.caller.credentials.uid)
        return .opened
    }

    private func lock(_ target: Target, _ exchange: Exchange) async throws(Interruption) -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        await host.lock()
        transactions.forgetKeys(of: host.id)
        audit.note(
            .lock, "a store was locked", store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        return .lockedNow
    }

    // MARK: the passcode

    private func change(_ request: Passcode, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(request.target.subject, exchange.caller)
        let host = try requireStore(of: person, request.target)
        try host.requireUsable()
        try refusing { () throws(Refusal) in try policies.requireUsable() }
        switch request.change {
        case .change:
            guard host.hasPasscode else { return try await turnOn(host, person, exchange) }
            guard !host.followsLogin else {
                throw .refused(.invalidAction(action: .changePasscode, reason: .followsLogin))
            }
            let (key, current) = try await proveForChange(host, person, exchange)
            let new = try await askNewPasscode(exchange, current: current)
            try await replace(host, key, new, followsLogin: false)
            auditChange("the passcode was changed", host, person, exchange)
            return .changed
        case .turnOff:
            guard host.hasPasscode else {
                throw .refused(.invalidAction(action: .turnOffPasscode, reason: .passcodeOff))
            }
            guard policies.policy.allowNoPasscode else {
                throw .refused(.policyDenies(key: "AllowNoPasscode"))
            }
            let (key, _) = try await proveForChange(host, person, exchange)
            try await refusingAsync { () async throws(Refusal) in try await host.turnOff(key: key) }
            failedTokens.forget(host)
            auditChange("the passcode was turned off", host, person, exchange)
            return .turnedOff
        case .turnOn:
            return try await turnOn(host, person, exchange)
        }
    }

    private func turnOn(_ host: StoreHost, _ person: Person, _ exchange: Exchange)
        async throws(Interruption)
        -> Message
    {
        guard !host.hasPasscode else {
            throw .refused(.invalidAction(action: .createPasscode, reason: .passcodeOn))
        }
        if case .noPasscodeMode = policies.inForce {
            throw .refused(.policyDenies(key: "UseDefaultPolicy"))
        }
        let new = try await askNewPasscode(exchange, current: nil)
        try await refusingAsync { () async throws(Refusal) in
            let key = try await host.deviceKey()
            try await host.replacePasscode(key: key, with: new, self.cost, followsLogin: false)
        }
        auditChange("a passcode was created", host, person, exchange)
        return .turnedOn
    }

    private func replace(
        _ host: StoreHost, _ key: SecretBox, _ new: SecretBox, followsLogin: Bool
    ) async throws(Interruption) {
        try await refusingAsync { () async throws(Refusal) in
            try await host.replacePasscode(
                key: key, with: new, self.cost, followsLogin: followsLogin)
        }
        failedTokens.forget(host)
    }

    private func auditChange(
        _ text: String, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) {
        audit.note(
            .change, text, store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
    }

    // MARK: recovery

    private func newRecoveryKey(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try host.requireUsable()
        guard exchange.caller.isTerminal else {
            throw .refused(.invalidAction(action: .newRecoveryKey, reason: .terminalOnly))
        }
        guard policies.policy.allowRecoveryKey else {
            throw .refused(.policyDenies(key: "AllowRecoveryKey"))
        }
        let key = try await proveOrDevice(host, person, exchange, .promptCurrent)
        try await showNewRecoveryKey(host, key, exchange)
        auditChange("a new recovery key was made", host, person, exchange)
        return .recoveryKeep
    }

    private func showNewRecoveryKey(
        _ host: StoreHost, _ key: SecretBox, _ exchange: Exchange
    ) async throws(Interruption) {
        let new = try await refusingAsync { () async throws(Refusal) in
            try await host.addRecoveryKey(key: key)
        }
        guard let shown = new.text.take() else { throw .refused(.unknown) }
        do throws(Interruption) {
            try await exchange.reveal(.recoveryKeep, shown)
        } catch {
            try? await host.withdraw(new)
            throw error
        }
        try await refusingAsync { () async throws(Refusal) in try await host.settle(new) }
    }

    private func recover(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try refusing { () throws(Refusal) in
            try policies.requireUsable()
            try host.mayTry(.recovery, policies.policy)
        }
        guard host.hasRecovery else { throw .refused(.doesNotExist(.recoveryKey)) }
        let typed = try await exchange.ask(.recoveryPrompt, .recoveryKey)
        let key = try await refusingAsync { () async throws(Refusal) in
            try await host.attemptRecovery(typed, self.policies.policy)
        }
        audit.note(
            .attempt, "a recovery key was accepted", store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        // Using the key leads at once to a new passcode; until it is there nothing has changed.
        let follows = host.followsLogin
        let new =
            follows
            ? try await askLoginPassword(exchange)
            : try await askNewPasscode(exchange, current: nil)
        try await replace(host, key, new, followsLogin: follows)
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally { $0.right(.recovery) }
        }
        auditChange("the passcode was changed with the recovery key", host, person, exchange)
        return .recovered
    }

    // MARK: in step with the login password

    private func resync(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try host.requireUsable()
        guard host.followsLogin, host.hasPasscode else {
            throw .refused(.invalidAction(action: .resync, reason: .notFollowing))
        }
        let now = try await askLoginPassword(exchange)
        let typed = try await exchange.ask(.former, .former)
        guard let former = typed.take(), former.count > 0 else { throw .refused(.cancelled) }
        let standing = await standing(exchange.caller, person)
        let box = SecretBox(former)
        let key = try await refusingAsync { () async throws(Refusal) in
            try await self.openFormer(box, standing.kind, host)
        }
        try await replace(host, key, now, followsLogin: true)
        auditChange("the store follows its owner's login password again", host, person, exchange)
        return .driftMended
    }

    /// A former passcode or the recovery key: the two cannot be mistaken for each other, because
    /// the key carries a check.
    func openFormer(_ typed: SecretBox, _ kind: TryKind, _ host: StoreHost) async throws(Refusal)
        -> SecretBox
    {
        guard let secret = typed.take() else { throw .unknown }
        if host.hasRecovery, (try? RecoveryKey(text: secret)) != nil {
            return try await host.attemptRecovery(SecretBox(secret), policies.policy)
        }
        return try await host.attempt(kind, SecretBox(secret), policies.policy)
    }

    // MARK: reset, and what root does

    private func reset(_ target: Target, _ exchange: Exchange) async throws(Interruption) -> Message
    {
        let caller = exchange.caller
        let person = try await self.person(target.subject, caller)
        let host = try requireStore(
            of: person, target, evenIfOwnerChanged: caller.credentials.uid == 0)
        // Root's word is enough; the person proves the passcode, where there is still something to
        // protect.
        let isRootForOther = caller.credentials.uid == 0 && person.uid != 0
        switch host.health {
        case .live where host.hasPasscode && !isRootForOther:
            _ = try await prove(host, person, exchange, .promptCurrent)
        case .live, .erased: break
        case .damaged(let what):
            guard caller.isTrusted else { throw .refused(.storeDamaged(what)) }
        }
        try await refusingAsync { () async throws(Refusal) in try await self.vault.remove(host) }
        failedTokens.forget(host)
        audit.note(
            .erase, "a store was reset", store: host.id.description, person: person,
            uid: caller.credentials.uid)
        return .reset
    }

    private func clearTries(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        guard exchange.caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally { $0.cleared() }
        }
        failedTokens.forget(host)
        auditChange("the tries were cleared", host, person, exchange)
        return .cleared
    }

    private func chown(_ request: Chown, _ exchange: Exchange) async throws(Interruption) -> Message
    {
        guard exchange.caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        let owner = try await person(request.owner, exchange.caller)
        guard let id = StoreID(bytes: request.store), let host = vault.host(id) else {
            throw .refused(.doesNotExist(.store))
        }
        try await refusingAsync { () async throws(Refusal) in
            try await self.vault.chown(host, to: owner)
        }
        auditChange("a store was given to another account", host, owner, exchange)
        return .moved
    }

    // MARK: what flows have in common

    func requireStore(
        of person: Person, _ target: Target, evenIfOwnerChanged: Bool = false
    ) throws(Interruption) -> StoreHost {
        do throws(Interruption) {
            if let host = try vault.store(of: person, named: target.store) { return host }
        } catch {
            if evenIfOwnerChanged, let host = vault.strayStore(of: person, named: target.store) {
                return host
            }
            throw error
        }
        throw .refused(.doesNotExist(.store))
    }

    /// The store key, by the passcode or, in state none, without a question.
    func proveOrDevice(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange, _ prompt: Message
    ) async throws(Interruption) -> SecretBox {
        if host.hasPasscode { return try await prove(host, person, exchange, prompt) }
        return try await refusingAsync { () async throws(Refusal) in try await host.deviceKey() }
    }

    func prove(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange, _ prompt: Message
    ) async throws(Interruption) -> SecretBox {
        try await proveTyping(host, person, exchange, prompt).key
    }

    private func proveForChange(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) async throws(Interruption) -> (key: SecretBox, current: SecretBox) {
        try await proveTyping(host, person, exchange, .promptCurrent)
    }

    /// Asks for the passcode, three times on a terminal; every answer is counted.
    private func proveTyping(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange, _ prompt: Message
    ) async throws(Interruption) -> (key: SecretBox, current: SecretBox) {
        let standing = await standing(exchange.caller, person)
        var rounds = exchange.caller.isTerminal ? 3 : 1
        while true {
            rounds -= 1
            try refusing { () throws(Refusal) in try host.mayTry(standing.kind, policies.policy) }
            try await warnBeforeLast(standing.kind, host, exchange)
            let answer = try await exchange.ask(prompt, .passcode)
            guard let typed = answer.take(), typed.count > 0 else { throw .refused(.cancelled) }
            let refusal: Refusal
            do throws(Refusal) {
                let current = SecretBox(try PasscodeEntry.prepared(typed))
                let key = try await host.attempt(standing.kind, SecretBox(typed), policies.policy)
                return (key, current)
            } catch {
                refusal = error
            }
            audit.note(
                .attempt, "a passcode was not accepted", store: host.id.description, person: person,
                code: refusal.code, uid: exchange.caller.credentials.uid)
            guard case .invalidPasscode(let left) = refusal, rounds > 0 else {
                throw .refused(refusal)
            }
            try await exchange.show(.retry(left: left), .error)
        }
    }

    /// New, and the same again; a rule that is not met or a confirm that differs is not a try.
    func askNewPasscode(_ exchange: Exchange, current: SecretBox?) async throws(Interruption)
        -> SecretBox
    {
        let policy = policies.policy
        try await exchange.show(.rules([.minLength(Int(policy.minLength))]))
        var rounds = exchange.caller.isTerminal ? 3 : 1
        while true {
            rounds -= 1
            let refusal: Refusal
            do throws(Refusal) {
                let first = try await asking(exchange, .chooseNew, .newPasscode)
                let new = try PasscodeEntry.new(first, policy)
                if let current, try isSame(new, current) { throw .rule(.same, unmet: ["same"]) }
                let again = try await asking(exchange, .confirmNew, .confirmPasscode)
                let confirmed = try PasscodeEntry.prepared(again)
                guard new.matches(confirmed) else { throw .noMatch }
                return SecretBox(new)
            } catch {
                refusal = error
            }
            guard rounds > 0 else { throw .refused(refusal) }
            switch refusal {
            case .noMatch: try await exchange.show(.differ, .error)
            case .rule(.same, _): throw .refused(refusal)
            case .rule(let rule, _): try await exchange.show(.unmet(rule), .error)
            default: throw .refused(refusal)
            }
        }
    }

    private func isSame(_ new: borrowing SecretBytes, _ current: SecretBox) throws(Refusal) -> Bool
    {
        do throws(SecretsError) {
            return try current.read { (secret) throws(SecretsError) in new.matches(secret) }
                ?? false
        } catch {
            throw .outOfMemory
        }
    }

    /// The front end has proven it with a PAM transaction, where this machine can.
    private func askLoginPassword(_ exchange: Exchange) async throws(Interruption) -> SecretBox {
        let answer = try await exchange.ask(.loginPassword, .loginPassword)
        guard let typed = answer.take(), typed.count > 0 else { throw .refused(.cancelled) }
        return SecretBox(typed)
    }

    private func asking(
        _ exchange: Exchange, _ message: Message, _ purpose: Ask.Purpose
    ) async throws(Refusal) -> SecretBytes {
        let answer: SecretBox
        do throws(Interruption) {
            answer = try await exchange.ask(message, purpose)
        } catch {
            switch error {
            case .refused(let refusal): throw refusal
            case .gone: throw .cancelled
            }
        }
        guard let typed = answer.take() else { throw .unknown }
        return typed
    }
}
