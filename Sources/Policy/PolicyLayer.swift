/// The files of one author, laid over each other: the administrator's, or the default policy's.
struct PolicyLayer: Sendable {
    /// One setting for each key, the last that was read.
    private(set) var sections: [Scope: [Setting]] = [:]
    private(set) var apps: [AppScope: [Setting]] = [:]
    /// In the order of the files.
    private(set) var rules: [CustomRule] = []
    private(set) var texts: [String: String] = [:]

    init(_ files: [ParsedFile] = []) {
        for (number, file) in files.enumerated() {
            for (scope, settings) in file.sections {
                Self.lay(settings, ofFile: number, over: &sections[scope, default: []])
            }
            for (scope, settings) in file.apps {
                Self.lay(settings, ofFile: number, over: &apps[scope, default: []])
            }
            // A rule is replaced as a whole. Keys from two files would make a third rule that
            // nobody wrote.
            if !file.ruleNames.isEmpty { rules.removeAll { file.ruleNames.contains($0.name) } }
            rules += file.rules
            for text in file.texts { texts[text.id] = text.text }
        }
    }

    private static func lay(
        _ settings: [Setting], ofFile number: Int, over lower: inout [Setting]
    ) {
        for var setting in settings {
            setting.order = UInt64(number) << 32 | UInt64(setting.line)
            replace(setting, in: &lower)
        }
    }

    var hasGroups: Bool {
        sections.keys.contains { scope in
            switch scope {
            case .group: true
            case .everybody, .user, .store: false
            }
        }
            || apps.keys.contains { scope in
                switch scope.whom {
                case .group: true
                case .everybody, .user: false
                }
            }
    }

    /// The settings that hold for a subject, one for each key that is set at all.
    func settings(for subject: PolicySubject) -> [Setting] {
        var found = sections[.everybody] ?? []
        let ofGroups = Self.lastRead(subject.groups.map { sections[.group($0)] ?? [] })
        for setting in ofGroups + (sections[.user(subject.user)] ?? [])
            + Self.builtIn(of: subject.store) + (sections[.store(subject.store)] ?? [])
        {
            Self.replace(setting, in: &found)
        }
        return found
    }

    /// What this release says itself of stores with this policy key, where their section does not
    /// say otherwise. Behind a locked screen, mail and networks connect again with what they keep
    /// in `secrets`.
    private static func builtIn(of store: [UInt8]) -> [Setting] {
        guard store == PolicySubject.secrets,
            let key = PolicyKey.place(of: Array("LockOnBackground".utf8))
        else { return [] }
        let stays = Setting(
            key: key, change: { $0.lockOnBackground = .never }, file: "", line: 0)
        return [stays]
    }

    func settings(ofApp app: [UInt8], for subject: PolicySubject) -> [Setting] {
        func section(_ whom: AppScope.Whom) -> [Setting] {
            apps[AppScope(app: app, whom: whom)] ?? []
        }
        var found = section(.everybody)
        let ofGroups = Self.lastRead(subject.groups.map { section(.group($0)) })
        for setting in ofGroups + section(.user(subject.user)) {
            Self.replace(setting, in: &found)
        }
        return found
    }

    /// If a key is set for several of the person's groups, the setting that was read last counts,
    /// in whatever order the directory lists the groups.
    private static func lastRead(_ groups: [[Setting]]) -> [Setting] {
        var last: [Setting] = []
        for setting in groups.joined() {
            let other = last.first { $0.key == setting.key }
            if other.map({ $0.order < setting.order }) ?? true { replace(setting, in: &last) }
        }
        return last
    }

    func policy(_ settings: [Setting]) -> Policy {
        var policy = policyWithoutRules(settings)
        policy.customRules = policy.rules.select(rules)
        return policy
    }

    func policyWithoutRules(_ settings: [Setting]) -> Policy {
        var policy = Policy.builtIn
        for setting in settings { setting.change(&policy) }
        return policy
    }

    // Static, and changes the list in place: a second reference to the list would make each change
    // copy the whole list.
    static func replace(_ setting: Setting, in settings: inout [Setting]) {
        if let place = settings.firstIndex(where: { $0.key == setting.key }) {
            settings[place] = setting
        } else {
            settings.append(setting)
        }
    }
}
