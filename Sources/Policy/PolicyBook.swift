/// For whom a policy is asked: names as the system has them.
public struct PolicySubject: Equatable, Sendable {
    public var user: [UInt8]
    public var groups: [[UInt8]]
    /// The store's policy key.
    public var store: [UInt8]

    public init(
        user: [UInt8] = [], groups: [[UInt8]] = [], store: [UInt8] = Array("default".utf8)
    ) {
        self.user = user
        self.groups = groups
        self.store = store
    }
}

/// A key's value in force, and where it comes from.
public struct PolicyValue: Equatable, Sendable {
    public var key: String
    public var value: String
    /// Empty where the value is built in.
    public var file: String
    /// 0 where the value is built in.
    public var line: Int
    /// Whether this release does anything with the key.
    public var isActedOn: Bool

    public init(key: String, value: String, file: String, line: Int, isActedOn: Bool) {
        self.key = key
        self.value = value
        self.file = file
        self.line = line
        self.isActedOn = isActedOn
    }
}

/// All policy files of a machine, read whole: what holds for whom is looked up, and cannot fail.
public struct PolicyBook: Equatable, Sendable {
    /// What it was read from, the drop-ins in order. A default file that is broken and not needed is none.
    public let files: PolicyFiles
    // nil where nobody wrote one.
    private let administrators: PolicyLayer?
    private let standard: PolicyLayer
    /// Some section is for a group: without a person's groups it is not known what holds for them.
    public let needsGroups: Bool

    /// Without any file.
    public static let builtIn = PolicyBook()

    /// The files together, in bytes.
    public static let mostBytes = 2 << 20

    private init() {
        files = PolicyFiles()
        administrators = nil
        standard = PolicyLayer()
        needsGroups = false
    }

    /// Takes all of the administrator's files, or none: one that is broken breaks the policy. The default one does
    /// only where it is needed.
    public init(_ files: PolicyFiles) throws(PolicyProblem) {
        var files = files
        files.dropIns.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let written = (files.administrators.map { [$0] } ?? []) + files.dropIns
        let all = (files.standard.map { [$0] } ?? []) + written
        if let problem = Self.tooLong(all) { throw problem }
        administrators = written.isEmpty ? nil : try Self.layer(written)
        do throws(PolicyProblem) {
            standard = try Self.layer(files.standard.map { [$0] } ?? [])
        } catch {
            guard let administrators, !administrators.maySwitchOff else { throw error }
            files.standard = nil
            standard = PolicyLayer()
        }
        needsGroups = standard.hasGroups || administrators?.hasGroups ?? false
        self.files = files
    }

    public static func == (left: PolicyBook, right: PolicyBook) -> Bool {
        left.files == right.files
    }

    public func inForce(for subject: PolicySubject) -> PolicyInForce {
        resolve(subject).inForce
    }

    /// Every key in the table's order.
    public func values(for subject: PolicySubject) -> [PolicyValue] {
        let found = resolve(subject)
        return PolicyKey.all.enumerated().map { place, key in
            let (policy, settings) =
                place < Self.switchCount
                ? (found.written, found.writtenSettings) : (found.inForce.policy, found.settings)
            let setting = settings.first { $0.key == place }
            return PolicyValue(
                key: key.name, value: key.kind.text(policy), file: setting?.file ?? "",
                line: setting?.line ?? 0, isActedOn: key.use != .notActedOn)
        }
    }

    /// Texts of the administrator's, by id. They hold in every mode.
    public var texts: [String: String] {
        standard.texts.merging(administrators?.texts ?? [:]) { _, written in written }
    }

    // Enabled and UseDefaultPolicy begin the table: in every mode they are the administrator's word.
    private static let switchCount = 2

    private struct Resolved {
        let inForce: PolicyInForce
        let settings: [Setting]
        let written: Policy
        let writtenSettings: [Setting]
    }

    private func resolve(_ subject: PolicySubject) -> Resolved {
        let writtenSettings = administrators?.settings(for: subject) ?? []
        let written = administrators?.policy(writtenSettings) ?? .builtIn
        if administrators != nil, written.enabled {
            return Resolved(
                inForce: .administrators(written), settings: writtenSettings, written: written,
                writtenSettings: writtenSettings)
        }
        let settings = standard.settings(for: subject)
        // In the default policy the two switches say nothing.
        let policy = standard.policy(settings).switchedOn
        return Resolved(
            inForce: written.useDefaultPolicy ? .standard(policy) : .noPasscodeMode(policy),
            settings: settings, written: written, writtenSettings: writtenSettings)
    }

    /// The first of the files that is too much beside those before it.
    static func tooLong(_ files: [PolicyFile]) -> PolicyProblem? {
        var total = 0
        for file in files {
            total += file.text.count
            guard total > mostBytes else { continue }
            return PolicyProblem(
                file: file.name, line: 1, key: "",
                wrong: "the policy files together are longer than 2 MiB", right: "at most 2 MiB")
        }
        return nil
    }

    private static func layer(_ files: [PolicyFile]) throws(PolicyProblem) -> PolicyLayer {
        let parsed = files.map(PolicyParser.parse)
        for file in parsed {
            if let problem = file.problems.first { throw problem }
        }
        let layer = PolicyLayer(parsed)
        if let problem = Contradictions.errors(layer, parsed).first { throw problem }
        return layer
    }
}

extension PolicyLayer {
    /// Enabled=no stands somewhere, so that the default policy holds for somebody.
    var maySwitchOff: Bool {
        sections.values.joined().contains { !$0.policy.enabled }
    }
}
