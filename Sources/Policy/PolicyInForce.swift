/// Which policy holds, and by whose word. Mode and rules are both in it, so that the last good one is known whole.
public enum PolicyInForce: Equatable, Sendable {
    case administrators(Policy)
    /// The default policy: nobody wrote another, or the one that was written is switched off.
    case standard(Policy)
    /// Both switches were written off. The rules that apply without a passcode are the default policy's.
    case noPasscodeMode(Policy)

    public var policy: Policy {
        switch self {
        case .administrators(let policy), .standard(let policy), .noPasscodeMode(let policy): policy
        }
    }
}

/// One file that was read.
public struct PolicyFile: Equatable, Sendable {
    /// Its path, for error lines.
    public var name: String
    public var text: [UInt8]

    public init(name: String, text: [UInt8]) {
        self.name = name
        self.text = text
    }
}

/// The files of one machine as they were found; nil and empty are missing ones. A file that is there and could not
/// be read is the caller's error: it must not come here as a missing one.
public struct PolicyFiles: Equatable, Sendable {
    /// /usr/lib/appvault/policy.conf
    public var standard: PolicyFile?
    /// /etc/appvault/policy.conf
    public var administrators: PolicyFile?
    /// /etc/appvault/policy.d/*.conf in any order.
    public var dropIns: [PolicyFile]

    public init(
        standard: PolicyFile? = nil, administrators: PolicyFile? = nil, dropIns: [PolicyFile] = []
    ) {
        self.standard = standard
        self.administrators = administrators
        self.dropIns = dropIns
    }

    /// Decides from all of the administrator's files, or from none: one that is broken breaks the policy. The default
    /// one is read only where it is needed.
    public func inForce() throws(PolicyProblem) -> PolicyInForce {
        let inOrder = dropIns.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let written = (administrators.map { [$0] } ?? []) + inOrder
        guard !written.isEmpty else { return .standard(try defaultPolicy()) }
        // What the administrator leaves out has the table's default, whatever the default policy says.
        var policy = Policy.builtIn
        for file in written {
            policy = try PolicyParser.parse(file.text, file: file.name, onto: policy)
        }
        if policy.enabled { return .administrators(policy) }
        let fallback = try defaultPolicy()
        return policy.useDefaultPolicy ? .standard(fallback) : .noPasscodeMode(fallback)
    }

    // The two switches speak about the administrator's policy; in the default one they say nothing.
    private func defaultPolicy() throws(PolicyProblem) -> Policy {
        guard let standard else { return .builtIn }
        return try PolicyParser.parse(standard.text, file: standard.name, onto: .builtIn).switchedOn
    }
}

extension Policy {
    /// The canonical text: every key once, in the table's order.
    public func render() -> [UInt8] {
        let lines = PolicyKey.all.map { "\($0.name)=\($0.kind.text(self))" }
        return Array((["[Passcode]"] + lines).joined(separator: "\n").utf8) + [0x0A]
    }

    var switchedOn: Policy {
        var policy = self
        policy.enabled = true
        policy.useDefaultPolicy = true
        return policy
    }
}

extension PolicyInForce {
    private static let endMark = Array("# whole\n".utf8)

    /// For the file of the last good policy: the rules in force, and the two switches that say which mode it is.
    public func render() -> [UInt8] {
        var policy = policy
        switch self {
        case .administrators:
            policy.enabled = true
        case .standard:
            policy.enabled = false
            policy.useDefaultPolicy = true
        case .noPasscodeMode:
            policy.enabled = false
            policy.useDefaultPolicy = false
        }
        return policy.render() + Self.endMark
    }

    /// Reads what `render` wrote, also where a later release has more keys.
    public init(lastGood file: PolicyFile) throws(PolicyProblem) {
        // A file that lost its end would be read as another policy, defaults and mode included.
        guard file.text.suffix(Self.endMark.count).elementsEqual(Self.endMark) else {
            throw PolicyProblem(
                file: file.name, line: file.text.count { $0 == 0x0A } + 1, key: "",
                wrong: "the file is not whole", right: "the file as it was written")
        }
        let policy = try PolicyParser.parse(file.text, file: file.name, onto: .builtIn)
        if policy.enabled {
            self = .administrators(policy)
        } else if policy.useDefaultPolicy {
            self = .standard(policy.switchedOn)
        } else {
            self = .noPasscodeMode(policy.switchedOn)
        }
    }
}
