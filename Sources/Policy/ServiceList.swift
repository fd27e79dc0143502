/// PAM services by name, as one key of the policy lists them.
public struct ServiceList: Equatable, Sendable {
    public var names: [String]
    /// The list contains the word LocalServices. Then the services of that key belong to the list,
    /// in whatever file that key is set.
    public var withLocal: Bool

    public init(names: [String], withLocal: Bool = false) {
        self.names = names
        self.withLocal = withLocal
    }

    static let localWord = "LocalServices"

    static let local = [
        "login", "gdm-password", "lightdm", "sddm", "greetd", "sudo", "sudo-i", "su", "su-l",
        "polkit-1",
    ]

    static let lockers = [
        "swaylock", "i3lock", "xscreensaver", "kde", "cinnamon-screensaver", "mate-screensaver",
        "xfce4-screensaver", "gtklock", "hyprlock", "vlock", "physlock",
    ]

    func names(_ service: [UInt8]) -> Bool {
        names.contains { $0.utf8.elementsEqual(service) }
    }
}

/// What AppVault may do at a PAM service.
public enum ServiceUse: Equatable, Sendable {
    /// Tries made there can be own ones.
    case local
    /// AppVault asks for the passcode and decides.
    case passcode
    /// A login password opens a store that follows it.
    case unlock
    /// A login session of a person at this machine begins there. This excludes lockers, and
    /// programs that only ask who it is.
    case login
    /// A flow that is due may run inside the login.
    case converse(onTerminal: Bool)
}

extension Policy {
    /// Whether a service, by PAM's name for it, is listed for a use.
    public func acts(_ use: ServiceUse, at service: [UInt8]) -> Bool {
        switch use {
        case .local: localServices.names(service)
        case .passcode: lists(passcodeServices, service)
        case .unlock: lists(unlockServices, service)
        case .login: lists(unlockServices, service) && localServices.names(service)
        case .converse(let onTerminal):
            lists(conversingServices, service)
                && (onTerminal || !Self.needTerminal.contains { $0.utf8.elementsEqual(service) })
        }
    }

    // Without a terminal, these programs run from scripts and buttons, where nobody can answer.
    private static let needTerminal = ["su", "su-l", "sudo", "sudo-i"]

    private func lists(_ list: ServiceList, _ service: [UInt8]) -> Bool {
        list.names(service) || list.withLocal && localServices.names(service)
    }
}
