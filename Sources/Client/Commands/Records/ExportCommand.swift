import Posix
import Wire

struct ExportCommand: Command {
    static let entry = VerbEntry(
        words: ["export"], group: .records, operands: ["[FILE|-]"],
        summary: "write everything into one encrypted file",
        text: [
            "It asks for the passcode, then for a new passphrase that protects the file. The file appears under "
                + "its name only when it is complete.",
            "If records are damaged, it writes all others, names the damaged ones on standard error, and ends "
                + "with exit status 6. The file can be imported, and the import says how many it is without.",
        ],
        examples: [
            .init(
                command: "appvault export backup.vault",
                meaning: "mode 0600, never half a file")
        ])
    static let offer = RecoveryOffer.hinted

    var file: FileOperand?

    static func parse(_ arguments: Arguments) -> ExportCommand {
        ExportCommand(file: arguments.operands.first.map(FileOperand.init))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var damaged: [DamagedRecords.Entry] = []
        switch file {
        case .path(let path): try export(to: path, run, &damaged)
        case .standardStream, nil:
            guard !run.environment.output.isTerminal else {
                throw .refused(
                    Refused(
                        .invalidArgument, run.words(.exportTerminal),
                        hint: run.words(.exportTerminalHint)))
            }
            let descriptor = run.environment.output.descriptor
            let line = try receive(run, &damaged) { span throws(PosixError) in
                try ToolIO.write(descriptor, span)
            }
            run.voice.info(line)
        }
        return run.tell(damaged, hint: run.words(.damagedExportHint))
    }

    private func export(
        to path: [UInt8], _ run: Run, _ damaged: inout [DamagedRecords.Entry]
    ) throws(ClientError) {
        let shown = Printable.escaped(path)
        let existing: ReplacementFile.Existing
        switch ToolIO.kind(of: path) {
        case .missing: existing = .keep
        case .regular:
            try run.agree(run.words(.exportOver), run.words(.agreeExport, shown))
            existing = .replace
        case .folder, .other:
            throw .refused(
                Refused(
                    .invalidArgument, run.words(.exportNoFile, shown),
                    hint: run.words(.exportNoFileHint)))
        }
        let target: ReplacementFile
        do throws(PosixError) {
            target = try ReplacementFile(path: path)
        } catch {
            throw .refused(run.cannot(.exportCannotWrite, path, error))
        }
        let line = try receive(run, &damaged) { span throws(PosixError) in
            try target.write(span)
        }
        do throws(PosixError) {
            try target.commit(existing)
        } catch {
            throw .refused(run.cannot(.exportCannotWrite, path, error))
        }
        let done = run.words(damaged.isEmpty ? .exportDone : .exportDoneWithout, shown)
        run.report(Self.entry.name, line.isEmpty ? done : line)
    }

    private func receive(
        _ run: Run, _ damaged: inout [DamagedRecords.Entry],
        _ write: (Span<UInt8>) throws(PosixError) -> Void
    ) throws(ClientError) -> [UInt8] {
        let conversation = try run.conversation()
        let bar = ProgressBar(.exportBar, run.words, run.environment)
        defer { bar.clear() }
        var type = try conversation.run(.exportBegin, run.target())
        while true {
            if type == .chunk {
                let (chunk, slice) = try conversation.connection.readPayload(
                    Chunk.self, limit: Limits.value)
                do throws(PosixError) {
                    try conversation.connection.withPayload(slice, write)
                } catch {
                    throw .refused(
                        Refused(
                            .storageFailed, run.words(.exportFailed, ToolIO.reason(error))))
                }
                conversation.connection.release()
                bar.show(done: chunk.done, total: chunk.total)
                if chunk.last { return [] }
            } else if type == .damaged {
                damaged += try conversation.connection.read(DamagedRecords.self).records
                type = try conversation.goOn()
                continue
            } else {
                _ = try conversation.doneLine(type)
            }
            type = try conversation.run(.exportNext, Empty())
        }
    }
}
