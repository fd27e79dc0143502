/// The files of one author, laid over each other: the administrator's, an organisation's, or the
/// default policy's. A layer may lie over another one: what it does not say for a person, that one
/// says.
struct PolicyLayer: Sendable {
    /// One at most.
    private let below: [PolicyLayer]
    /// One setting for each key, the last that was read.
    private(set) var sections: [Scope: [Setting]] = [:]
    private(set) var apps: [AppScope: [Setting]] = [:]
    /// In the order of the files.
    private(set) var rules: [CustomRule] = []
    private(set) var texts: [String: String] = [:]

    init(_ files: [ParsedFile] = [], over below: PolicyLayer? = nil) {
        self.below = below.map { [$0] } ?? []
        rules = below?.rules ?? []
        texts = below?.texts ?? [:]
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
        hasGroupsItself || below.contains(where: \.hasGroups)
    }

    private var hasGroupsItself: Bool {
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
        var found = written(for: subject)
        for setting in Self.builtIn(of: subject.store)
        where !says(setting.key, of: subject.store) {
            Self.replace(setting, in: &found)
        }
        return found
    }

    private func written(for subject: PolicySubject) -> [Setting] {
        var found = below.first?.written(for: subject) ?? []
        let ofGroups = Self.lastRead(subject.groups.map { sections[.group($0)] ?? [] })
        for setting in (sections[.everybody] ?? []) + ofGroups
            + (sections[.user(subject.user)] ?? []) + (sections[.store(subject.store)] ?? [])
        {
            Self.replace(setting, in: &found)
        }
        return found
    }

    /// A section for stores with this policy key sets it.
    private func says(_ key: Int, of store: [UInt8]) -> Bool {
        sections[.store(store)]?.contains { $0.key == key } ?? false
            || below.contains { $0.says(key, of: store) }
    }

    /// Each section of this layer and of the one below.
    var allSections: [(scope: Scope, settings: [Setting])] {
        sections.map { ($0.key, $0.value) } + below.flatMap(\.allSections)
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
        var found = below.first?.settings(ofApp: app, for: subject) ?? []
        let ofGroups = Self.lastRead(subject.groups.map { section(.group($0)) })
        for setting in section(.everybody) + ofGroups + section(.user(subject.user)) {
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
