import Wire

/// A store that was made at a login has shown nobody its recovery key. Whether it is offered behind a verb: not where
/// that made one or put an end to it, nor behind what is about other stores, about files or the tool.
enum RecoveryOffer {
    case afterwards, never
}

extension Run {
    /// On a terminal, once.
    func offerRecovery() throws(ClientError) {
        guard settings.form == .plain, settings.user.isEmpty, answers.kind == .terminal,
            environment.input.isTerminal, environment.output.isTerminal
        else { return }
        let target = try target()
        // The verb has done what it was asked for: what fails from here on is no failure of it.
        guard let state = try? connect().status(target), state.recoveryOffer else { return }
        do throws(ClientError) {
            let line = try conversation().finish(.offerRecovery, target)
            voice.done(line)
        } catch {
            voice.refusal(error.refusal, words)
        }
    }
}
