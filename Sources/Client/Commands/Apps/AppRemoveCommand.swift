import DesktopEntries
import ToolTexts
import Wire

struct AppRemoveCommand: Command {
    static let entry = VerbEntry(
        words: ["app", "remove"], group: .apps, operands: ["ID"],
        summary: "unlock an application for good: it starts without asking",
        text: ["It undoes `app add`. Your own entries that were kept are back as they were."])
    static let offer = RecoveryOffer.never

    var id: ApplicationID

    static func parse(_ arguments: Arguments) throws(UsageError) -> AppRemoveCommand {
        AppRemoveCommand(id: try arguments.applicationID())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let wasLocked: Bool
        do throws(LockedApps.Failure) {
            wasLocked = try LockedApps(run.environment).remove(id)
        } catch {
            throw .refused(error.refusal(id, run.words))
        }
        guard wasLocked else {
            throw .refused(
                Refused(
                    .doesNotExist, run.words(.appNotLocked, id.name),
                    hint: run.words(.appNotLockedHint)))
        }
        run.report(Self.entry.name, run.words(.appRemoved, id.name))
        return .success
    }
}
