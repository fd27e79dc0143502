extension PolicyBook {
    /// What holds for one application. The administrator's sections are laid over those of the
    /// packaged file, whoever's passcode policy is in force.
    public func rules(ofApp app: [UInt8], for subject: PolicySubject) -> AppRules {
        policy(ofApp: app, for: subject).app
    }

    private func policy(ofApp app: [UInt8], for subject: PolicySubject) -> Policy {
        var policy = Policy.builtIn
        for setting in settings(ofApp: app, for: subject) {
            setting.change(&policy)
            if PolicyKey.ofApps[setting.key].name == "OnLock" { policy.app.isOnLockWritten = true }
        }
        return policy
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

    /// What one application would be under this book and is not under another one.
    public struct AppChange: Equatable, Sendable {
        public var app: [UInt8]
        /// As a file would say it: `Require=passcode OnLock=quit`.
        public var values: String
    }

    /// Only of those that go with this store, before or after.
    public func appChanges(
        since former: PolicyBook, at store: [UInt8], for subject: PolicySubject
    ) -> [AppChange] {
        let apps = Set((layers + former.layers).flatMap { $0.apps.keys.map(\.app) })
        return apps.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { app in
            let (old, new) = (
                former.policy(ofApp: app, for: subject), policy(ofApp: app, for: subject)
            )
            guard [old, new].contains(where: { $0.app.goes(with: store) }) else { return nil }
            let changed = PolicyKey.ofApps.filter { $0.kind.text(old) != $0.kind.text(new) }
            guard !changed.isEmpty else { return nil }
            return AppChange(
                app: app,
                values: changed.map { "\($0.name)=\($0.kind.text(new))" }.joined(separator: " "))
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
