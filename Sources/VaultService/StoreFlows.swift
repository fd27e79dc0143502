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
            .importChunk, .passwordRules, .offerRecovery, .actions, .policyShow, .policyCheck,
            .policyPreview, .texts:
            throw .refused(.protocolError)
        }
    }

    // MARK: create, unlock, lock

    func create(_ request: Create, _ exchange: Exchange) async throws(Interruption)
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

    func allowedWay(_ wanted: Create.Way) throws(Interruption) -> Create.Way {
        if case .noPasscodeMode = policies.inForce { return .noPasscode }
        if wanted == .noPasscode, !policies.policy.allowNoPasscode {
            throw .refused(.policyDenies(key: "AllowNoPasscode"))
        }
        return wanted
    }

    func openStore(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        return try await open(host, person, exchange)
    }

    func open(_ host: StoreHost, _ person: Person, _ exchange: Exchange)
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

    func lock(_ target: Target, _ exchange: Exchange) async throws(Interruption) -> Message {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        await host.lock()
        transactions.forgetKeys(of: host.id)
        audit.note(
            .lock, "a store was locked", store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        return .lockedNow
    }
}
