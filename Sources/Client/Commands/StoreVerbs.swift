import PamStacks
import Posix
import Wire

extension Run {
    func create(_ wanted: Create.Way?, _ existing: Command.Existing) throws(ClientError) {
        let target = try target()
        var conversation = try conversation()
        let way = wanted ?? wayOfThisMachine()
        if way == .followLogin, let user = accountName() {
            let folder = settings.pamFolder
            conversation.prove = { password in
                LoginProof.check(user: user, password: &password, folder: folder)
            }
        }
        let request = Create(target: target, way: way, openExisting: existing == .open)
        do throws(ClientError) {
            report("create", try conversation.finish(.create, request))
        } catch {
            guard case .refused(let refused) = error, refused.known == .alreadyExists else {
                throw error
            }
            throw .refused(
                Refused(
                    .alreadyExists, words(.createExists), hint: words(.createExistsHint),
                    parameters: refused.parameters))
        }
    }

    private func wayOfThisMachine() -> Create.Way {
        let folder = String(
            decoding: settings.pamFolder ?? Array("/etc/pam.d".utf8), as: UTF8.self)
        let configuration = PamConfiguration { name in
            let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
            return ToolIO.contents(of: Array(path.utf8)).map { .init(path: path, text: $0) }
        }
        switch PamWiring.of(configuration) {
        case .followsLogin:
            voice.info(words(.createFollows))
            return .followLogin
        case .ownPasscode:
            voice.info(words(.createOwn))
            return .ownPasscode
        case .none:
            voice.info(words(.createPlain))
            return .ownPasscode
        }
    }

    func status() throws(ClientError) {
        let state = try connect().status(target())
        switch settings.form {
        case .json:
            var json = JSON()
            StatusView.write(state, to: &json)
            voice.print(json.finish())
        case .plain:
            voice.print(StatusView.text(state, voice, words))
            if let advice = StatusView.advice(state, words) { voice.hint(advice) }
        }
    }

    func passwd(_ change: Passcode.Change) throws(ClientError) {
        switch change {
        case .turnOff:
            try agree("passwd --off", words(.agreePasscodeOff))
        case .change, .turnOn: break
        }
        try act("passwd", .passcode, Passcode(target: target(), change: change))
    }

    func reset() throws(ClientError) {
        let target = try target()
        try agree("reset", words(.agreeReset))
        try act("reset", .reset, target)
        if settings.form == .plain, settings.user.isEmpty, answers.kind == .terminal {
            voice.hint(words(.resetHint))
        }
    }

    func triesClear() throws(ClientError) {
        let target = try target()
        try agree("tries clear", words(.agreeTriesClear))
        try act("tries clear", .triesClear, target)
    }

    func chown(_ store: [UInt8], _ user: [UInt8]) throws(ClientError) {
        let owner = try account(user)
        try agree("chown", words(.agreeChown, Printable.escaped(user)))
        try act("chown", .chown, Chown(store: store, owner: owner))
    }

    func version() {
        let daemon = try? connect().software
        switch settings.form {
        case .plain:
            var text = Text("appvault ", Version.text, "\n")
            if let daemon { text += Text("appvaultd ", Printable.escaped(daemon), "\n") }
            voice.print(text.bytes)
        case .json:
            var json = JSON()
            json.field("appvault", Version.text)
            if let daemon { json.field("appvaultd", daemon) } else { json.null("appvaultd") }
            json.field("protocol", Int(Limits.version))
            voice.print(json.finish())
        }
    }

    func help(_ verbs: [Verb]) {
        let paint = voice.outputPaint
        switch settings.form {
        case .plain: voice.print(Help.pages(verbs, paint))
        case .json:
            var json = JSON()
            json.objects("verbs", verbs.isEmpty ? Verb.allCases : verbs) { json, verb in
                json.field("name", verb.entry.name)
                json.field("synopsis", verb.entry.synopsis)
                json.field("summary", verb.entry.summary)
                json.objects("fields", verb.entry.json) { json, field in
                    json.field("name", field.name)
                    json.field("meaning", field.meaning)
                }
            }
            voice.print(json.finish())
        }
    }
}
