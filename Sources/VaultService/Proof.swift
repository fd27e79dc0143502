import KeySlots
import Policy
import Secrets
import Wire

/// The store that is meant, and the passcode that opens it.
extension Service {
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

    func proveForChange(
        _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) async throws(Interruption) -> (key: SecretBox, current: SecretBox) {
        try await proveTyping(host, person, exchange, .promptCurrent)
    }

    /// Asks for the passcode, three times on a terminal; every answer is counted.
    func proveTyping(
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

    func isSame(_ new: borrowing SecretBytes, _ current: SecretBox) throws(Refusal) -> Bool {
        do throws(SecretsError) {
            return try current.read { (secret) throws(SecretsError) in new.matches(secret) }
                ?? false
        } catch {
            throw .outOfMemory
        }
    }

    /// The front end has proven it with a PAM transaction, where this machine can.
    func askLoginPassword(_ exchange: Exchange) async throws(Interruption) -> SecretBox {
        let answer = try await exchange.ask(.loginPassword, .loginPassword)
        guard let typed = answer.take(), typed.count > 0 else { throw .refused(.cancelled) }
        return SecretBox(typed)
    }

    func asking(
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
