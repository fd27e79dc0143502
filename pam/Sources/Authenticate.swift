internal import CPam
internal import WireEmbedded

extension Call {
    /// `auth` as an authenticator.
    func authenticate() -> Int32 {
        // What an earlier attempt on the same handle left no longer counts, whatever happens now.
        Transaction.forget(in: pam)
        let known = pam.askForUser()
        guard known == PAM_SUCCESS else { return known == PAM_CONV_AGAIN ? PAM_INCOMPLETE : known }
        guard let name = userName() else { return PAM_USER_UNKNOWN }
        var exchange = Exchange(self, questions: .asked, keeping: .loginSecret)
        let ending = exchange.open() ?? authenticate(name, &exchange)
        let result = pamCode(of: ending, exchange.delivery)
        switch options.prompt {
        case .passcode: break
        // The next module gets what the person typed.
        case .passcodeOrLogin: if result != PAM_SUCCESS { exchange.handOn() }
        }
        if result == PAM_SUCCESS { exchange.giveToken() }
        debug("authenticate: PAM code", Int(result))
        return result
    }

    private func authenticate(_ name: [UInt8], _ exchange: inout Exchange) -> Exchange.Ending {
        var request = Authenticate(subject: subject(name))
        request.orPassword = options.prompt == .passcodeOrLogin
        request.enforce = options.due == .denies
        request.finger = options.finger
        request.fingerSeconds = options.fingerSeconds
        request.presence = pam.presence()
        request.setsToken = options.keyring == .token
        let token: Token?
        switch (options.source, options.prompt) {
        case (.person, .passcode): token = nil
        case (.person, .passcodeOrLogin):
            // A module in front has asked already. What it was told stands for the answer to our
            // prompt, and is the next module's if it is not the passcode.
            token = pam.token(PAM_AUTHTOK)
            request.tokenOnly = token != nil
        case (.tokenThenPerson, _): token = pam.token(PAM_AUTHTOK)
        case (.tokenOnly, _):
            token = pam.token(PAM_AUTHTOK)
            request.tokenOnly = true
        }
        return exchange.run(
            message(request, .authenticate, token), carrying: token == nil ? .nothing : .secret)
    }

    /// `auth` after other modules: whatever happens, PAM gets no verdict from it.
    func unlock() {
        let before = keptBeforeUnlock()
        guard let token = pam.token(PAM_AUTHTOK), let name = userName() else { return }
        var exchange = Exchange(self, questions: .asked)
        if exchange.open() != nil { return }
        var request = Unlock(subject: subject(name))
        if let before {
            switch before.origin {
            case .authenticate: request.handle = before.handle
            case .unlock, .none: break
            }
        }
        let ending = exchange.run(message(request, .unlock, token), carrying: .secret)
        switch ending {
        case .verdict(let verdict):
            debug("unlock: outcome", Int(verdict.outcome.rawValue))
            if !verdict.handle.isNone {
                keep(verdict.handle, .unlock, before?.proof ?? .none)
            }
        case .refused(let code): debug("unlock: refused with code", Int(code))
        case .fault: break
        }
    }

    /// What an earlier attempt on the same handle planned at this line no longer counts, whatever
    /// happens now. A proof of an authenticator earlier in the stack is kept.
    private func keptBeforeUnlock() -> Transaction? {
        guard var kept = Transaction.kept(by: pam) else { return nil }
        switch kept.origin {
        case .authenticate, .none: break
        case .unlock:
            kept.handle = .none
            kept.keep(in: pam)
        }
        return kept
    }

    /// `auth` as a whole succeeded. The module tells the daemon once.
    func setCredentials(_ flags: Int32) -> Int32 {
        guard var transaction = Transaction.kept(by: pam) else { return PAM_IGNORE }
        if flags & Int32(PAM_DELETE_CRED) == 0, transaction.confirmation == .due,
            !transaction.handle.isNone
        {
            transaction.confirmation = .done
            transaction.keep(in: pam)
            var exchange = Exchange(self, questions: .aborted)
            if exchange.open() == nil {
                var message = greeting(.pamAuth)
                message?.put(Confirm(handle: transaction.handle), .confirm)
                _ = exchange.run(message)
            }
        }
        switch transaction.proof {
        case .none: return PAM_IGNORE
        case .success: return PAM_SUCCESS
        }
    }

    private func pamCode(of ending: Exchange.Ending, _ delivery: Exchange.Delivery) -> Int32 {
        switch ending {
        case .fault: return PAM_AUTHINFO_UNAVAIL
        case .refused(let code):
            debug("refused with code", Int(code))
            let outcome = Code(rawValue: code)?.outcome ?? .unavailable
            // A refusal is never success, even if the table should one day map a code to it.
            return outcome == .success ? PAM_AUTHINFO_UNAVAIL : pamCode(of: outcome)
        case .verdict(let verdict):
            debug("verdict with code", Int(verdict.code))
            switch (verdict.outcome, delivery) {
            case (.success, .nothing):
                pam.log(LOG_ERR, "appvaultd let somebody in who proved nothing: not taken")
                return PAM_AUTHINFO_UNAVAIL
            case (.success, .secret), (.success, .finger):
                keep(verdict.handle, .authenticate, .success)
                return PAM_SUCCESS
            case (.authError, _), (.maxTries, _), (.userUnknown, _), (.permissionDenied, _),
                (.unavailable, _), (.ignore, _):
                if !verdict.handle.isNone { keep(verdict.handle, .authenticate, .none) }
                return pamCode(of: verdict.outcome)
            }
        }
    }

    private func pamCode(of outcome: Outcome) -> Int32 {
        switch outcome {
        case .success: PAM_SUCCESS
        case .authError: PAM_AUTH_ERR
        case .maxTries: PAM_MAXTRIES
        case .userUnknown: PAM_USER_UNKNOWN
        case .permissionDenied: PAM_PERM_DENIED
        case .unavailable: PAM_AUTHINFO_UNAVAIL
        case .ignore: PAM_IGNORE
        }
    }

    private func keep(_ handle: Handle, _ origin: Transaction.Origin, _ proof: Transaction.Proof) {
        var transaction = Transaction()
        transaction.handle = handle
        transaction.origin = origin
        transaction.proof = proof
        transaction.keep(in: pam)
    }

    /// A request with the stack's token as its payload, which is empty where there is no token.
    private func message<B: Body>(_ body: B, _ type: RequestType, _ token: Token?) -> Memory? {
        var message = greeting(.pamAuth)
        Token.withBytes(of: token) { bytes in
            message?.put(body, type, bytes)
        }
        return message
    }
}
