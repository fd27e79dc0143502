import Posix
import ToolTexts
import Wire

struct ImportCommand: Command {
    static let entry = VerbEntry(
        words: ["import"], group: .records, operands: ["[FILE|-]"], options: [.replace],
        summary: "read a file that export wrote",
        text: [
            "It checks the whole file before it stores anything. If a name exists already, it stores nothing, "
                + "unless you give --replace."
        ])
    static let offer = RecoveryOffer.hinted

    enum Clash: Equatable { case refuse, replace }

    var file: FileOperand?
    var clash: Clash

    /// Large enough that the round trips do not count, small enough to see the bar move.
    private static let piece = 256 * 1024
    /// The size of an export file's header, which is sent first: the daemon derives the key from
    /// it. FORMAT.md has the same number.
    private static let head = 60

    static func parse(_ arguments: Arguments) -> ImportCommand {
        ImportCommand(
            file: arguments.operands.first.map(FileOperand.init),
            clash: arguments.has(.replace) ? .replace : .refuse)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
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
            try send(source, name, run)
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
        _ source: borrowing SourceFile, _ name: [UInt8]?, _ run: Run
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
