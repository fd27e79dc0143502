/// Which policy holds, and by whose word.
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
}
