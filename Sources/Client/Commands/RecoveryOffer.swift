import Wire

/// What the tool does after a verb where a recovery key was not offered yet. That is so for a store
/// that was made at a login, because no person has seen its key.
enum RecoveryOffer {
    /// Asks, after verbs that already talk with the person about the passcode.
    case asked
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
        case .asked: try offerRecovery()
        case .hinted:
            if try isOfferDue() { voice.hint(words(.nextRecoveryNew)) }
        case .never: break
        }
    }

    private func isOfferDue() throws(ClientError) -> Bool {
        guard settings.form == .plain, settings.user.isEmpty, answers.kind == .terminal,
            environment.input.isTerminal, environment.output.isTerminal
        else { return false }
        return (try? connect().status(try target()))?.recoveryOffer ?? false
    }

    private func offerRecovery() throws(ClientError) {
        guard try isOfferDue() else { return }
        do throws(ClientError) {
            let line = try conversation().finish(.offerRecovery, try target())
            voice.done(line)
        } catch {
            voice.refusal(error.refusal, words)
        }
    }
}
