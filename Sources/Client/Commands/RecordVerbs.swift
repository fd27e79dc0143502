import Posix
import ToolTexts
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
            try output(value)
        case .json:
            var json = JSON()
            json.field("name", name)
            value.withSpan { json.field("value", $0) }
            try output(json.finish())
        }
    }

    func set(_ name: [UInt8], _ source: Command.ValueSource) throws(ClientError) {
        var value = SecretBuffer()
        switch source {
        case .argument(let bytes):
            value.append(bytes)
            voice.hint(words(.setSeen, Printable.escaped(name)))
        case .input: try readInput(into: &value)
        case .whateverIsThere:
            if environment.input.isTerminal {
                try askValue(name, into: &value)
            } else {
                try readInput(into: &value)
            }
        }
        guard value.count <= Limits.value else { throw .refused(tooLarge) }
        try connect().set(name, store: settings.store, value)
        finished("set", .setDone, name)
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
                        words(.cannotRead, words(.standardInput), ToolIO.reason(error))))
            }
            if got == 0 { return }
        }
    }

    private func askValue(_ name: [UInt8], into value: inout SecretBuffer) throws(ClientError) {
        guard let terminal = Terminal() else {
            throw .refused(
                Refused(.passcodeRequired, words(.setNobody)))
        }
        let prompt = words(.setPrompt, Printable.escaped(name))
        switch terminal.ask(prompt, echo: false, limit: Run.longestTyped, into: &value) {
        case .line:
            // The kernel drops what goes beyond its line, without a word.
            guard value.count < Run.longestTyped else { throw .refused(tooLongTyped) }
        case .tooLong: throw .refused(tooLongTyped)
        case .endOfInput, .interrupted:
            throw .refused(Refused(.cancelled, words(.cancelled)))
        }
    }

    private static let longestTyped = 4095

    private var tooLongTyped: Refused {
        Refused(
            .tooLarge, words(.setLongTyped), hint: words(.setLongTypedHint),
            parameters: [
                .init(name: Array("limit".utf8), value: Array(String(Run.longestTyped - 1).utf8))
            ])
    }

    private var tooLarge: Refused {
        Refused(
            .tooLarge, words(.setLong), hint: words(.setLongHint),
            parameters: [.init(name: Array("limit".utf8), value: Array(String(Limits.value).utf8))])
    }

    func delete(_ name: [UInt8]) throws(ClientError) {
        try connect().delete(name, store: settings.store)
        finished("delete", .deleteDone, name)
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
    private func finished(_ verb: String, _ text: ToolText, _ name: [UInt8]) {
        switch settings.form {
        case .plain:
            if environment.output.isTerminal { voice.done(words(text, Printable.escaped(name))) }
        case .json: report(verb, words(text, Printable.escaped(name)))
        }
    }
}
