import Posix
import Wire

extension Run {
    func get(_ name: [UInt8]) throws(ClientError) {
        var value = SecretBuffer()
        try connect().get(name, store: settings.store, into: &value)
        switch settings.form {
        case .plain:
            // A newline for a person's eyes; a program gets the bytes that were stored and nothing else.
            if environment.output.isTerminal, value.isEmpty || value[value.count - 1] != 0x0A {
                value.append(0x0A)
            }
            try voice.output(value)
        case .json:
            var json = JSON()
            json.field("name", name)
            value.withSpan { json.field("value", $0) }
            try voice.output(json.finish())
        }
    }

    func set(_ name: [UInt8], _ source: Command.ValueSource) throws(ClientError) {
        var value = SecretBuffer()
        switch source {
        case .argument(let bytes):
            value.append(bytes)
            voice.hint(
                Text(
                    "other users could have seen this value in the list of processes; `appvault set ",
                    Printable.escaped(name), "` asks for it"
                ).bytes)
        case .input: try readInput(into: &value)
        case .whateverIsThere:
            if environment.input.isTerminal {
                try askValue(name, into: &value)
            } else {
                try readInput(into: &value)
            }
        }
        guard value.count <= Limits.value else { throw .refused(Run.tooLarge) }
        try connect().set(name, store: settings.store, value)
        finished("set", Text("stored ", Printable.escaped(name)).bytes)
    }

    /// Reads one byte more than there may be, to see that it is too much.
    private func readInput(into value: inout SecretBuffer) throws(ClientError) {
        while value.count <= Limits.value {
            let got: Int
            do throws(PosixError) {
                got = try value.read(
                    from: environment.input.descriptor,
                    atMost: min(65_536, Limits.value + 1 - value.count))
            } catch {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        Text("standard input cannot be read: ", ToolIO.reason(error)).bytes))
            }
            if got == 0 { return }
        }
    }

    private func askValue(_ name: [UInt8], into value: inout SecretBuffer) throws(ClientError) {
        guard let terminal = Terminal() else {
            throw .refused(
                Refused(.passcodeRequired, "there is no terminal to ask for the value on"))
        }
        let prompt = Text("value of ", Printable.escaped(name), " (does not show): ").bytes
        switch terminal.ask(prompt, echo: false, limit: Run.longestTyped, into: &value) {
        case .line:
            // The kernel drops what goes beyond its line, without a word.
            guard value.count < Run.longestTyped else { throw .refused(Run.tooLongTyped) }
        case .tooLong: throw .refused(Run.tooLongTyped)
        case .endOfInput, .interrupted:
            throw .refused(Refused(.cancelled, "cancelled; nothing changed"))
        }
    }

    private static let longestTyped = 4095

    private static var tooLongTyped: Refused {
        Refused(
            .tooLarge, "that is too long to be typed",
            hint: "`appvault set NAME - <FILE` takes up to 1 MiB",
            parameters: [
                .init(name: Array("limit".utf8), value: Array(String(longestTyped - 1).utf8))
            ])
    }

    private static var tooLarge: Refused {
        Refused(
            .tooLarge, "a value has at most 1 MiB",
            hint:
                "keep a key to the file in the store, and the file itself encrypted with it elsewhere",
            parameters: [.init(name: Array("limit".utf8), value: Array(String(Limits.value).utf8))])
    }

    func delete(_ name: [UInt8]) throws(ClientError) {
        try connect().delete(name, store: settings.store)
        finished("delete", Text("deleted ", Printable.escaped(name)).bytes)
    }

    func list(_ prefix: [UInt8]) throws(ClientError) {
        let connection = try connect()
        var names: [[UInt8]] = []
        var cursor: UInt64 = 0
        repeat {
            let page = try connection.list(prefix: prefix, store: settings.store, cursor: cursor)
            names += page.names
            cursor = page.cursor
        } while cursor != 0
        names.sort { $0.lexicographicallyPrecedes($1) }
        switch settings.form {
        case .plain:
            var text: [UInt8] = []
            for name in names {
                text += (environment.output.isTerminal ? Printable.escaped(name) : name) + [0x0A]
            }
            voice.print(text)
        case .json:
            var json = JSON()
            json.objects("names", names) { json, name in json.field("name", name) }
            voice.print(json.finish())
        }
    }

    /// A line for a person who watches; scripts that store a hundred values want none.
    private func finished(_ name: String, _ line: [UInt8]) {
        switch settings.form {
        case .plain: if environment.output.isTerminal { voice.done(line) }
        case .json: report(name, line)
        }
    }
}
