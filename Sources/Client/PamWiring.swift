import Posix

/// Which of the ways of living with AppVault this machine's logins are set up for.
enum PamWiring: Equatable {
    /// A login password opens the store behind the person's back.
    case followsLogin
    /// AppVault asks for a passcode of its own.
    case ownPasscode
    case none

    /// What stands in `login` and `common-auth` and what they include.
    static func of(folder: [UInt8] = Array("/etc/pam.d".utf8)) -> PamWiring {
        let folder = String(decoding: folder, as: UTF8.self)
        let configuration = PamConfiguration { name in
            let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
            return ToolIO.contents(of: Array(path.utf8)).map { .init(path: path, text: $0) }
        }
        let roles = ["common-auth", "login"].flatMap { service in
            configuration.readable(service, .auth).filter(\.isOurs).map { PamRole($0) }
        }
        if roles.isEmpty { return .none }
        return roles.contains(.asks) ? .ownPasscode : .followsLogin
    }
}
