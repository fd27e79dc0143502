import Posix
import Wire

/// The command line of appvault-fingerprint.
struct Arguments: Equatable {
    /// A socket of our own; nil where systemd hands one over.
    var listen: String?
    /// The only user who may ask.
    var peer: UInt32
    /// Milliseconds without a request until the end; nil for never.
    var linger: UInt64? = FingerprintLink.linger
    /// With a socket of our own only: fake readers are made by variables.
    var variables: [Variable] = []
    /// Readers on no bus are taken for fixed to the machine.
    var fixed = false

    struct Variable: Equatable {
        var name: String
        var value: String
    }

    enum Parsed: Equatable {
        case run(Arguments)
        case say(String)
        case wrong(String)
    }

    static let version = "0.1.0"
    static let help = """
        usage: appvault-fingerprint [--listen PATH [--env NAME=VALUE]... [--fixed]] [--peer USER]
                                    [--linger SECONDS]

        Drives the fingerprint readers for appvaultd, in a process that holds no key and writes no
        file. Started by systemd with its listening socket; its environment is emptied.

          --listen PATH        listen here instead of on the socket that systemd hands over
          --peer USER          the user that may ask, by name or number (default: our own)
          --linger SECONDS     the end after so long without a request, 0 for never (default 30)
          --env NAME=VALUE     for tests: a variable that the drivers see; needs --listen
          --fixed              for tests: fake readers are fixed to the machine; needs --listen
          --help, --version

        """

    static func parse(_ words: [String]) -> Parsed {
        var arguments = Arguments(peer: ThisProcess.uid)
        var index = 0
        while index < words.count {
            let word = words[index]
            switch word {
            case "-h", "--help": return .say(help)
            case "--version": return .say("appvault-fingerprint \(version)\n")
            case "--fixed": arguments.fixed = true
            case "--listen", "--peer", "--linger", "--env":
                index += 1
                guard index < words.count else { return .wrong("\(word): a value is missing") }
                if let wrong = arguments.take(word, words[index]) { return .wrong(wrong) }
            default: return .wrong("\(word): no such option")
            }
            index += 1
        }
        if arguments.listen == nil {
            guard arguments.variables.isEmpty else { return .wrong("--env needs --listen") }
            guard !arguments.fixed else { return .wrong("--fixed needs --listen") }
        }
        return .run(arguments)
    }

    /// What is wrong with the value.
    private mutating func take(_ option: String, _ value: String) -> String? {
        switch option {
        case "--listen": listen = value
        case "--peer":
            if let number = UInt32(value) {
                peer = number
            } else if case .found(_, let uid) = Accounts.named(value) {
                peer = uid
            } else {
                return "--peer: there is no user \(value)"
            }
        case "--env":
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return "--env: NAME=VALUE" }
            variables.append(Variable(name: String(parts[0]), value: String(parts[1])))
        default:
            guard let seconds = UInt64(value), seconds <= 86_400 else {
                return "--linger: 0 to 86400"
            }
            linger = seconds == 0 ? nil : seconds * 1_000
        }
        return nil
    }
}
