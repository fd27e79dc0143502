import Wire

/// Whether the tool offers a recovery key after a verb. It does so for a store that was made at a
/// login, because no person has seen its key. It does not after verbs that made a key or put an end
/// to the store, nor after verbs about other stores, about policy files or about the tool.
enum RecoveryOffer {
    case afterwards, never
}

extension Run {
    /// Offers the key on a terminal only, and once.
    func offerRecovery() throws(ClientError) {
        guard settings.form == .plain, settings.user.isEmpty, answers.kind == .terminal,
            environment.input.isTerminal, environment.output.isTerminal
        else { return }
        let target = try target()
        // The verb has succeeded. A failure from here on does not change its result.
        guard let state = try? connect().status(target), state.recoveryOffer else { return }
        do throws(ClientError) {
            let line = try conversation().finish(.offerRecovery, target)
            voice.done(line)
        } catch {
            voice.refusal(error.refusal, words)
        }
    }
}
