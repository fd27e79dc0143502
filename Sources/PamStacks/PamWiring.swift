/// How this machine's logins are set up to use AppVault.
package enum PamWiring: Equatable {
    /// The login password opens the store, and AppVault does not ask for a passcode.
    case followsLogin
    /// AppVault asks for a passcode of its own.
    case ownPasscode
    case none

    /// Reads `login` and `common-auth`, with all that they include.
    package static func of(_ configuration: PamConfiguration) -> PamWiring {
        let roles = ["common-auth", "login"].flatMap { service in
            configuration.readable(service, .auth).filter(\.isOurs).map { PamRole($0) }
        }
        if roles.isEmpty { return .none }
        return roles.contains(.asks) ? .ownPasscode : .followsLogin
    }
}
