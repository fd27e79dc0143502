/// Warnings about `[App ID]` sections: keys that have no effect beside others.
enum AppDoubts {
    static func found(_ layer: PolicyLayer) -> [PolicyProblem] {
        layer.apps.flatMap { scope, own in
            let subject =
                switch scope.whom {
                case .everybody: PolicySubject()
                case .group(let name): PolicySubject(groups: [name])
                case .user(let name): PolicySubject(user: name)
                }
            var policy = Policy.builtIn
            for setting in layer.settings(ofApp: scope.app, for: subject) {
                setting.change(&policy)
            }
            return found(policy.app, own)
        }
    }

    private static func found(_ rules: AppRules, _ own: [Setting]) -> [PolicyProblem] {
        func doubt(_ key: String, _ wrong: String, _ right: String) -> PolicyProblem? {
            guard let place = own.first(where: { PolicyKey.ofApps[$0.key].name == key }) else {
                return nil
            }
            return PolicyProblem(
                .warning, file: place.file, line: place.line, key: key, wrong: wrong, right: right)
        }
        var doubts: [PolicyProblem?] = []
        let isTimed = rules.lockOnBackground == .timeout
        if rules.lockTimeout > 0, !isTimed {
            doubts.append(
                doubt(
                    "LockTimeout", "no effect without LockOnBackground=timeout",
                    "LockOnBackground=timeout, or no line with this key"))
        }
        if rules.lockTimeout == 0, isTimed {
            doubts.append(
                doubt(
                    "LockOnBackground", "without LockTimeout it locks with its store alone",
                    "LockTimeout=TIME, or LockOnBackground=never"))
        }
        if rules.onLock == .stay, rules.lockOnBackground != .never {
            doubts.append(
                doubt(
                    "LockOnBackground", "no effect with OnLock=stay",
                    "OnLock=freeze, OnLock=quit, or no line with this key"))
        }
        return doubts.compactMap { $0 }
    }
}
