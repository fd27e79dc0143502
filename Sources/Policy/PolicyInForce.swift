/// Which policy holds, and whose it is.
public enum PolicyInForce: Equatable, Sendable {
    case administrators(Policy)
    /// The default policy: the administrator wrote none, or switched theirs off.
    case standard(Policy)
    /// The administrator switched off both policies. The settings that still apply without a
    /// passcode are those of the default policy.
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

/// An organisation's policy lies between the packaged file and the administrator's own; a final one
/// lies over both.
public struct OrganisationFile: Equatable, Sendable {
    public var file: PolicyFile
    public var isFinal: Bool

    public init(file: PolicyFile, isFinal: Bool) {
        self.file = file
        self.isFinal = isFinal
    }
}

/// The files of one machine as they were found. nil and empty stand for missing files. If a file
/// exists and cannot be read, the caller must treat that as an error and not pass it as a missing
/// one.
public struct PolicyFiles: Equatable, Sendable {
    /// /usr/lib/appvault/policy.conf
    public var standard: PolicyFile?
    /// Signed by an organisation that the machine has joined.
    public var organisation: OrganisationFile?
    /// /etc/appvault/policy.conf
    public var administrators: PolicyFile?
    /// /etc/appvault/policy.d/*.conf in any order.
    public var dropIns: [PolicyFile]

    public init(
        standard: PolicyFile? = nil, organisation: OrganisationFile? = nil,
        administrators: PolicyFile? = nil, dropIns: [PolicyFile] = []
    ) {
        self.standard = standard
        self.organisation = organisation
        self.administrators = administrators
        self.dropIns = dropIns
    }
}
