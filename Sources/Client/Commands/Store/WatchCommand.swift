import Posix
import ToolTexts
import Wire

struct WatchCommand: Command {
    static let entry = VerbEntry(
        words: ["watch"], group: .store, operands: [], options: [.records],
        summary: "print what happens to your stores",
        text: [
            "First it prints of each of your stores, and of each that somebody shares with you, whether it is open; then a "
                + "line whenever something happens, until Ctrl-C. With --store it prints only what happens to that one, and with "
                + "--records also that values were stored or deleted, which may be often.",
            "If the daemon ends, it says so and ends too, with the exit status 5: what happens until the next start it could "
                + "not tell. If nobody reads its output any more, it ends at once, with 0.",
            "Into a pipe: the event as in `--json`, the store's name and its id, with tabs between them. With --json each line "
                + "is an object. You can run four watches at the same time; the agent of your session is one of them, "
                + "and the window another one while it shows what is kept.",
        ],
        json: [
            .init(
                "event",
                "`opened`, `locked`, `changed` (`status` may say something else than before), `finger-added`, `members` "
                    + "(whom it is shared with), `records` (values were stored or deleted), `removed`, `left` and `came-back` (whether you are at this machine, with the screen "
                    + "unlocked), or `told`: everything before it says how things were at the beginning"
            ),
            .init("name", "the store's name, or null where it is not about one"),
            .init("store", "its id, or null"),
            .init("at", "seconds since 1970"),
        ],
        examples: [
            .init(command: "appvault watch", meaning: "until Ctrl-C"),
            .init(
                command: "appvault watch --store alice/team --json",
                meaning: "one store, for programs"),
        ])
    static let offer = RecoveryOffer.never

    enum Depth: Equatable { case stores, records }

    var depth: Depth

    static func parse(_ arguments: Arguments) -> WatchCommand {
        WatchCommand(depth: arguments.has(.records) ? .records : .stores)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let connection = try run.connect()
        let only = try run.settings.store.isEmpty ? nil : id(run, connection)
        let view = WatchView(form: form(run), words: run.words)
        // The texts are asked for over this connection, which from now on only hears.
        let goesOn = run.words(.watchGoesOn)
        ToolIO.ignoreBrokenPipes()
        _ = try connection.watch(records: depth == .records)
        while let event = try next(run, connection) {
            // What is about the person is about all of their stores.
            if let only, event.store != only, event.what != .told { continue }
            do throws(PosixError) {
                try run.voice.output(view.line(event))
            } catch {
                guard !error.isBrokenPipe, !error.isClosed else { break }
                throw .refused(
                    Refused(.storageFailed, run.words(.cannotWrite, ToolIO.reason(error))))
            }
            if event.what == .told, run.isAtTerminal, run.settings.form == .plain {
                run.voice.info(goesOn)
            }
        }
        return .success
    }

    private func form(_ run: Run) -> WatchView.Form {
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _): .object
        case (.plain, true): .sentence
        case (.plain, false): .fields
        }
    }

    private func id(_ run: Run, _ connection: Connection) throws(ClientError) -> [UInt8] {
        let state = try connection.status(run.target())
        guard state.store.contains(where: { $0 != 0 }) else {
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.storeNone, Printable.escaped(run.settings.store)),
                    hint: run.words(.storeNoneHint)))
        }
        return state.store
    }

    private func next(_ run: Run, _ connection: Connection) throws(ClientError) -> Event? {
        do throws(ClientError) {
            return try connection.nextEvent(for: run.environment.output.descriptor)
        } catch {
            guard error == .unavailable(.closed) else { throw error }
            throw .refused(
                Refused(
                    .serviceUnavailable, run.words(.watchEnded), hint: run.words(.watchEndedHint)))
        }
    }
}
