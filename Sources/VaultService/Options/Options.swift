import Posix
import Words

/// The command line of appvaultd. `OptionEntry.all` lists what it may hold.
public struct Options: Sendable, Equatable {
    public var stateFolder = "/var/lib/appvault"
    public var configFolder = "/etc/appvault"
    /// The default policy's file; nil if the built-in values are the default, as for a private
    /// daemon.
    public var defaultPolicy: String? = "/usr/lib/appvault/policy.conf"
    /// Where the catalogues of other languages are: LL/LC_MESSAGES/appvault.mo.
    public var localeFolder = CatalogueFolder.usual
    /// Where to make a socket; nil if systemd hands one over.
    public var socket: String?
    /// Where to make a second socket, for root alone.
    public var rootSocket: String?
    /// Where appvault-rules is asked about custom rules.
    public var rulesSocket = "/run/appvault/rules.socket"
    /// Where appvault-fetch is asked for an organisation's files.
    public var fetchSocket = "/run/appvault/fetch.socket"
    /// Where appvault-fingerprint is asked for readers.
    public var fingerprintSocket = "/run/appvault/fingerprint.socket"
    /// Where failed tokens are kept beyond the end of the daemon; nil if the option was not given.
    public var runtimeFolder: String?
    /// Where logind has a file for each session.
    public var sessionFolder = "/run/systemd/sessions"
    /// What this machine is called in an organisation's orders.
    public var machineID = "/etc/machine-id"
    /// systemd ends this daemon before a hibernation. If not, the daemon wipes what a finger opens
    /// before each sleep that may be a hibernation.
    public var isStoppedBeforeHibernation = false
    public var deadlines = Deadlines()
    public var job = Job.serve

    public enum Job: Sendable, Equatable {
        case serve
        case forgetTokens
    }

    static let standardRootSocket = "/run/appvault/root.socket"

    /// systemd makes this folder for the daemon that it starts. A daemon with `--socket` does not
    /// use it by default.
    public static let runtimeFolder = "/run/appvaultd"

    /// Nil: failed tokens are remembered only as long as the daemon runs.
    var tokenFolder: String? {
        runtimeFolder ?? (socket == nil ? Self.runtimeFolder : nil)
    }

    public struct Deadlines: Sendable, Equatable {
        /// Seconds that a store stays open after a login that no session follows.
        public var session = 60
        /// Seconds that a transaction waits for its confirmation.
        public var transaction = 60
        /// Seconds without anything to do after which a socket-activated daemon ends.
        public var idle = 60
        /// Seconds that the daemon waits, at each touch, for a person who enrols a finger.
        public var touch = 60
        /// Seconds that a login waits for the store that it makes. The store is made even if that
        /// is not enough.
        public var onboarding = 5
        /// Seconds that one transfer from an organisation's server may take.
        public var fetch = 60
    }

    public enum Parsed: Sendable, Equatable {
        case run(Options)
        case say(String)
        case wrong(String)
    }

    static let help: String = {
        let width = OptionEntry.all.map(\.usage.utf8.count).max() ?? 0
        let rows = OptionEntry.all.map { entry in
            let usage = (entry.short.map { "\($0), " } ?? "") + entry.usage
            let padding = String(repeating: " ", count: max(0, width - usage.utf8.count) + 2)
            return "  \(usage)\(padding)\(entry.summary)\n"
        }
        return """
            usage: appvaultd [OPTION]...

            Keeps sealed stores and opens them for the people they belong to. Started by systemd on its
            socket; with --socket it serves one of its own, also as an ordinary user.


            """ + rows.joined()
    }()

    public static func parse(_ arguments: [String]) -> Parsed {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard let entry = OptionEntry.named(argument) else {
                return .wrong("\(argument): no such option")
            }
            switch entry.effect {
            case .help: return .say(help)
            case .texts: return .say(TextTemplate.pot)
            case .version: return .say("appvaultd \(Software.version)\n")
            case .flag(let set): set(&options)
            case .set(let wrong, let set):
                guard let value = rest.popFirst(), set(&options, value) else {
                    return .wrong("\(entry.flag): \(wrong)")
                }
            }
        }
        return .run(options)
    }
}

extension Options.Deadlines {
    /// Shortens a deadline. It never makes one longer: an option must not be a way to keep a store
    /// open.
    mutating func shorten(_ setting: String) -> Bool {
        let parts = setting.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let seconds = Int(parts[1]), (1...60).contains(seconds) else {
            return false
        }
        switch parts[0] {
        case "session": session = seconds
        case "transaction": transaction = seconds
        case "idle": idle = seconds
        case "touch": touch = seconds
        case "fetch": fetch = seconds
        default: return false
        }
        return true
    }
}
