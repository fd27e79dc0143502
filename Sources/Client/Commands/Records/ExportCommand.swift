import Posix
import Wire

struct ExportCommand: Command {
    static let entry = VerbEntry(
        words: ["export"], group: .records, operands: ["[FILE|-]"],
        options: [.secretService, .dryRun, .replace],
        summary: "write everything into an encrypted file, or another keyring",
        text: [
            "It asks for the passcode, then for a new passphrase that protects the file. The file appears under "
                + "its name only when it is complete.",
            "If records are damaged, it writes all others, names the damaged ones on standard error, and ends "
                + "with exit status 6. The file can be imported, and the import says how many it is without.",
            "--secret-service: it writes what the store `secrets`, or that of --store, keeps of your desktop's programs into "
                + "the keyring that has org.freedesktop.secrets on the session bus now, such as gnome-keyring or KWallet: "
                + "collections, labels, attributes, kinds of content and secrets. (The times are those of the other keyring.) "
                + "Collections are found by their labels, and made if there are none; the usual one goes to the other's usual "
                + "one. The other keyring may ask you to open it, or for a password for a new one, in a dialog of its own.",
            "Here it deletes nothing. An item that is there with the same attributes in the same collection stays as it is "
                + "there; if its secret differs it is named, and --replace replaces it. So you can stop it and begin again. At "
                + "the end it says how many went, how many were there already, and what did not go and why. If something did "
                + "not go, the exit status is 1. With --dry-run it says what would go.",
            "If AppVault itself has the name, `apt remove appvault-secret-service` gives it back at the next login.",
        ],
        json: VerbEntry.done + [
            .init("dryRun", "true if nothing was stored (--secret-service; also the next ones)"),
            .init("to", "the program that it went to"),
            .init("collections[].name", "the label of each collection"),
            .init("collections[].went", "how many went, or would go"),
            .init("collections[].present", "how many were there already"),
            .init(
                "collections[].different",
                "how many are there with another secret, which was kept"),
            .init("collections[].left", "how many did not go"),
            .init("different[].collection", "where each item is that differs"),
            .init("different[].item", "its label"),
            .init("left[].collection", "where each item is that did not go"),
            .init("left[].item", "its label; missing where it is all of it"),
            .init("left[].why", "why it did not go"),
        ],
        examples: [
            .init(
                command: "appvault export backup.vault",
                meaning: "mode 0600, never half a file"),
            .init(
                command: "appvault export --secret-service --dry-run",
                meaning: "what would go to gnome-keyring or KWallet"),
        ])
    static let offer = RecoveryOffer.hinted

    enum Destination: Equatable {
        case file(FileOperand?)
        case keyring(GoingBack)
    }

    var destination: Destination

    static func parse(_ arguments: Arguments) throws(UsageError) -> ExportCommand {
        let file = arguments.operands.first.map(FileOperand.init)
        guard arguments.has(.secretService) else {
            for option in [Option.dryRun, .replace] where arguments.has(option) {
                throw UsageError(
                    Text(option.entry.flag, " goes with --secret-service"),
                    hint: Text(
                        "a file is written as a whole, and over another one after a question"))
            }
            return ExportCommand(destination: .file(file))
        }
        guard file == nil else {
            throw UsageError(
                Text("--secret-service does not go with a file"),
                hint: Text("without --secret-service everything goes into the file"))
        }
        return ExportCommand(
            destination: .keyring(
                GoingBack(
                    mode: arguments.has(.dryRun) ? .dry : .real,
                    clash: arguments.has(.replace) ? .replace : .keep)))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch destination {
        case .file(let file): try export(file, run)
        case .keyring(let goingBack): try goingBack.run(run)
        }
    }

    private func export(_ file: FileOperand?, _ run: Run) throws(ClientError) -> ExitStatus {
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
