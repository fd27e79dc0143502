import Posix
import Wire

/// The command-line tool.
public enum Tool {
    public static func main() -> Never {
        ToolIO.occupyStandardDescriptors()
        let core = ToolIO.leaveNoCore()
        ToolIO.exit(run(.ofThisProcess(core: core)).rawValue)
    }

    static func run(_ environment: Environment) -> ExitStatus {
        let voice = Voice(environment)
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try ArgumentParser.parse(environment.arguments, AllCommands.list)
        } catch {
            if environment.arguments.isEmpty {
                voice.printError(Help.overview(VerbEntry.all, .plain))
                return .usage
            }
            return report(
                error.refusal, ArgumentParser.wantsJSON(environment.arguments), voice, .english)
        }
        var settings = invocation.settings
        if settings.store.isEmpty, let store = environment.variable("APPVAULT_STORE"),
            !store.isEmpty
        {
            do throws(UsageError) {
                settings.store = try Arguments.shared(store, "APPVAULT_STORE")
            } catch {
                return report(error.refusal, settings.form, voice, .english)
            }
        }
        let run = Run(
            environment, settings, voice,
            verb: type(of: invocation.command).entry.name)
        do throws(ClientError) {
            return try perform(invocation.command, run)
        } catch {
            return report(error.refusal, settings.form, voice, run.words)
        }
    }

    private static func perform(
        _ command: any Command, _ run: Run
    ) throws(ClientError) -> ExitStatus {
        let status = try command.run(run)
        try run.afterwards(type(of: command).offer)
        return status
    }

    private static func report(
        _ refused: Refused, _ form: Settings.Form, _ voice: Voice, _ words: OwnWords
    ) -> ExitStatus {
        switch form {
        case .plain: voice.refusal(refused, words)
        case .json:
            var json = JSON()
            json.refusal(refused.complete(.english))
            voice.print(json.finish())
        }
        return refused.exitStatus
    }
}
