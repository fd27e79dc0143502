import Posix
import Wire

/// One run of the tool: its settings, its connection, and what every verb needs of both.
final class Run {
    let environment: Environment
    let settings: Settings
    let voice: Voice
    private var held: Connection?
    private(set) lazy var answers = Answers(descriptor: settings.passcodeDescriptor)

    init(_ environment: Environment, _ settings: Settings, _ voice: Voice) {
        self.environment = environment
        self.settings = settings
        self.voice = voice
    }

    func perform(_ command: Command) throws(ClientError) -> ExitStatus {
        switch command {
        case .create(let way, let existing): try create(way, existing)
        case .status: try status()
        case .unlock: try act("unlock", .openStore, target())
        case .lock: try act("lock", .lock, target())
        case .passwd(let change): try passwd(change)
        case .recoveryNew: try act("recovery new", .recoveryNew, target())
        case .actions: try actions()
        case .fingerprintEnroll(let finger): try fingerprintEnroll(finger)
        case .fingerprintList: try fingerprintList()
        case .fingerprintVerify: try act("fingerprint verify", .fingerprintVerify, target())
        case .fingerprintDelete(let finger): try fingerprintDelete(finger)
        case .fingerprintSwitch(let way): try fingerprintSwitch(way)
        case .recover: try act("recover", .recover, target())
        case .set(let name, let value): try set(name, value)
        case .get(let name): try get(name)
        case .list(let prefix): try list(prefix)
        case .delete(let name): try delete(name)
        case .export(let file): try export(file)
        case .import(let file, let clash): try importFile(file, clash)
        case .policyShow: try policyShow()
        case .policyCheck(let source): return try policyCheck(source)
        case .policyLint(let files): return try policyLint(files)
        case .policyPreview(let file): try policyPreview(file)
        case .texts: try texts()
        case .reset: try reset()
        case .resync: try act("resync", .resync, target())
        case .triesClear: try triesClear()
        case .chown(let store, let user): try chown(store, user)
        case .version: version()
        case .help(let verbs): help(verbs)
        }
        try offerRecovery(after: command)
        return .success
    }

    // MARK: The daemon

    /// One connection serves the whole run.
    func connect() throws(ClientError) -> Connection {
        if let held { return held }
        // A recovery key may be shown only where a person reads, and only a terminal is where they do.
        let isPerson = answers.kind == .terminal && environment.output.isTerminal
        var hello = Hello(frontEnd: isPerson ? .terminal : .program, realUID: ToolIO.realUID)
        hello.service = Array("appvault".utf8)
        hello.tty = ToolIO.terminalName()
        hello.language = environment.language
        let connection = try Connection(path: settings.socket, hello: hello)
        held = connection
        return connection
    }

    func conversation() throws(ClientError) -> Conversation {
        Conversation(connection: try connect(), voice: voice, answers: answers)
    }

    /// One exchange that ends with a line.
    func act<B: Body>(_ name: String, _ type: RequestType, _ body: B) throws(ClientError) {
        report(name, try conversation().finish(type, body))
    }

    func report(_ name: String, _ line: [UInt8]) {
        switch settings.form {
        case .plain: voice.done(line)
        case .json:
            var json = JSON()
            json.field("action", name)
            json.field("result", "done")
            json.field("message", line)
            voice.print(json.finish())
        }
    }

    // MARK: Whom it is about

    func target() throws(ClientError) -> Target {
        Target(subject: try subject(), store: settings.store)
    }

    private func subject() throws(ClientError) -> Subject {
        settings.user.isEmpty ? Subject() : try account(settings.user)
    }

    /// Root resolves names here, in its own process; what others say about a uid counts for nothing.
    func account(_ name: [UInt8]) throws(ClientError) -> Subject {
        guard environment.uid == 0 else { return Subject(name: name) }
        switch environment.account(name) {
        case .uid(let uid): return Subject(name: name, uid: uid)
        case .missing:
            throw .refused(
                Refused(
                    .doesNotExist, Text("there is no account ", name).bytes,
                    hint: Array("`getent passwd` lists them".utf8)))
        case .unknown(let error):
            throw .refused(
                Refused(
                    .serviceUnavailable,
                    Text("the account ", name, " cannot be looked up: ", ToolIO.reason(error)).bytes
                ))
        }
    }

    /// The account that a verb is about, by name.
    func accountName() -> [UInt8]? {
        settings.user.isEmpty ? environment.accountName(environment.uid) : settings.user
    }

    // MARK: What cannot be taken back

    /// Asks the person to type yes; without one, --yes has to say it.
    func agree(_ verb: String, _ consequence: String) throws(ClientError) {
        switch settings.agreement {
        case .given: return
        case .ask: break
        }
        guard let terminal = Terminal() else {
            throw .refused(
                Refused(
                    .invalidArgument,
                    "\(verb) needs somebody to agree, and there is no terminal to ask on",
                    hint: "with --yes it does not ask: \(consequence)"))
        }
        voice.info(Array(consequence.utf8))
        var answer = SecretBuffer()
        let outcome = terminal.ask(
            Array("type yes to go on: ".utf8), echo: true, limit: 64, into: &answer)
        let isYes = answer.withSpan { span in
            span.count == 3 && span[0] | 0x20 == 0x79 && span[1] | 0x20 == 0x65
                && span[2] | 0x20 == 0x73
        }
        guard outcome == .line, isYes else {
            throw .refused(Refused(.cancelled, "not agreed to; nothing changed"))
        }
    }
}
