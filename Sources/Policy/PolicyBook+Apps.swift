extension PolicyBook {
    /// What holds for one application. The administrator's sections are laid over those of the
    /// packaged file, whoever's passcode policy is in force.
    public func rules(ofApp app: [UInt8], for subject: PolicySubject) -> AppRules {
        var policy = Policy.builtIn
        for setting in settings(ofApp: app, for: subject) {
            setting.change(&policy)
            if PolicyKey.ofApps[setting.key].name == "OnLock" { policy.app.isOnLockWritten = true }
        }
        return policy.app
    }

    /// The values of every application that a section names for this person, by application and
    /// in the order of the table. Keys that nobody has set are left out.
    public func appValues(for subject: PolicySubject) -> [PolicyValue] {
        let apps = Set(layers.flatMap { $0.apps.keys.map(\.app) })
        return apps.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { app in
            settings(ofApp: app, for: subject).sorted { $0.key < $1.key }.map { setting in
                let key = PolicyKey.ofApps[setting.key]
                return PolicyValue(
                    key: "[App \(String(decoding: app, as: UTF8.self))] \(key.name)",
                    value: key.kind.text(setting.policy), file: setting.file, line: setting.line,
                    isActedOn: true)
            }
        }
    }

    private func settings(ofApp app: [UInt8], for subject: PolicySubject) -> [Setting] {
        var found: [Setting] = []
        for layer in layers {
            for setting in layer.settings(ofApp: app, for: subject) {
                PolicyLayer.replace(setting, in: &found)
            }
        }
        return found
    }
}
