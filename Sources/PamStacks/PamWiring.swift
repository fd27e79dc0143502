/// Which of the ways of living with AppVault this machine's logins are set up for.
package enum PamWiring: Equatable {
    /// A login password opens the store behind the person's back.
    case followsLogin
    /// AppVault asks for a passcode of its own.
    case ownPasscode
    case none

    /// What stands in `login` and `common-auth` and what they include.
    package static func of(_ configuration: PamConfiguration) -> PamWiring {
        let roles = ["common-auth", "login"].flatMap { service in
            configuration.readable(service, .auth).filter(\.isOurs).map { PamRole($0) }
        }
        if roles.isEmpty { return .none }
        return roles.contains(.asks) ? .ownPasscode : .followsLogin
    }
}
