import Posix
import ToolTexts
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
                        .invalidArgument, words(.exportTerminal), hint: words(.exportTerminalHint)))
            }
            let descriptor = environment.output.descriptor
            let line = try receiveExport { span throws(PosixError) in
                try ToolIO.write(descriptor, span)
            }
            voice.info(line)
        }
    }

    private func export(to path: [UInt8]) throws(ClientError) {
        let shown = Printable.escaped(path)
        let existing: ReplacementFile.Existing
        switch ToolIO.kind(of: path) {
        case .missing: existing = .keep
        case .regular:
            try agree(words(.exportOver), words(.agreeExport, shown))
            existing = .replace
        case .folder, .other:
            throw .refused(
                Refused(
                    .invalidArgument, words(.exportNoFile, shown), hint: words(.exportNoFileHint)))
        }
        let target: ReplacementFile
        do throws(PosixError) {
            target = try ReplacementFile(path: path)
        } catch {
            throw .refused(cannot(.exportCannotWrite, path, error))
        }
        let line = try receiveExport { span throws(PosixError) in try target.write(span) }
        do throws(PosixError) {
            try target.commit(existing)
        } catch {
            throw .refused(cannot(.exportCannotWrite, path, error))
        }
        report("export", line.isEmpty ? words(.exportDone, shown) : line)
    }

    private func receiveExport(
        _ write: (Span<UInt8>) throws(PosixError) -> Void
    ) throws(ClientError) -> [UInt8] {
        let conversation = try conversation()
        let bar = ProgressBar(.exportBar, words, environment)
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
                            .storageFailed, words(.exportFailed, ToolIO.reason(error))))
                }
                conversation.connection.release()
                bar.show(done: chunk.done, total: chunk.total)
                if chunk.last { return [] }
            case .done: _ = try conversation.doneLine(type)
            case .welcome, .show, .ask, .working, .refused, .reveal, .verdict, .state, .value,
                .names, .progress, .actionList, .policyValues, .checklist, .preview, .textList,
                .scan, .fingerprintState, .healthReport, .token:
                throw .protocolBroken(.unexpected(type: type.rawValue))
            }
            type = try conversation.run(.exportNext, Empty())
        }
    }

    // MARK: import

    func importFile(_ file: Command.File?, _ clash: Command.Clash) throws(ClientError) {
        if clash == .replace {
            try agree("import --replace", words(.agreeImport))
        }
        let name: [UInt8]?
        switch file {
        case .path(let path): name = path
        case .standardStream, nil:
            guard !environment.input.isTerminal else {
                throw .refused(
                    Refused(
                        .invalidArgument, words(.importNoFile), hint: words(.importNoFileHint)))
            }
            name = nil
        }
        let source = try reading(name) { () throws(PosixError) in
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
                    .alreadyExists, words(.importExists), hint: words(.importExistsHint),
                    parameters: refused.parameters))
        }
    }

    private func send(
        _ source: borrowing SourceFile, _ name: [UInt8]?, _ clash: Command.Clash
    ) throws(ClientError) {
        let conversation = try conversation()
        var piece = SecretBuffer(capacity: Run.piece)
        try reading(name) { () throws(PosixError) in
            try source.read(into: &piece, upTo: Run.head)
        }
        let request = ImportBegin(target: try target(), replace: clash == .replace)
        var answer = try piece.withSpan { head throws(ClientError) in
            try conversation.run(.importBegin, request, payload: head)
        }
        // Once to be checked to its end, once to be stored: a file cut short changes nothing.
        for title in [ToolText.importCheckBar, .importBar] {
            let bar = ProgressBar(title, words, environment)
            defer { bar.clear() }
            try reading(name) { () throws(PosixError) in try source.seek(to: Run.head) }
            var sent = UInt64(Run.head)
            repeat {
                try goOn(answer, conversation)
                piece.removeAll()
                try reading(name) { () throws(PosixError) in
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
            .fingerprintState, .healthReport, .token:
            throw .protocolBroken(.unexpected(type: answer.rawValue))
        }
    }

    private func reading<T: ~Copyable>(
        _ name: [UInt8]?, _ body: () throws(PosixError) -> T
    ) throws(ClientError) -> T {
        do throws(PosixError) {
            return try body()
        } catch {
            throw .refused(cannot(.importCannotRead, name ?? words(.standardInput), error))
        }
    }

    private func cannot(_ text: ToolText, _ path: [UInt8], _ error: PosixError) -> Refused {
        Refused(
            error.isMissing ? .doesNotExist : error.isNoSpace ? .storageFailed : .invalidArgument,
            words(text, Printable.escaped(path), ToolIO.reason(error)))
    }
}
