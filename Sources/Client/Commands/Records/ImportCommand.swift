import Posix
import ToolTexts
import Wire

struct ImportCommand: Command {
    static let entry = VerbEntry(
        words: ["import"], group: .records, operands: ["[FILE|-|keyring|kwallet|pass]"],
        options: [.replace, .dryRun],
        summary: "read a file that export wrote, or other programs' secrets",
        text: [
            "FILE: it checks the whole file before it stores anything. If a name exists already, it stores nothing, "
                + "unless you give --replace.",
            "keyring, kwallet, pass: it takes over what gnome-keyring, KWallet or pass keeps for you, with labels, attributes "
                + "and times, into the store `secrets`, which it makes if there is none, or into that of --store. It reads "
                + "their files, so those programs need not run. It asks for the password of each keyring and wallet; an empty "
                + "answer leaves one out. GnuPG asks for its own. (A file of such a name is ./keyring.)",
            "Over there it deletes nothing. What is in the store already stays as it is, even if it differs: an item with the "
                + "same attributes in the same collection is the same item (without attributes: with the same label and "
                + "secret), and of several the last one comes. So you can stop it and begin again.",
            "At the end it says how many came, how many were there already, which differ from what is here, and what did not "
                + "come and why. If something did not come, the exit status is 1. With --dry-run it says what would come; "
                + "then GnuPG is not asked, so nothing is said of entries of pass that differ.",
        ],
        json: VerbEntry.done + [
            .init(
                "dryRun",
                "true if nothing was stored (keyring, kwallet and pass; also the next ones)"),
            .init("from[].name", "what each keyring, wallet or password store is called"),
            .init("from[].came", "how many came, or would come"),
            .init("from[].present", "how many were in the store already"),
            .init(
                "from[].different",
                "how many are in the store with another secret, which was kept"),
            .init("from[].left", "how many did not come"),
            .init("different[].from", "where each item is that differs"),
            .init("different[].item", "its label"),
            .init("left[].from", "where each item is that did not come"),
            .init("left[].item", "its label; missing where it is all of it"),
            .init("left[].why", "why it did not come"),
        ],
        examples: [
            .init(command: "appvault import backup.vault", meaning: "a file that `export` wrote"),
            .init(
                command: "appvault import keyring --dry-run",
                meaning: "what would come from gnome-keyring"),
            .init(
                command: "appvault import kwallet --passcode-fd 3 3<FILE",
                meaning: "the passwords from a file, a line for each wallet"),
        ])
    static let offer = RecoveryOffer.hinted

    enum Clash: Equatable { case refuse, replace }

    enum Source: Equatable {
        case file(FileOperand?, Clash)
        case program(ComingOver)
    }

    var source: Source

    /// Large enough that the round trips do not count, small enough to see the bar move.
    private static let piece = 256 * 1024
    /// The size of an export file's header, which is sent first: the daemon derives the key from
    /// it. FORMAT.md has the same number.
    private static let head = 60

    static func parse(_ arguments: Arguments) throws(UsageError) -> ImportCommand {
        let operand = arguments.operands.first
        guard let origin = operand.flatMap(Origin.init) else {
            guard !arguments.has(.dryRun) else {
                throw UsageError(
                    Text("--dry-run goes with keyring, kwallet and pass"),
                    hint: Text("a file is checked as a whole before anything is stored"))
            }
            return ImportCommand(
                source: .file(
                    operand.map(FileOperand.init), arguments.has(.replace) ? .replace : .refuse))
        }
        guard !arguments.has(.replace) else {
            throw UsageError(
                Text("--replace does not go with ", origin.rawValue),
                hint: Text("what is there stays; a file of that name is ./", origin.rawValue))
        }
        let mode: ComingOver.Mode = arguments.has(.dryRun) ? .dry : .real
        return ImportCommand(source: .program(ComingOver(origin: origin, mode: mode)))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch source {
        case .file(let file, let clash): try read(file, clash, run)
        case .program(let comingOver): try comingOver.run(run)
        }
    }

    private func read(
        _ file: FileOperand?, _ clash: Clash, _ run: Run
    ) throws(ClientError) -> ExitStatus {
        if clash == .replace {
            try run.agree("import --replace", run.words(.agreeImport))
        }
        let name: [UInt8]?
        switch file {
        case .path(let path): name = path
        case .standardStream, nil:
            guard !run.environment.input.isTerminal else {
                throw .refused(
                    Refused(
                        .invalidArgument, run.words(.importNoFile),
                        hint: run.words(.importNoFileHint)))
            }
            name = nil
        }
        let source = try reading(name, run) { () throws(PosixError) in
            switch file {
            case .path(let path): try SourceFile(path: path)
            case .standardStream, nil: try SourceFile(reading: run.environment.input.descriptor)
            }
        }
        do throws(ClientError) {
            try send(source, name, clash, run)
        } catch {
            guard case .refused(let refused) = error, refused.known == .alreadyExists else {
                throw error
            }
            throw .refused(
                Refused(
                    .alreadyExists, run.words(.importExists), hint: run.words(.importExistsHint),
                    parameters: refused.parameters))
        }
        return .success
    }

    private func send(
        _ source: borrowing SourceFile, _ name: [UInt8]?, _ clash: Clash, _ run: Run
    ) throws(ClientError) {
        let conversation = try run.conversation()
        var piece = SecretBuffer(capacity: Self.piece)
        try reading(name, run) { () throws(PosixError) in
            try source.read(into: &piece, upTo: Self.head)
        }
        let request = ImportBegin(target: try run.target(), replace: clash == .replace)
        var answer = try piece.withSpan { head throws(ClientError) in
            try conversation.run(.importBegin, request, payload: head)
        }
        // The file is sent twice: first to be checked to its end, then to be stored. So a file that
        // was cut short changes nothing.
        for title in [ToolText.importCheckBar, .importBar] {
            let bar = ProgressBar(title, run.words, run.environment)
            defer { bar.clear() }
            try reading(name, run) { () throws(PosixError) in try source.seek(to: Self.head) }
            var sent = UInt64(Self.head)
            repeat {
                try goOn(answer, conversation)
                piece.removeAll()
                try reading(name, run) { () throws(PosixError) in
                    try source.read(into: &piece, upTo: Self.piece)
                }
                sent += UInt64(piece.count)
                // If the file shrinks meanwhile, the loop still ends, and the daemon finds the file
                // cut short.
                let isLast = sent >= source.size || piece.isEmpty
                let chunk = Chunk(done: sent, total: source.size, last: isLast)
                answer = try piece.withSpan { span throws(ClientError) in
                    try conversation.run(.importChunk, chunk, payload: span)
                }
                bar.show(done: sent, total: source.size)
                if isLast { break }
            } while true
        }
        run.report(Self.entry.name, try conversation.doneLine(answer))
    }

    private func goOn(_ answer: AnswerType, _ conversation: Conversation) throws(ClientError) {
        guard answer == .done || answer == .progress else {
            throw .protocolBroken(.unexpected(type: answer.rawValue))
        }
        conversation.connection.release()
    }

    private func reading<T: ~Copyable>(
        _ name: [UInt8]?, _ run: Run, _ body: () throws(PosixError) -> T
    ) throws(ClientError) -> T {
        do throws(PosixError) {
            return try body()
        } catch {
            throw .refused(run.cannot(.importCannotRead, name ?? run.words(.standardInput), error))
        }
    }
}
