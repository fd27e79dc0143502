import KeySlots
import Policy
import Secrets
import Wire

/// The passcode: changed, turned off, turned on.
extension Service {
    func change(_ request: Passcode, _ exchange: Exchange) async throws(Interruption)
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

    func turnOn(_ host: StoreHost, _ person: Person, _ exchange: Exchange)
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

    func replace(
        _ host: StoreHost, _ key: SecretBox, _ new: SecretBox, followsLogin: Bool
    ) async throws(Interruption) {
        try await refusingAsync { () async throws(Refusal) in
            try await host.replacePasscode(
                key: key, with: new, self.cost, followsLogin: followsLogin)
        }
        failedTokens.forget(host)
    }

    func auditChange(
        _ text: String, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) {
        audit.note(
            .change, text, store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
    }
}
