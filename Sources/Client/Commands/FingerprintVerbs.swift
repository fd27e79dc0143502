import Posix
import Wire

extension Run {
    func fingerprintEnroll(_ finger: Finger) throws(ClientError) {
        let target = try target()
        try act(
            "fingerprint enroll", .fingerprintEnroll,
            FingerRequest(subject: target.subject, store: target.store, finger: finger))
    }

    func fingerprintDelete(_ finger: Finger) throws(ClientError) {
        let target = try target()
        if finger == .unnamed {
            try agree("fingerprint delete", words(.agreeFingersDelete))
        }
        try act(
            "fingerprint delete", .fingerprintDelete,
            FingerRequest(subject: target.subject, store: target.store, finger: finger))
    }

    func fingerprintSwitch(_ way: Command.Switch) throws(ClientError) {
        let target = try target()
        switch way {
        case .on: break
        case .off:
            try agree("fingerprint off", words(.agreeFingersOff))
        }
        try act(
            way == .on ? "fingerprint on" : "fingerprint off", .fingerprintSwitch,
            FingerSwitch(subject: target.subject, store: target.store, on: way == .on))
    }

    func fingerprintList() throws(ClientError) {
        let state = try connect().fingerprints(target())
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            FingerprintView.write(state, to: &json)
            voice.print(json.finish())
        case (.plain, true):
            voice.print(FingerprintView.text(state, voice, words, environment.marks))
            if state.fingers.isEmpty, state.unavailable.isEmpty {
                voice.hint(words(.fingersNoneHint))
            }
        case (.plain, false): voice.print(FingerprintView.fields(state))
        }
    }
}
