import Posix

/// The command line of appvault-fetch.
struct Arguments: Equatable {
    /// Where it makes a socket of its own; nil where systemd hands a connection over.
    var listen: String?
    /// The only user who may ask.
    var user: UInt32
    var limit = 4

    enum Parsed: Equatable {
        case run(Arguments)
        case say(String)
        case wrong(String)
    }

    static let version = "0.1.0"
    static let help = """
        usage: appvault-fetch [--listen PATH] [--for USER] [--limit N]

        Fetches an organisation's bundles and hands in this machine's reports, for appvaultd, which
        has no network and checks itself what comes. Started by systemd for each connection; with
        --listen it serves a socket of its own, a process for each connection. In the folder that
        $CREDENTIALS_DIRECTORY names, ca.pem is who may vouch for a server, and client.pem and
        client.key are this machine's certificate; a file that is missing or blank says nothing.
        A proxy is taken from $https_proxy and $no_proxy.

          --listen PATH    listen here instead of on the connection that systemd hands over
          --for USER       the user that may ask, by name or number (default: our own)
          --limit N        processes at once with --listen, 1 to 64 (default 4)
          --help, --version

        """

    static func parse(_ words: [String]) -> Parsed {
        var arguments = Arguments(user: ThisProcess.uid)
        var index = 0
        while index < words.count {
            let word = words[index]
            switch word {
            case "-h", "--help": return .say(help)
            case "--version": return .say("appvault-fetch \(version)\n")
            case "--listen", "--for", "--limit":
                index += 1
                guard index < words.count else { return .wrong("\(word): a value is missing") }
                if let wrong = arguments.take(word, words[index]) { return .wrong(wrong) }
            default: return .wrong("\(word): no such option")
            }
            index += 1
        }
        return .run(arguments)
    }

    /// Returns what is wrong with the value; nil if it was taken.
    private mutating func take(_ option: String, _ value: String) -> String? {
        switch option {
        case "--listen": listen = value
        case "--for":
            if let number = UInt32(value) {
                user = number
            } else if case .found(_, let uid) = Accounts.named(value) {
                user = uid
            } else {
                return "--for: there is no user \(value)"
            }
        default:
            guard let number = Int(value), 1...64 ~= number else { return "--limit: 1 to 64" }
            limit = number
        }
        return nil
    }
}
