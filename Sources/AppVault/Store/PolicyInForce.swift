internal import Wire

/// The policy that a store is under.
public struct PolicyInForce: Sendable {
    /// Whose policy it is.
    public enum Mode: Sendable {
        /// The administrator's.
        case administrators
        /// AppVault's own, because there is none of the administrator's.
        case standard
        /// There is none: no store needs a passcode.
        case noPasscodes
    }

    /// Whose policy it is.
    public var mode: Mode
    /// What is wrong with its files, for people; empty where nothing is.
    public var problem: String
    /// The values, by the names of their keys, as they are written in a policy file.
    public var values: [String: String]
}

extension Store {
    /// The policy that the store is under now.
    public func policy() async throws(VaultError) -> PolicyInForce {
        let told = try await vault.link.ask(
            .policyShow, target, for: .policyValues, PolicyValues.self)
        var values: [String: String] = [:]
        for each in told.values {
            values[String(decoding: each.key, as: UTF8.self)] =
                String(decoding: each.value, as: UTF8.self)
        }
        return PolicyInForce(
            mode: PolicyInForce.Mode(told.mode),
            problem: String(decoding: told.problem, as: UTF8.self), values: values)
    }
}

extension PolicyInForce.Mode {
    init(_ mode: PolicyValues.Mode) {
        self =
            switch mode {
            case .administrators: .administrators
            case .standard: .standard
            case .noPasscodeMode: .noPasscodes
            }
    }
}
