import Wire

extension Run {
    /// A store that was made at a login has shown nobody its recovery key: the first verb on a terminal that
    /// succeeds is followed by the offer, once.
    func offerRecovery(after command: Command) throws(ClientError) {
        switch command {
        case .create, .recoveryNew, .recover, .reset, .triesClear, .chown, .doctor, .version, .help,
            .policyCheck,
            .policyLint, .policyPreview:
            return
        case .status, .unlock, .lock, .passwd, .actions, .set, .get, .list, .delete, .export,
            .import, .fingerprintEnroll, .fingerprintList, .fingerprintVerify,
            .fingerprintDelete, .fingerprintSwitch, .keyringForget,
            .policyShow, .texts, .resync:
            break
        }
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
