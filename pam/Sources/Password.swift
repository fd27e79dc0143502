internal import CPam
internal import WireEmbedded

extension Call {
    /// Behind pam_unix: the login password is another one now, and both are known. Nobody is asked.
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
}
