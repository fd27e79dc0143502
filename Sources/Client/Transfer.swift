import Posix
import Wire

extension Run {
    /// Large enough that the round trips do not count, small enough to see the bar move.
    private static let piece = 256 * 1024
    /// An export file's header, which goes ahead: the daemon derives the key from it. FORMAT.md has the same number.
    private static let head = 60

    // MARK: export

    func export(_ file: Command.File?) throws(ClientError) {
        switch file {
        case .path(let path): try export(to: path)
        case .standardStream, nil:
            guard !environment.output.isTerminal else {
                throw .refused(
                    Refused(
                        .invalidArgument, "an export is not for a terminal",
                        hint: "name a file: `appvault export FILE`"))
            }
            let descriptor = environment.output.descriptor
            let line = try receiveExport { span throws(PosixError) in
                try ToolIO.write(descriptor, span)
            }
            voice.info(line)
        }
    }

    private func export(to path: [UInt8]) throws(ClientError) {
        let shown = String(decoding: Printable.escaped(path), as: UTF8.self)
        let existing: ReplacementFile.Existing
        switch ToolIO.kind(of: path) {
        case .missing: existing = .keep
        case .regular:
            try agree("export over a file that exists", "\(shown) exists and will be replaced")
            existing = .replace
        case .folder, .other:
            throw .refused(
                Refused(
                    .invalidArgument, "\(shown) is not a file",
                    hint: "name a file, or - for standard output"))
        }
        let target: ReplacementFile
        do throws(PosixError) {
            target = try ReplacementFile(path: path)
        } catch {
            throw .refused(Run.cannot("write", path, error))
        }
        let line = try receiveExport { span throws(PosixError) in try target.write(span) }
        do throws(PosixError) {
            try target.commit(existing)
        } catch {
            throw .refused(Run.cannot("write", path, error))
        }
        report("export", line.isEmpty ? Text("exported to ", Printable.escaped(path)).bytes : line)
    }

    private func receiveExport(
        _ write: (Span<UInt8>) throws(PosixError) -> Void
    ) throws(ClientError) -> [UInt8] {
        let conversation = try conversation()
        let bar = ProgressBar("exporting", environment)
        defer { bar.clear() }
        var type = try conversation.run(.exportBegin, target())
        while true {
            switch type {
            case .chunk:
                let (chunk, slice) = try conversation.connection.readPayload(
                    Chunk.self, limit: Limits.value)
                do throws(PosixError) {
                    try conversation.connection.withPayload(slice, write)
                } catch {
                    throw .refused(
                        Refused(
                            .storageFailed,
                            Text("the export cannot be written: ", ToolIO.reason(error)).bytes))
                }
                conversation.connection.release()
                bar.show(done: chunk.done, total: chunk.total)
                if chunk.last { return [] }
            case .done: _ = try conversation.doneLine(type)
            case .welcome, .show, .ask, .working, .refused, .reveal, .verdict, .state, .value,
                .names, .progress, .actionList, .policyValues, .checklist, .preview, .textList,
                .scan, .fingerprintState:
                throw .protocolBroken(.unexpected(type: type.rawValue))
            }
            type = try conversation.run(.exportNext, Empty())
        }
    }

    // MARK: import

    func importFile(_ file: Command.File?, _ clash: Command.Clash) throws(ClientError) {
        if clash == .replace {
            try agree(
                "import --replace",
                "records that have the same names as those in the file will be replaced")
        }
        let name: [UInt8]
        switch file {
        case .path(let path): name = path
        case .standardStream, nil:
            guard !environment.input.isTerminal else {
                throw .refused(
                    Refused(.invalidArgument, "import needs a file", hint: "`appvault import FILE`")
                )
            }
            name = Array("standard input".utf8)
        }
        let source = try Run.reading(name) { () throws(PosixError) in
            switch file {
            case .path(let path): try SourceFile(path: path)
            case .standardStream, nil: try SourceFile(reading: environment.input.descriptor)
            }
        }
        do throws(ClientError) {
            try send(source, name, clash)
        } catch {
            guard case .refused(let refused) = error, refused.known == .alreadyExists else {
                throw error
            }
            throw .refused(
                Refused(
                    .alreadyExists,
                    Array("names in the file exist already; nothing was imported".utf8),
                    hint: Array("with --replace their values are replaced".utf8),
                    parameters: refused.parameters))
        }
    }

    private func send(
        _ source: borrowing SourceFile, _ name: [UInt8], _ clash: Command.Clash
    ) throws(ClientError) {
        let conversation = try conversation()
        var piece = SecretBuffer(capacity: Run.piece)
        try Run.reading(name) { () throws(PosixError) in
            try source.read(into: &piece, upTo: Run.head)
        }
        let request = ImportBegin(target: try target(), replace: clash == .replace)
        var answer = try piece.withSpan { head throws(ClientError) in
            try conversation.run(.importBegin, request, payload: head)
        }
        // Once to be checked to its end, once to be stored: a file cut short changes nothing.
        for title in ["checking", "importing"] {
            let bar = ProgressBar(title, environment)
            defer { bar.clear() }
            try Run.reading(name) { () throws(PosixError) in try source.seek(to: Run.head) }
            var sent = UInt64(Run.head)
            repeat {
                try goOn(answer, conversation)
                piece.removeAll()
                try Run.reading(name) { () throws(PosixError) in
                    try source.read(into: &piece, upTo: Run.piece)
                }
                sent += UInt64(piece.count)
                // A file that shrinks meanwhile ends all the same, and is found to be cut short.
                let isLast = sent >= source.size || piece.isEmpty
                let chunk = Chunk(done: sent, total: source.size, last: isLast)
                answer = try piece.withSpan { span throws(ClientError) in
                    try conversation.run(.importChunk, chunk, payload: span)
                }
                bar.show(done: sent, total: source.size)
                if isLast { break }
            } while true
        }
        report("import", try conversation.doneLine(answer))
    }

    private func goOn(_ answer: AnswerType, _ conversation: Conversation) throws(ClientError) {
        switch answer {
        case .done, .progress: conversation.connection.release()
        case .welcome, .show, .ask, .working, .refused, .reveal, .verdict, .state, .value, .names,
            .chunk, .actionList, .policyValues, .checklist, .preview, .textList, .scan,
            .fingerprintState:
            throw .protocolBroken(.unexpected(type: answer.rawValue))
        }
    }

    private static func reading<T: ~Copyable>(
        _ name: [UInt8], _ body: () throws(PosixError) -> T
    ) throws(ClientError) -> T {
        do throws(PosixError) {
            return try body()
        } catch {
            throw .refused(cannot("read", name, error))
        }
    }

    private static func cannot(_ act: String, _ path: [UInt8], _ error: PosixError) -> Refused {
        Refused(
            error.isMissing ? .doesNotExist : error.isNoSpace ? .storageFailed : .invalidArgument,
            Text("cannot ", act, " ", Printable.escaped(path), ": ", ToolIO.reason(error)).bytes)
    }
}
