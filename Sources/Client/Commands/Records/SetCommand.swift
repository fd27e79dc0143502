import Posix
import Wire

struct SetCommand: Command {
    static let entry = VerbEntry(
        words: ["set"], group: .records, operands: ["NAME", "[VALUE|-]"],
        summary: "store a value under a name",
        text: [
            "On a terminal it asks for the value, which does not show as you type. From a pipe, or with -, it reads "
                + "standard input, byte for byte, with the final newline, up to 1 MiB.",
            "Do not put a secret on the command line: other users can see it in the list of processes, and the "
                + "shell keeps it in its history.",
        ],
        examples: [
            .init(command: "appvault set mail/work", meaning: "asks, without echo"),
            .init(
                command: "appvault set tls.key - <server.key",
                meaning: "a file, byte for byte"),
        ])
    static let offer = RecoveryOffer.hinted

    enum Source: Equatable {
        case argument([UInt8])
        /// `-`
        case input
        /// Asks on a terminal; reads a pipe.
        case whateverIsThere
    }

    var name: [UInt8]
    var source: Source

    static func parse(_ arguments: Arguments) throws(UsageError) -> SetCommand {
        let operands = arguments.operands
        let source: Source =
            operands.count < 2
            ? .whateverIsThere : operands[1] == [0x2D] ? .input : .argument(operands[1])
        return SetCommand(name: try arguments.recordName(), source: source)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var value = SecretBuffer()
        switch source {
        case .argument(let bytes):
            value.append(bytes)
            run.voice.hint(run.words(.setSeen, Printable.escaped(name)))
        case .input: try readInput(run, into: &value)
        case .whateverIsThere:
            if run.environment.input.isTerminal {
                try askValue(run, into: &value)
            } else {
                try readInput(run, into: &value)
            }
        }
        guard value.count <= Limits.value else { throw .refused(tooLarge(run)) }
        try run.connect().set(name, store: run.settings.store, value)
        run.finished(Self.entry.name, run.words(.setDone, Printable.escaped(name)))
        return .success
    }

    /// Reads at most one byte more than allowed, to notice a value that is too long.
    private func readInput(_ run: Run, into value: inout SecretBuffer) throws(ClientError) {
        while value.count <= Limits.value {
            let got: Int
            do throws(PosixError) {
                got = try value.read(
                    from: run.environment.input.descriptor,
                    atMost: min(65_536, Limits.value + 1 - value.count))
            } catch {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        run.words(.cannotRead, run.words(.standardInput), ToolIO.reason(error))))
            }
            if got == 0 { return }
        }
    }

    private func askValue(_ run: Run, into value: inout SecretBuffer) throws(ClientError) {
        guard let terminal = Terminal() else {
            throw .refused(
                Refused(.passcodeRequired, run.words(.setNobody)))
        }
        let prompt = run.words(.setPrompt, Printable.escaped(name))
        switch terminal.ask(prompt, echo: false, limit: Self.longestTyped, into: &value) {
        case .line:
            // The kernel silently drops what does not fit into its line buffer.
            guard value.count < Self.longestTyped else { throw .refused(tooLongTyped(run)) }
        case .tooLong: throw .refused(tooLongTyped(run))
        case .endOfInput, .interrupted:
            throw .refused(Refused(.cancelled, run.words(.cancelled)))
        }
    }

    private static let longestTyped = 4095

    private func tooLongTyped(_ run: Run) -> Refused {
        Refused(
            .tooLarge, run.words(.setLongTyped), hint: run.words(.setLongTypedHint),
            parameters: [
                .init(name: Array("limit".utf8), value: Array(String(Self.longestTyped - 1).utf8))
            ])
    }

    private func tooLarge(_ run: Run) -> Refused {
        Refused(
            .tooLarge, run.words(.setLong), hint: run.words(.setLongHint),
            parameters: [.init(name: Array("limit".utf8), value: Array(String(Limits.value).utf8))])
    }
}
