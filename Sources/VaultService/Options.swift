import Posix

/// The command line of appvaultd.
public struct Options: Sendable, Equatable {
    public var stateFolder = "/var/lib/appvault"
    public var configFolder = "/etc/appvault"
    /// The default policy's file; nil where the built-in values are the default, as for a private
    /// daemon.
    public var defaultPolicy: String? = "/usr/lib/appvault/policy.conf"
    /// Where the catalogues of other languages are: LL/LC_MESSAGES/appvault.mo.
    public var localeFolder = "/usr/share/locale"
    /// A socket of our own; nil where systemd hands one over.
    public var socket: String?
    public var deadlines = Deadlines()

    public struct Deadlines: Sendable, Equatable {
        /// Seconds that a store stays open after a login that no session follows.
        public var session = 60
        /// Seconds that a transaction waits for its confirmation.
        public var transaction = 60
        /// Seconds without anything to do after which a socket-activated daemon leaves.
        public var idle = 60
    }

    public enum Parsed: Sendable, Equatable {
        case run(Options)
        case say(String)
        case wrong(String)
    }

    static let help = """
        usage: appvaultd [--socket PATH] [--state-dir DIR] [--config-dir DIR] [--locale-dir DIR]
                         [--deadline NAME=SECONDS]

        Keeps sealed stores and opens them for the people they belong to. Started by systemd on its
        socket; with --socket it serves one of its own, also as an ordinary user.

          --socket PATH            listen here instead of on the socket that systemd hands over
          --state-dir DIR          stores and machine key (default /var/lib/appvault)
          --config-dir DIR         policy.conf and policy.d (default /etc/appvault)
          --locale-dir DIR         catalogues of other languages (default /usr/share/locale)
          --deadline NAME=SECONDS  shorten one of: session, transaction, idle (60 each)
          --list-texts             print every text as a gettext template, and end
          --help, --version

        """

    public static func parse(_ arguments: [String]) -> Parsed {
        var options = Options()
        var index = 0
        func value() -> String? {
            index += 1
            return index < arguments.count ? arguments[index] : nil
        }
        while index < arguments.count {
            let argument = arguments[index]
            switch argument {
            case "-h", "--help": return .say(help)
            case "--version": return .say("appvaultd \(Service.software)\n")
            case "--socket":
                guard let path = value() else { return .wrong("--socket: a path is missing") }
                options.socket = path
            case "--state-dir":
                guard let path = value() else { return .wrong("--state-dir: a folder is missing") }
                options.stateFolder = path
            case "--config-dir":
                guard let path = value() else { return .wrong("--config-dir: a folder is missing") }
                options.configFolder = path
                options.defaultPolicy = nil
            case "--locale-dir":
                guard let path = value() else { return .wrong("--locale-dir: a folder is missing") }
                options.localeFolder = path
            case "--list-texts": return .say(TextTemplate.pot)
            case "--deadline":
                guard let setting = value(), options.deadlines.shorten(setting) else {
                    return .wrong("--deadline: session, transaction or idle = 1 to 60 seconds")
                }
            default:
                return .wrong("\(argument): no such option")
            }
            index += 1
        }
        return .run(options)
    }
}

extension Options.Deadlines {
    /// Only ever shorter: an option must not be a way to keep a store open.
    mutating func shorten(_ setting: String) -> Bool {
        let parts = setting.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let seconds = Int(parts[1]), (1...60).contains(seconds) else {
            return false
        }
        switch parts[0] {
        case "session": session = seconds
        case "transaction": transaction = seconds
        case "idle": idle = seconds
        default: return false
        }
        return true
    }
}
