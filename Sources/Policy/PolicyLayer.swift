/// The files of one author, laid over each other: the administrator's, or the default policy's.
struct PolicyLayer: Sendable {
    /// One setting for each key, the last that was read.
    private(set) var sections: [Scope: [Setting]] = [:]
    /// In the order of the files.
    private(set) var rules: [CustomRule] = []
    private(set) var texts: [String: String] = [:]

    init(_ files: [ParsedFile] = []) {
        for (number, file) in files.enumerated() {
            for (scope, settings) in file.sections {
                for var setting in settings {
                    setting.order = UInt64(number) << 32 | UInt64(setting.line)
                    Self.replace(setting, in: &sections[scope, default: []])
                }
            }
            // A rule is replaced as a whole. Keys from two files would make a third rule that
            // nobody wrote.
            if !file.ruleNames.isEmpty { rules.removeAll { file.ruleNames.contains($0.name) } }
            rules += file.rules
            for text in file.texts { texts[text.id] = text.text }
        }
    }

    var hasGroups: Bool {
        sections.keys.contains { scope in
            switch scope {
            case .group: true
            case .everybody, .user, .store: false
            }
        }
    }

    /// The settings that hold for a subject, one for each key that is set at all.
    func settings(for subject: PolicySubject) -> [Setting] {
        var found = sections[.everybody] ?? []
        // If a key is set for several of the person's groups, the setting that was read last
        // counts, in whatever order the directory lists the groups.
        var ofGroups: [Setting] = []
        for group in subject.groups {
            for setting in sections[.group(group)] ?? [] {
                let other = ofGroups.first { $0.key == setting.key }
                if other.map({ $0.order < setting.order }) ?? true {
                    Self.replace(setting, in: &ofGroups)
                }
            }
        }
        for setting in ofGroups + (sections[.user(subject.user)] ?? [])
            + (sections[.store(subject.store)] ?? [])
        {
            Self.replace(setting, in: &found)
        }
        return found
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
    private static func replace(_ setting: Setting, in settings: inout [Setting]) {
        if let place = settings.firstIndex(where: { $0.key == setting.key }) {
            settings[place] = setting
        } else {
            settings.append(setting)
        }
    }
}
