import Posix
import Wire
import Words

struct WelcomeCommand: Command {
    static let entry = VerbEntry(
        words: ["welcome"], group: .store, operands: ["[LINK|EMAIL|PICTURE]"], options: [.demo],
        summary: "begin here: make your store, step by step",
        text: [
            "It says what AppVault is, asks what should open your store, makes it, shows a recovery key and offers your finger where "
                + "a reader is. Nothing is made before you have answered. Ctrl-C ends it; the next time it goes on with what is left.",
            "With LINK, EMAIL or PICTURE the machine joins that organisation first, as with `join`.",
            "With --demo it shows the same screens and makes nothing. It needs no store and no daemon.",
        ],
        examples: [
            .init(command: "appvault welcome --demo", meaning: "look at it first")
        ])
    static let offer = RecoveryOffer.never

    var isDemo: Bool
    /// With which the machine joins an organisation first.
    var invitation: InvitationOperand?

    static func parse(_ arguments: Arguments) throws(UsageError) -> WelcomeCommand {
        WelcomeCommand(
            isDemo: arguments.has(.demo),
            invitation: try arguments.operands.first.map(InvitationOperand.init))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        if isDemo { return try demo(run) }
        if let invitation { try run.join(first: invitation) }
        // Somebody may have an invitation.
        let agent = run.polkitAgent()
        defer { extendLifetime(agent) }
        let request = Create(target: try run.target(), way: try way(run), openExisting: false)
        return try run.act(Self.entry.name, .create, request)
    }

    /// A daemon of a former release asks as for `create`.
    private func way(_ run: Run) throws(ClientError) -> Create.Way {
        if run.isAtTerminal, try run.connect().version < Limits.versionWithScreens {
            return run.guidedWay == .guidedFollowLogin ? .usuallyFollowLogin : .usuallyOwnPasscode
        }
        return run.guidedWay
    }

    private func demo(_ run: Run) throws(ClientError) -> ExitStatus {
        let voice = Words.Voice.installed(for: run.environment.language)
        var screens = DemoScreens.welcome(voice, run.guidedWay)
        let talk = ScreenTalk(
            voice: run.voice, words: run.words, answers: run.answers,
            marks: run.environment.marks)
        run.voice.info(run.words(.demoBegins))
        while !screens.isEmpty {
            let screen = screens.removeFirst()
            run.voice.printError([0x0A])
            var typed = SecretBuffer(capacity: Limits.answers)
            do throws(ScreenTalk.End) {
                let chosen = try talk.run(screen, into: &typed) { (answer, _) throws(ClientError) in
                    DemoScreens.judge(answer, voice)
                }
                // Only a passcode of its own is chosen on a screen.
                if screen.id == DemoScreens.way, screen.choices[chosen.choice].id != DemoScreens.own
                {
                    screens.removeFirst()
                }
            } catch {
                switch error {
                case .cancelled, .interrupted, .declined, .tooLong: screens = []
                case .nobody(let prompt):
                    throw .refused(Refused(.passcodeRequired, run.words(.answerNobody, prompt)))
                case .broken(let error): throw error
                }
            }
        }
        run.voice.info(run.words(.demoEnds))
        return .success
    }
}

extension Run {
    fileprivate var guidedWay: Create.Way {
        switch wiring {
        case .followsLogin: .guidedFollowLogin
        case .ownPasscode, .none: .guidedOwnPasscode
        }
    }
}
