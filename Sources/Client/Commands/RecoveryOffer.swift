import Wire

/// What the tool does after a verb where a recovery key was not offered yet. That is so for a store
/// that was made at a login, because no person has seen its key.
enum RecoveryOffer {
    /// Asks, after verbs that already talk with the person about the passcode.
    case asked
    /// The same where the store is open now: at its passcode somebody else may have opened theirs.
    case askedIfOpen
    /// Says in one line how to make a key, after verbs where a question would be in the way.
    case hinted
    /// After verbs that made a key, that end the store or tell of the key themselves, and after
    /// verbs about other stores, about policy files or about the tool.
    case never
}

extension Run {
    /// On a terminal only. The verb has succeeded: a failure from here on does not change its
    /// result.
    func afterwards(_ offer: RecoveryOffer) throws(ClientError) {
        switch offer {
        case .asked: if try offerState() != nil { try offerRecovery() }
        case .askedIfOpen: if try offerState()?.lock == .unlocked { try offerRecovery() }
        case .hinted:
            if try offerState() != nil { voice.hint(words(.nextRecoveryNew)) }
        case .never: break
        }
    }

    /// Of the store, where one is due.
    private func offerState() throws(ClientError) -> State? {
        guard settings.form == .plain, settings.user.isEmpty, answers.kind == .terminal,
            environment.input.isTerminal, environment.output.isTerminal
        else { return nil }
        let state = try? connect().status(try target())
        return state?.recoveryOffer == true ? state : nil
    }

    private func offerRecovery() throws(ClientError) {
        do throws(ClientError) {
            let line = try conversation().finish(.offerRecovery, try target())
            voice.done(line)
        } catch {
            voice.refusal(error.refusal, words)
        }
    }
}
