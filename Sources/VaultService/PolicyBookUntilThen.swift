import Policy

/// The machine's policy, read whole, for one person like for another.
struct PolicyBook: Equatable, Sendable {
    private let policy: PolicyInForce

    static let builtIn = PolicyBook(policy: .standard(.builtIn))

    private init(policy: PolicyInForce) {
        self.policy = policy
    }

    init(_ files: PolicyFiles) throws(PolicyProblem) {
        policy = try files.inForce()
    }

    init(lastGood file: PolicyFile) throws(PolicyProblem) {
        policy = try PolicyInForce(lastGood: file)
    }

    var needsGroups: Bool { false }

    var texts: [String: String] { [:] }

    func inForce(for subject: PolicySubject) -> PolicyInForce { policy }

    func render() -> [UInt8] { policy.render() }
}

/// Who a policy is asked for.
struct PolicySubject {
    var user: [UInt8]
    var groups: [[UInt8]]
    var store: [UInt8]
}
