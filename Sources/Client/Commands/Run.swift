import Posix
import ToolTexts
import Wire

/// One run of the tool: its settings, its connection, and what every verb needs of both.
final class Run {
    let environment: Environment
    let settings: Settings
    let voice: Voice
    /// As it is typed.
    let verb: String
    private var held: Connection?
    private var isConversing = false
    private(set) lazy var answers = Answers(
        descriptor: settings.passcodeDescriptor, Dialogs.place(environment.variable)
    ) { Dialogs($0, environment.variable, words, verb: verb) }
    private(set) lazy var words = OwnWords { self.allTexts() }

    init(_ environment: Environment, _ settings: Settings, _ voice: Voice, verb: String) {
        self.verb = verb
        self.environment = environment
        self.settings = settings
        self.voice = voice
    }

    /// A person reads what is shown and types what is asked for.
    var isAtTerminal: Bool { answers.kind == .terminal && environment.output.isTerminal }

    // MARK: The daemon

    /// One connection serves the whole run.
    func connect() throws(ClientError) -> Connection {
        if let held { return held }
        let connection = try newConnection()
        held = connection
        return connection
    }

    /// For a verb that goes on for long without the daemon.
    func disconnect() { held = nil }

    private func newConnection() throws(ClientError) -> Connection {
        // The daemon may show a recovery key only where a person reads, and that is only a
        // terminal.
        let frontEnd: FrontEnd =
            isAtTerminal ? .terminal : answers.kind == .dialogs ? .dialog : .program
        var hello = Hello(frontEnd: frontEnd, realUID: ToolIO.realUID)
        hello.service = Array("appvault".utf8)
        hello.tty = ToolIO.terminalName()
        hello.language = environment.language
        guard frontEnd == .terminal else {
            return try Connection(path: settings.socket, hello: hello)
        }
        hello.version = Limits.versionWithScreens
        do throws(ClientError) {
            return try Connection(path: settings.socket, hello: hello)
        } catch .refused(let refused) where refused.code == Code.serviceUnavailable.rawValue {
            // A daemon of a former release, until it is started anew.
            hello.version = Limits.version
            return try Connection(path: settings.socket, hello: hello)
        }
    }

    func conversation() throws(ClientError) -> Conversation {
        isConversing = true
        var conversation = Conversation(
            connection: try connect(), voice: voice, words: words, answers: answers)
        conversation.marks = environment.marks
        answers.dialogs?.connection = conversation.connection
        if let user = accountName() {
            conversation.prove = { [folder = settings.pamFolder] password in
                LoginProof.check(user: user, password: &password, folder: folder)
            }
        }
        return conversation
    }

    /// Asks over another connection if an exchange is running or no connection exists yet, because
    /// it may take long until the person has answered.
    private func allTexts() -> OwnWords.Texts {
        guard settings.form == .plain else { return [:] }
        do throws(ClientError) {
            let free = isConversing ? nil : held
            let connection = if let free { free } else { try newConnection() }
            return OwnWords.texts(try connection.texts())
        } catch {
            return [:]
        }
    }

    /// One exchange that ends with a line.
    func act<B: Body>(_ verb: String, _ type: RequestType, _ body: B) throws(ClientError)
        -> ExitStatus
    {
        report(verb, try conversation().finish(type, body))
        return .success
    }

    func report(_ verb: String, _ line: [UInt8]) {
        switch settings.form {
        case .plain: voice.done(line)
        case .json:
            var json = JSON()
            json.field("action", verb)
            json.field("result", "done")
            json.field("message", line)
            voice.print(json.finish())
        }
    }

    /// The columns of the terminal on standard output; 80 if it is no terminal.
    var columns: Int {
        let columns = ToolIO.columns(environment.output.descriptor)
        return columns == 0 ? 80 : max(40, columns)
    }

    func output(_ bytes: borrowing SecretBuffer) throws(ClientError) {
        do throws(PosixError) {
            try voice.output(bytes)
        } catch {
            throw .refused(
                Refused(.storageFailed, words(.cannotWrite, ToolIO.reason(error))))
        }
    }

    // MARK: Whom it is about

    func target() throws(ClientError) -> Target {
        Target(subject: try subject(), store: settings.store)
    }

    private func subject() throws(ClientError) -> Subject {
        settings.user.isEmpty ? Subject() : try account(settings.user)
    }

    /// Root resolves names here, in its own process. A uid from anybody else would be ignored.
    func account(_ name: [UInt8]) throws(ClientError) -> Subject {
        guard environment.uid == 0 else { return Subject(name: name) }
        switch environment.account(name) {
        case .uid(let uid): return Subject(name: name, uid: uid)
        case .missing:
            throw .refused(
                Refused(.doesNotExist, words(.accountNone, name), hint: words(.accountNoneHint)))
        case .unknown(let error):
            throw .refused(
                Refused(
                    .serviceUnavailable, words(.accountUnknown, name, ToolIO.reason(error))))
        }
    }

    /// The account that a verb is about, by name.
    func accountName() -> [UInt8]? {
        settings.user.isEmpty ? environment.accountName(environment.uid) : settings.user
    }

    // MARK: What cannot be undone

    /// Asks the person only if the daemon would do it. If not, the daemon refuses the request, and
    /// a question before that would be of no use.
    func agree(
        to action: String, _ verb: @autoclosure () -> any TextPiece,
        _ consequence: @autoclosure () -> [UInt8]
    ) throws(ClientError) {
        switch settings.agreement {
        case .given: return
        case .ask: break
        }
        let list = try connect().ask(.actions, try target(), for: .actionList, ActionList.self)
        let entry = list.actions.first { $0.name == Array(action.utf8) }
        if entry?.allowed == false { return }
        try agree(verb(), consequence())
    }

    /// Asks the person to type yes, or a name that shows that they mean it. Without a terminal, --yes
    /// is needed.
    func agree(
        _ verb: @autoclosure () -> any TextPiece, _ consequence: @autoclosure () -> [UInt8],
        byTyping name: [UInt8]? = nil
    ) throws(ClientError) {
        switch settings.agreement {
        case .given: return
        case .ask: break
        }
        if let dialogs = answers.dialogs { return try agree(dialogs, consequence()) }
        guard let terminal = Terminal() else {
            throw .refused(
                Refused(
                    .invalidArgument, words(.agreeNobody, verb()),
                    hint: words(.agreeHint, consequence())))
        }
        voice.info(consequence())
        var answer = SecretBuffer()
        let prompt = name.map { words(.agreeName, Printable.escaped($0)) } ?? words(.agreePrompt)
        let outcome = terminal.ask(prompt, echo: true, limit: Limits.name, into: &answer)
        let isMeant = answer.withSpan { span in
            if let name { return span.indices.map { span[$0] } == name }
            return span.indices.map { span[$0] | 0x20 } == Array("yes".utf8)
        }
        guard outcome == .line, isMeant else {
            throw .refused(Refused(.cancelled, words(.agreeNot)))
        }
    }

    private func agree(_ dialogs: Dialogs, _ consequence: [UInt8]) throws(ClientError) {
        switch dialogs.agree(to: consequence) {
        case .answered: return
        case .cancelled, .overtaken, .tooLong, .nobody, .exhausted, .notTaken:
            throw .refused(Refused(.cancelled, words(.cancelled)))
        case .busy: throw .refused(Refused(.busy, words(.dialogBusy), hint: words(.dialogBusyHint)))
        case .notShown:
            throw .refused(
                Refused(
                    .invalidArgument, words(.agreeNobody, verb),
                    hint: words(.agreeHint, consequence)
                ))
        }
    }
}
