import Policy
import Wire

/// An argument that makes no sense: what is wrong, and what would be right.
struct UsageError: Error, Equatable {
    var message: Text
    var hint: Text

    init(_ message: Text, hint: Text) {
        self.message = message
        self.hint = hint
    }

    var refusal: Refused {
        Refused(.invalidArgument, message.bytes, hint: hint.bytes)
    }
}

/// Arguments become an invocation; the table of verbs decides what is allowed where.
struct ArgumentParser {
    private var given: [Option: [UInt8]] = [:]
    private var operands: [[UInt8]] = []

    static func parse(_ arguments: [[UInt8]]) throws(UsageError) -> Invocation {
        var parser = ArgumentParser()
        try parser.sort(arguments)
        return try parser.invocation()
    }

    /// Whether the answer, a usage error included, is to be JSON.
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
            guard given[option] == nil else {
                throw UsageError(Text(flag, " is given twice"), hint: Text("once is enough"))
            }
            if let placeholder = option.entry.argument {
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

    private mutating func invocation() throws(UsageError) -> Invocation {
        if given[.version] != nil { return Invocation(command: .version, settings: try settings()) }
        guard let first = operands.first else {
            if given[.help] != nil {
                return Invocation(command: .help([]), settings: try settings())
            }
            throw UsageError(Text("no verb given"), hint: Text("`appvault help` lists them"))
        }
        if given[.help] != nil, Verb.named([word(0)]) == nil, operands.count < 2 {
            let verbs = Verb.beginning(word(0))
            if !verbs.isEmpty {
                return Invocation(command: .help(verbs), settings: try settings())
            }
        }
        let verb = try takeVerb(first)
        if given[.help] != nil {
            return Invocation(command: .help([verb]), settings: try settings())
        }
        try checkOptions(verb)
        return Invocation(command: try command(verb), settings: try settings())
    }

    private mutating func takeVerb(_ first: [UInt8]) throws(UsageError) -> Verb {
        let word = String(decoding: first, as: UTF8.self)
        if let verb = Verb.named([word]) {
            operands.removeFirst()
            return verb
        }
        if operands.count > 1,
            let verb = Verb.named([word, String(decoding: operands[1], as: UTF8.self)])
        {
            operands.removeFirst(2)
            return verb
        }
        let longer = Verb.beginning(word)
        guard !longer.isEmpty else { throw ArgumentParser.noVerb(word) }
        let names = longer.map { "`appvault " + $0.entry.name + "`" }
        let typed = operands.count > 1 ? word + " " + self.word(1) : word
        let nearest = Nearness.onCommandLine.nearest(
            to: Array(typed.utf8), among: longer.map(\.entry.name))
        throw UsageError(
            Text(word, " needs a second word"),
            hint: nearest.map { Text("did you mean `appvault ", $0, "`?") }
                ?? Text(names.joined(separator: ", ")))
    }

    private func word(_ index: Int) -> String {
        String(decoding: operands[index], as: UTF8.self)
    }

    private static func noVerb(_ word: String) -> UsageError {
        let nearest = Nearness.onCommandLine.nearest(
            to: Array(word.utf8), among: Verb.allCases.map(\.entry.name))
        return UsageError(
            Text("there is no verb ", Printable.escaped(Array(word.utf8))),
            hint: nearest.map { Text("did you mean `appvault ", $0, "`?") }
                ?? Text("`appvault help` lists them"))
    }

    private func checkOptions(_ verb: Verb) throws(UsageError) {
        let entry = verb.entry
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
        if verb == .help { return }
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

    private func command(_ verb: Verb) throws(UsageError) -> Command {
        switch verb {
        case .create:
            .create(way: try way(), existing: given[.openExisting] == nil ? .refuse : .open)
        case .status: .status
        case .unlock: .unlock
        case .lock: .lock
        case .passwd: .passwd(try change())
        case .recoveryNew: .recoveryNew
        case .recover: .recover
        case .actions: .actions
        case .fingerprintEnroll: .fingerprintEnroll(try finger())
        case .fingerprintList: .fingerprintList
        case .fingerprintVerify: .fingerprintVerify
        case .fingerprintDelete: .fingerprintDelete(try finger())
        case .fingerprintOn: .fingerprintSwitch(.on)
        case .fingerprintOff: .fingerprintSwitch(.off)
        case .keyringForget: .keyringForget
        case .set: .set(name: try name(operands[0]), value: value())
        case .get: .get(name: try name(operands[0]))
        case .list: .list(prefix: try prefix())
        case .delete: .delete(name: try name(operands[0]))
        case .export: .export(operands.first.map(ArgumentParser.file))
        case .import:
            .import(
                operands.first.map(ArgumentParser.file), given[.replace] == nil ? .refuse : .replace
            )
        case .policyShow: .policyShow
        case .policyCheck: .policyCheck(try candidate())
        case .policyLint: .policyLint(try files())
        case .policyPreview: .policyPreview(ArgumentParser.file(operands[0]))
        case .texts: .texts
        case .reset: .reset
        case .resync: .resync
        case .triesClear: .triesClear
        case .chown: .chown(store: try storeID(operands[0]), user: try account(operands[1]))
        case .doctor: .doctor
        case .version: .version
        case .help: .help(try topic())
        }
    }

    private func topic() throws(UsageError) -> [Verb] {
        guard !operands.isEmpty else { return [] }
        let words = operands.map { String(decoding: $0, as: UTF8.self) }
        if let verb = Verb.named(words) { return [verb] }
        if words.count == 1 {
            let verbs = Verb.beginning(words[0])
            if !verbs.isEmpty { return verbs }
        }
        throw ArgumentParser.noVerb(words.joined(separator: " "))
    }

    private func way() throws(UsageError) -> Create.Way? {
        try only(of: Option.exclusive[0]).map { option in
            switch option {
            case .followLogin: .followLogin
            case .ownPasscode: .ownPasscode
            default: .noPasscode
            }
        }
    }

    private func change() throws(UsageError) -> Passcode.Change {
        switch try only(of: Option.exclusive[1]) {
        case .off?: .turnOff
        case .on?: .turnOn
        default: .change
        }
    }

    private func only(of options: [Option]) throws(UsageError) -> Option? {
        let chosen = options.filter { given[$0] != nil }
        guard chosen.count < 2 else {
            throw UsageError(
                Text(chosen[0].entry.flag, " and ", chosen[1].entry.flag, " exclude each other"),
                hint: Text("give one of them"))
        }
        return chosen.first
    }

    private func name(_ bytes: [UInt8]) throws(UsageError) -> [UInt8] {
        guard !bytes.isEmpty, bytes.count <= Limits.name else {
            throw UsageError(
                Text("a name of ", bytes.count, " bytes cannot be"),
                hint: Text("names have 1 to ", Limits.name, " bytes"))
        }
        return bytes
    }

    private func prefix() throws(UsageError) -> [UInt8] {
        guard let prefix = operands.first, !prefix.isEmpty else { return [] }
        return try name(prefix)
    }

    private func finger() throws(UsageError) -> Finger {
        guard let operand = operands.first else { return .unnamed }
        let word = String(decoding: operand, as: UTF8.self)
        if let finger = Finger.named(word) { return finger }
        let names = Finger.named.map(\.name)
        throw UsageError(
            Text("there is no finger ", Printable.escaped(operand)),
            hint: Nearness.onCommandLine.nearest(to: Array(word.utf8), among: names).map {
                Text("did you mean ", $0, "?")
            }
                ?? Text(names.joined(separator: ", ")))
    }

    private func value() -> Command.ValueSource {
        guard operands.count > 1 else { return .whateverIsThere }
        return operands[1] == [0x2D] ? .input : .argument(operands[1])
    }

    private static func file(_ path: [UInt8]) -> Command.File {
        path == [0x2D] ? .standardStream : .path(path)
    }

    private func files() throws(UsageError) -> [Command.File] {
        let files = operands.map(ArgumentParser.file)
        guard files.count(where: { $0 == .standardStream }) < 2 else {
            throw UsageError(
                Text("- is given twice"), hint: Text("standard input can be read once"))
        }
        return files
    }

    private func candidate() throws(UsageError) -> Command.CandidateSource {
        guard let operand = operands.first else { return .whateverIsThere }
        guard operand == [0x2D] else {
            throw UsageError(
                Text("policy check takes no passcode from the command line"),
                hint: Text(
                    "other users could see it there; `appvault policy check` asks, and - reads "
                        + "standard input"))
        }
        return .input
    }

    private func account(_ bytes: [UInt8]) throws(UsageError) -> [UInt8] {
        guard !bytes.isEmpty, bytes.count <= Limits.text,
            UTF8Check.isText(bytes.span, start: 0, count: bytes.count)
        else {
            throw UsageError(
                Text(Printable.escaped(bytes), " is no account name"),
                hint: Text("`getent passwd` lists them"))
        }
        return bytes
    }

    /// 32 hexadecimal digits, dashes where a UUID has them or nowhere.
    private func storeID(_ bytes: [UInt8]) throws(UsageError) -> [UInt8] {
        guard let id = StoreIDText.parse(bytes) else {
            throw UsageError(
                Text(Printable.escaped(bytes), " is no store's id"),
                hint: Text("`appvault status --user NAME` shows it"))
        }
        return id
    }

    private func settings() throws(UsageError) -> Settings {
        var settings = Settings()
        if given[.json] != nil { settings.form = .json }
        if given[.yes] != nil { settings.agreement = .given }
        if let store = given[.store] {
            guard !store.isEmpty, store.count <= Limits.name,
                UTF8Check.isText(store.span, start: 0, count: store.count)
            else {
                throw UsageError(
                    Text("--store ", Printable.escaped(store), " cannot be"),
                    hint: Text("a store's name is UTF-8 of 1 to ", Limits.name, " bytes"))
            }
            settings.store = store
        }
        if let path = given[.socket] {
            guard !path.isEmpty else {
                throw UsageError(Text("--socket needs a path"), hint: Text("--socket PATH"))
            }
            settings.socket = path
        }
        if let user = given[.user] { settings.user = try account(user) }
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
        return settings
    }
}
