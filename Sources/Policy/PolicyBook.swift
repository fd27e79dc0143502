/// For whom a policy is asked. Names are bytes, as the system has them.
public struct PolicySubject: Equatable, Sendable {
    public var user: [UInt8]
    public var groups: [[UInt8]]
    /// The store's policy key.
    public var store: [UInt8]

    /// The policy key, and the name, of the store with the desktop's secrets.
    public static let secrets = Array("secrets".utf8)

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

/// All policy files of a machine, completely read. Looking up what holds for a person cannot fail.
public struct PolicyBook: Equatable, Sendable {
    /// The files it was read from, the drop-ins in order. A default file that is broken and not
    /// needed is left out.
    public let files: PolicyFiles
    // nil where there is no file of the administrator's, nor of an organisation's.
    private let administrators: PolicyLayer?
    private let standard: PolicyLayer
    /// The later is laid over the earlier.
    var layers: [PolicyLayer] { [standard] + (administrators.map { [$0] } ?? []) }
    /// Some section is for a group. Then the policy of a person is not known without their groups.
    public let needsGroups: Bool

    /// Without any file.
    public static let builtIn = PolicyBook()

    /// The most bytes that the files may have together.
    public static let mostBytes = 2 << 20

    private init() {
        files = PolicyFiles()
        administrators = nil
        standard = PolicyLayer()
        needsGroups = false
    }

    /// Takes all of the administrator's files or none: one broken file breaks the policy. A broken
    /// default file breaks it only where it is needed.
    public init(_ files: PolicyFiles) throws(PolicyProblem) {
        var files = files
        files.dropIns.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let written = (files.administrators.map { [$0] } ?? []) + files.dropIns
        let organisation = files.organisation.map { [$0.file] } ?? []
        let all = (files.standard.map { [$0] } ?? []) + organisation + written
        if let problem = Self.tooLong(all) { throw problem }
        let isFinal = files.organisation?.isFinal ?? false
        var layer: PolicyLayer?
        for authors in isFinal ? [written, organisation] : [organisation, written]
        where !authors.isEmpty {
            layer = try Self.layer(authors, over: layer)
        }
        administrators = layer
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

    /// The values of all keys, in the order of the table.
    public func values(for subject: PolicySubject) -> [PolicyValue] {
        let found = resolve(subject)
        return PolicyKey.all.enumerated().map { place, key in
            let (policy, settings) =
                place < Self.switchCount
                ? (found.written, found.writtenSettings) : (found.inForce.policy, found.settings)
            let setting = settings.first { $0.key == place }
            let value = key.kind.text(policy)
            // The built-in value of such a key says what this release does.
            let isActedOn = key.use != .notActedOn || value == key.kind.text(.builtIn)
            return PolicyValue(
                key: key.name, value: value, file: setting?.file ?? "",
                line: setting?.line ?? 0, isActedOn: isActedOn)
        }
    }

    /// The administrator's texts, by id. They apply in every mode.
    public var texts: [String: String] {
        standard.texts.merging(administrators?.texts ?? [:]) { _, written in written }
    }

    // Enabled and UseDefaultPolicy are the first keys of the table. Their values come from the
    // administrator's files in every mode.
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
        // In the default policy the two switches have no meaning.
        let policy = standard.policy(settings).switchedOn
        return Resolved(
            inForce: written.useDefaultPolicy ? .standard(policy) : .noPasscodeMode(policy),
            settings: settings, written: written, writtenSettings: writtenSettings)
    }

    /// Reports the first file that makes the files together too long.
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

    private static func layer(
        _ files: [PolicyFile], over below: PolicyLayer? = nil
    ) throws(PolicyProblem) -> PolicyLayer {
        let parsed = files.map(PolicyParser.parse)
        for file in parsed {
            if let problem = file.problems.first { throw problem }
        }
        let layer = PolicyLayer(parsed, over: below)
        if let problem = Contradictions.errors(layer, parsed).first { throw problem }
        return layer
    }
}

extension PolicyLayer {
    /// Some section has Enabled=no, so the default policy may apply to somebody.
    var maySwitchOff: Bool {
        allSections.flatMap(\.settings).contains { !$0.policy.enabled }
    }
}
