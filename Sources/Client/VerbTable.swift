/// One entry a verb: parsing, help and the manual pages come from here.
struct VerbEntry: Sendable {
    enum Group: String, CaseIterable, Sendable {
        case store = "your store"
        case records = "what is in it"
        case mending = "mending"
        case tool = "this tool"
    }

    struct Example: Sendable {
        var command: String
        var meaning: String
    }

    var words: [String]
    var group: Group
    /// What follows the words, with [] around what may be left out.
    var operands: [String]
    var options: [Option] = []
    var summary: String
    var text: [String]
    var examples: [Example] = []

    var name: String { words.joined(separator: " ") }
    var fewest: Int { operands.count { !$0.hasPrefix("[") } }

    var synopsis: String {
        var parts = ["appvault", name]
        var shown: Set<Option> = [.user]
        for option in options where !shown.contains(option) {
            let choice = Option.exclusive.first { $0.contains(option) } ?? [option]
            shown.formUnion(choice)
            parts.append("[" + choice.map(\.entry.usage).joined(separator: "|") + "]")
        }
        return (parts + operands).joined(separator: " ")
    }
}

extension Verb {
    var entry: VerbEntry {
        switch self {
        case .create:
            VerbEntry(
                words: ["create"], group: .store, operands: [],
                options: [.followLogin, .ownPasscode, .noPasscode, .openExisting, .user],
                summary: "make a store",
                text: [
                    "Without an option the store suits this machine: where a login opens stores with the login "
                        + "password, the passcode follows it; otherwise the store gets a passcode of its own.",
                    "A login password is proven before it is used, so that a slip of the finger cannot make the "
                        + "two differ from the first day.",
                    "On a terminal a recovery key is shown once. Write it down: it is the only way in when the "
                        + "passcode is forgotten.",
                ],
                examples: [
                    .init(command: "appvault create", meaning: "what suits this machine"),
                    .init(
                        command: "appvault create --own-passcode --passcode-fd 3 3<secret",
                        meaning: "from a script"),
                ])
        case .status:
            VerbEntry(
                words: ["status"], group: .store, operands: [], options: [.user],
                summary: "show the state of a store",
                text: [
                    "Nothing is asked and nothing changes. Where something is wrong, it says what can be done."
                ],
                examples: [.init(command: "appvault status --json", meaning: "for programs")])
        case .unlock:
            VerbEntry(
                words: ["unlock"], group: .store, operands: [], options: [.user],
                summary: "open the store",
                text: [
                    "Asks for the passcode. A store that is open stays open and nothing is asked."
                ])
        case .lock:
            VerbEntry(
                words: ["lock"], group: .store, operands: [], options: [.user],
                summary: "shut the store",
                text: ["The key is wiped from memory. Needs no passcode."])
        case .passwd:
            VerbEntry(
                words: ["passwd"], group: .store, operands: [], options: [.off, .on, .user],
                summary: "change the passcode, or turn it off or on",
                text: [
                    "The current passcode is asked for first, also where the store is open.",
                    "With --off the store opens for you without being asked; it stays encrypted, but anyone who "
                        + "has the disk can read it.",
                    "Where the passcode follows the login password, change that one with passwd(1).",
                ],
                examples: [
                    .init(command: "appvault passwd --on", meaning: "from no passcode to one")
                ])
        case .recoveryNew:
            VerbEntry(
                words: ["recovery", "new"], group: .store, operands: [], options: [.user],
                summary: "make a recovery key; the former one ends",
                text: [
                    "The key is shown once, on a terminal only. Write it down and keep it away from the machine."
                ])
        case .recover:
            VerbEntry(
                words: ["recover"], group: .store, operands: [], options: [.user],
                summary: "open the store with the recovery key",
                text: [
                    "A new passcode is set at once. Capitals, spaces and dashes in what you type do not "
                        + "matter."
                ])
        case .set:
            VerbEntry(
                words: ["set"], group: .records, operands: ["NAME", "[VALUE|-]"],
                summary: "store a value under a name",
                text: [
                    "On a terminal the value is asked for and does not show. From a pipe, or with -, it is read "
                        + "from standard input, byte for byte, a final newline included, up to 1 MiB.",
                    "A VALUE on the command line can be seen by other users in the list of processes, and stays in "
                        + "the history of the shell.",
                ],
                examples: [
                    .init(command: "appvault set mail/work", meaning: "asks, without echo"),
                    .init(
                        command: "appvault set tls.key - <server.key",
                        meaning: "a file, byte for byte"),
                ])
        case .get:
            VerbEntry(
                words: ["get"], group: .records, operands: ["NAME"],
                summary: "show the value of a name",
                text: [
                    "Into a pipe or a file the value goes as it is; a terminal gets a newline behind it."
                ],
                examples: [
                    .init(
                        command: "appvault get tls.key >server.key",
                        meaning: "the very bytes that were stored")
                ])
        case .list:
            VerbEntry(
                words: ["list"], group: .records, operands: ["[PREFIX]"], summary: "list names",
                text: [
                    "One a line, sorted. On a terminal control characters are shown as \\xNN; into a pipe names go "
                        + "as they are."
                ])
        case .delete:
            VerbEntry(
                words: ["delete"], group: .records, operands: ["NAME"],
                summary: "remove a name and its value",
                text: ["What is removed cannot be brought back."])
        case .export:
            VerbEntry(
                words: ["export"], group: .records, operands: ["[FILE|-]"],
                summary: "write everything into one encrypted file",
                text: [
                    "The file has a passphrase of its own, which is asked for after the passcode. It appears under "
                        + "its name only when it is whole."
                ],
                examples: [
                    .init(
                        command: "appvault export backup.vault",
                        meaning: "mode 0600, never half a file")
                ])
        case .import:
            VerbEntry(
                words: ["import"], group: .records, operands: ["[FILE|-]"], options: [.replace],
                summary: "read a file that export wrote",
                text: [
                    "The whole file is checked before anything is stored. Names that exist already stop it, unless "
                        + "--replace is given."
                ])
        case .reset:
            VerbEntry(
                words: ["reset"], group: .mending, operands: [], options: [.user],
                summary: "erase the store and everything in it",
                text: [
                    "Needs the passcode, or root. Copies in backups and on worn flash may live on; only the passcode "
                        + "protects those."
                ])
        case .resync:
            VerbEntry(
                words: ["resync"], group: .mending, operands: [], options: [.user],
                summary: "follow a login password that was changed elsewhere",
                text: [
                    "Asks for the login password, and once for the former one or for the recovery key."
                ])
        case .triesClear:
            VerbEntry(
                words: ["tries", "clear"], group: .mending, operands: [], options: [.user],
                summary: "forget the wrong tries (root)",
                text: ["A store that was locked by too many wrong tries can be tried again."],
                examples: [
                    .init(
                        command: "appvault tries clear --user alice", meaning: "let alice try again"
                    )
                ])
        case .chown:
            VerbEntry(
                words: ["chown"], group: .mending, operands: ["STORE", "USER"],
                summary: "give a store to the account that owns it now (root)",
                text: [
                    "A store whose owner's uid and name no longer belong together stays shut. STORE is the id that "
                        + "status shows."
                ])
        case .version:
            VerbEntry(
                words: ["version"], group: .tool, operands: [],
                summary: "show the versions of tool and daemon",
                text: ["The daemon's is left out where none runs."])
        case .help:
            VerbEntry(
                words: ["help"], group: .tool, operands: ["[VERB]"],
                summary: "show help, for one verb too",
                text: ["The same as VERB --help."])
        }
    }

    static func named(_ words: [String]) -> Verb? {
        allCases.first { $0.entry.words == words }
    }
}
