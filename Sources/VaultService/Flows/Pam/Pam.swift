import Posix
import Wire
import Words

/// Hands each request of the module to its flow.
@LoopActor
final class Pam {
    let authentication: PamAuthenticate
    let unlocking: PamUnlock
    let confirmation: PamConfirm
    let sessions: LoginSessions
    let password: PamPassword
    let loginPasswordRules: LoginPasswordRules

    init(
        authentication: PamAuthenticate, unlocking: PamUnlock, confirmation: PamConfirm,
        sessions: LoginSessions, password: PamPassword, loginPasswordRules: LoginPasswordRules
    ) {
        self.authentication = authentication
        self.unlocking = unlocking
        self.confirmation = confirmation
        self.sessions = sessions
        self.password = password
        self.loginPasswordRules = loginPasswordRules
    }

    func run(_ request: PamRequest, _ exchange: any Conversation) async throws(Interruption)
        -> Verdict
    {
        switch request {
        case .authenticate(let authenticate, let token):
            return try await authentication.authenticate(authenticate, token, exchange)
        case .unlock(let unlock, let token):
            return try await unlocking.unlock(unlock, token, exchange)
        case .confirm(let confirm):
            return try await confirmation.confirm(confirm, exchange.caller)
        case .sessionOpen(let session):
            return try await sessions.openSession(session, exchange.caller)
        case .sessionClose(let session):
            return try await sessions.closeSession(session, exchange.caller)
        case .password(let request, let old, let new):
            return try await password.followPassword(request, old, new, exchange)
        case .passwordRules(let rules, let former, let present):
            return try await loginPasswordRules.judgeLoginPassword(rules, former, present, exchange)
        }
    }
}
