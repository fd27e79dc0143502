/// A worker of which each connection is a process of its own: its command line, and who may ask.
public struct ConnectionWorker: Sendable {
    private let name, about: String

    private struct Arguments {
        /// Where it makes a socket of its own; nil where systemd hands a connection over.
        var listen: String?
        /// The only user who may ask.
        var user: UInt32
        var limit = 4
    }

    private enum Parsed {
        case run(Arguments)
        case say(String)
        case wrong(String)
    }

    private static let version = "0.1.0"

    /// `about` is what it does, in lines.
    public init(_ name: String, about: String) {
        self.name = name
        self.about = about
    }

    private var help: String {
        """
        usage: \(name) [--listen PATH] [--for USER] [--limit N]

        \(about)

          --listen PATH    listen here instead of on the connection that systemd hands over
          --for USER       the user that may ask, by name or number (default: our own)
          --limit N        processes at once with --listen, 1 to 64 (default 4)
          --help, --version

        """
    }

    private func parse(_ words: [String]) -> Parsed {
        var arguments = Arguments(user: ThisProcess.uid)
        var index = 0
        while index < words.count {
            let word = words[index]
            switch word {
            case "-h", "--help": return .say(help)
            case "--version": return .say("\(name) \(Self.version)\n")
            case "--listen", "--for", "--limit":
                index += 1
                guard index < words.count else { return .wrong("\(word): a value is missing") }
                if let wrong = Self.take(word, words[index], &arguments) { return .wrong(wrong) }
            default: return .wrong("\(word): no such option")
            }
            index += 1
        }
        return .run(arguments)
    }

    /// Returns what is wrong with the value; nil if it was taken.
    private static func take(
        _ option: String, _ value: String, _ arguments: inout Arguments
    ) -> String? {
        switch option {
        case "--listen": arguments.listen = value
        case "--for":
            if let number = UInt32(value) {
                arguments.user = number
            } else if case .found(_, let uid) = Accounts.named(value) {
                arguments.user = uid
            } else {
                return "--for: there is no user \(value)"
            }
        default:
            guard let number = Int(value), 1...64 ~= number else { return "--limit: 1 to 64" }
            arguments.limit = number
        }
        return nil
    }

    /// Calls `serve` with a connection of the user who may ask, before its first byte is read.
    /// `prepare` comes first; it returns what is missing on this machine.
    public func run(
        prepare: () -> String? = { nil }, serve: (consuming FileDescriptor) -> Never
    ) -> Never {
        let arguments: Arguments
        switch parse(Array(CommandLine.arguments.dropFirst())) {
        case .say(let text):
            StandardOutput.write(Array(text.utf8))
            ThisProcess.leave(0)
        case .wrong(let text): complain(text, status: 2)
        case .run(let parsed): arguments = parsed
        }
        if case .failed(let error) = ThisProcess.harden() { complain(error.description, status: 1) }
        if let missing = prepare() { complain(missing, status: 1) }
        if let path = arguments.listen {
            do throws(PosixError) {
                try ForkingListener.run(at: path, mode: 0o600, limit: arguments.limit) {
                    admit($0, arguments.user, serve)
                }
            } catch {
                complain(error.description, status: 1)
            }
        }
        guard let connection = HandedOver.descriptor() else {
            complain("no connection was handed over, and there is no --listen", status: 2)
        }
        admit(connection, arguments.user, serve)
    }

    private func admit(
        _ connection: consuming FileDescriptor, _ user: UInt32,
        _ serve: (consuming FileDescriptor) -> Never
    ) -> Never {
        guard let peer = try? PeerCredentials.of(connection.raw), peer.uid == user else {
            ThisProcess.leave(1)
        }
        serve(connection)
    }

    public func complain(_ text: String, status: Int32) -> Never {
        StandardError.write(Array("\(name): \(text)\nhint: \(name) --help\n".utf8))
        ThisProcess.leave(status)
    }
}
