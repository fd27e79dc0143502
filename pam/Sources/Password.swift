internal import CPam
internal import WireEmbedded

extension Call {
    /// After pam_unix: the login password was changed, and the stack has the old and the new one.
    /// Asks the person nothing.
    func changePassword() {
        guard let former = pam.token(PAM_OLDAUTHTOK), let new = pam.token(PAM_AUTHTOK),
            let name = userName()
        else { return }
        var exchange = Exchange(self, questions: .aborted)
        if exchange.open() != nil { return }
        let account = subject(name)
        var message = greeting(.pamPassword)
        former.withBytes { first in
            new.withBytes { second in
                message?.put(WireEmbedded.Password(subject: account), .password, first, second)
            }
        }
        switch exchange.run(message, carrying: .secret) {
        case .verdict(let verdict): debug("password: code", Int(verdict.code))
        case .refused(let code): debug("password: refused with code", Int(code))
        case .fault: break
        }
    }

    /// Before pam_unix: the daemon asks for the new login password, where it has rules for it. Only
    /// the daemon's verdict refuses a password. If anything fails, the modules after us handle the
    /// change.
    func newPassword() -> Int32 {
        switch judgedPassword() {
        case .accepted: return PAM_SUCCESS
        case .refused: return PAM_AUTHTOK_ERR
        case .notOurs:
            switch options.otherwise {
            case .left: return PAM_IGNORE
            case .asked: return pam.askForNewToken() ? PAM_IGNORE : PAM_AUTHTOK_ERR
            }
        }
    }

    private enum Judged {
        /// The new password is the stack's token now.
        case accepted
        case refused
        case notOurs
    }

    private func judgedPassword() -> Judged {
        guard let name = userName(), pam.canJudgeToken else { return .notOurs }
        var exchange = Exchange(self, questions: .asked, keeping: .newPassword)
        if exchange.open() != nil { return .notOurs }
        let account = subject(name)
        let former = pam.token(PAM_OLDAUTHTOK)
        let present = pam.token(PAM_AUTHTOK)
        var message = greeting(.pamPassword)
        Token.withBytes(of: former) { first in
            Token.withBytes(of: present) { second in
                message?.put(PasswordRules(subject: account), .passwordRules, first, second)
            }
        }
        switch exchange.run(message) {
        case .fault: return .notOurs
        case .refused(let code):
            debug("password rules: refused with code", Int(code))
            return .notOurs
        case .verdict(let verdict):
            debug("password rules: code", Int(verdict.code))
            switch verdict.outcome {
            case .authError: return .refused
            case .ignore, .maxTries, .userUnknown, .permissionDenied, .unavailable: return .notOurs
            case .success:
                // If the stack had a token, the daemon judged that one.
                return present != nil || exchange.handOn() ? .accepted : .notOurs
            }
        }
    }
}
