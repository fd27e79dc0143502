import Policy
import Wire

/// What one run of the tool was asked to do, understood and checked.
struct Invocation {
    var command: any Command
    var settings: Settings
}

/// Turns arguments into an invocation. The verbs' entries decide what is allowed where.
struct ArgumentParser {
    private let commands: [any Command.Type]
    private let verbs: [VerbEntry]
    private var given: [Option: [UInt8]] = [:]
    private var repeated: [Option: [[UInt8]]] = [:]
    private var operands: [[UInt8]] = []

    private init(_ commands: [any Command.Type]) {
        self.commands = commands
        verbs = commands.map { $0.entry }
    }

    static func parse(
        _ arguments: [[UInt8]], _ commands: [any Command.Type]
    ) throws(UsageError) -> Invocation {
        var parser = ArgumentParser(commands)
        try parser.sort(arguments)
        return Invocation(command: try parser.command(), settings: try parser.settings())
    }

    /// Whether the output, including a usage error, must be JSON.
    static func wantsJSON(_ arguments: [[UInt8]]) -> Settings.Form {
        let options = arguments.prefix { $0 != Array("--".utf8) }
        return options.contains(Array("--json".utf8)) ? .json : .plain
    }

    private mutating func sort(_ arguments: [[UInt8]]) throws(UsageError) {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            if argument == Array("--".utf8) {
                operands += arguments[index...]
                return
            }
            guard argument.first == 0x2D, argument.count > 1 else {
                operands.append(argument)
                continue
            }
            let equals = argument.firstIndex(of: 0x3D)
            let flag = String(
                decoding: equals.map { argument[..<$0] } ?? argument[...], as: UTF8.self)
            guard let option = Option.named(flag) else { throw ArgumentParser.unknown(flag) }
            guard given[option] == nil || option.isRepeatable else {
                throw UsageError(Text(flag, " is given twice"), hint: Text("once is enough"))
            }
            let entry = option.entry
            if let placeholder = entry.argument, equals != nil || !entry.argumentIsOptional {
                if let equals {
                    given[option] = Array(argument[(equals + 1)...])
                } else if index < arguments.count {
                    given[option] = arguments[index]
                    index += 1
                } else {
                    throw UsageError(
                        Text(flag, " needs a value"), hint: Text(flag, " ", placeholder))
                }
            } else if equals != nil {
                throw UsageError(
                    Text(flag, " takes no value"), hint: Text("write ", flag, " alone"))
            } else {
                given[option] = []
            }
            if option.isRepeatable { repeated[option, default: []].append(given[option] ?? []) }
        }
    }

    private static func unknown(_ flag: String) -> UsageError {
        let flags = Option.allCases.filter { $0.entry.reach != .hidden }.map(\.entry.flag)
        let hint =
            Nearness.onCommandLine.nearest(to: Array(flag.utf8), among: flags).map {
                Text("did you mean ", $0, "?")
            }
            ?? Text("a name or value that begins with - goes behind --")
        return UsageError(Text("unknown option ", Printable.escaped(Array(flag.utf8))), hint: hint)
    }

    // MARK: From words to a command

    private mutating func command() throws(UsageError) -> any Command {
        if given[.version] != nil { return VersionCommand() }
        let wantsHelp = given[.help] != nil
        guard let first = operands.first else {
            if wantsHelp { return HelpCommand(topic: [], verbs: verbs) }
            throw UsageError(Text("no verb given"), hint: Text("`appvault help` lists them"))
        }
        if wantsHelp, operands.count < 2, verbs.named([word(0)]) == nil {
            let longer = verbs.beginning(with: word(0))
            if !longer.isEmpty { return HelpCommand(topic: longer, verbs: verbs) }
        }
        let command = try takeVerb(first)
        if wantsHelp { return HelpCommand(topic: [command.entry], verbs: verbs) }
        try checkOptions(command.entry)
        // The operands of `help` are the words of a verb, of which there may be two.
        if !(command is HelpCommand.Type) { try checkOperands(command.entry) }
        return try command.parse(
            Arguments(
                options: given, repeated: repeated, operands: operands, verbs: verbs))
    }

    private mutating func takeVerb(_ first: [UInt8]) throws(UsageError) -> any Command.Type {
        let word = String(decoding: first, as: UTF8.self)
        if let command = named([word]) {
            operands.removeFirst()
            return command
        }
        if operands.count > 1, let command = named([word, self.word(1)]) {
            operands.removeFirst(2)
            return command
        }
        let longer = verbs.beginning(with: word)
        guard !longer.isEmpty else { throw .noVerb(word, verbs) }
        let names = longer.map { "`appvault " + $0.name + "`" }
        let typed = operands.count > 1 ? word + " " + self.word(1) : word
        let nearest = Nearness.onCommandLine.nearest(
            to: Array(typed.utf8), among: longer.map(\.name))
        throw UsageError(
            Text(word, " needs a second word"),
            hint: nearest.map { Text("did you mean `appvault ", $0, "`?") }
                ?? Text(names.joined(separator: ", ")))
    }

    /// The verb of exactly these words.
    private func named(_ words: [String]) -> (any Command.Type)? {
        commands.first { $0.entry.words == words }
    }

    private func word(_ index: Int) -> String {
        String(decoding: operands[index], as: UTF8.self)
    }

    private func checkOptions(_ entry: VerbEntry) throws(UsageError) {
        for option in Option.allCases where given[option] != nil {
            switch option.entry.reach {
            case .everywhere, .hidden: continue
            case .named:
                guard !entry.options.contains(option) else { continue }
                if option == .user, entry.group == .records {
                    throw UsageError(
                        Text("--user does not go with ", entry.name),
                        hint: Text("records are read and written by their owner alone"))
                }
                throw UsageError(
                    Text(option.entry.flag, " does not go with ", entry.name),
                    hint: Text("`appvault help ", entry.name, "` shows what does"))
            }
        }
    }

    private func checkOperands(_ entry: VerbEntry) throws(UsageError) {
        if operands.count < entry.fewest {
            throw UsageError(
                Text(
                    entry.name, " needs ",
                    entry.operands.prefix(entry.fewest).joined(separator: " and ")),
                hint: Text("`", entry.synopsis, "`"))
        }
        if operands.count > entry.most {
            throw UsageError(
                Text(
                    "too much for ", entry.name, ": ",
                    Printable.escaped(operands[entry.most])),
                hint: Text("`", entry.synopsis, "`"))
        }
    }

    private func settings() throws(UsageError) -> Settings {
        var settings = Settings()
        if given[.json] != nil { settings.form = .json }
        if given[.yes] != nil { settings.agreement = .given }
        if let store = given[.store] { settings.store = try Arguments.shared(store, "--store") }
        if let path = given[.socket] {
            guard !path.isEmpty else {
                throw UsageError(Text("--socket needs a path"), hint: Text("--socket PATH"))
            }
            settings.socket = path
        }
        if let user = given[.user] { settings.user = try Arguments.account(user) }
        if let number = given[.passcodeDescriptor] {
            let text = String(decoding: number, as: UTF8.self)
            guard let descriptor = Int32(text), descriptor > 2, descriptor < 65_536 else {
                throw UsageError(
                    Text("--passcode-fd ", Printable.escaped(number), " cannot be"),
                    hint: Text("a number from 3 on, as in `appvault unlock --passcode-fd 3 3<FILE`")
                )
            }
            settings.passcodeDescriptor = descriptor
        }
        settings.pamFolder = given[.pamFolder]
        if let scanner = given[.scanner] { settings.scanner = scanner }
        return settings
    }
}
