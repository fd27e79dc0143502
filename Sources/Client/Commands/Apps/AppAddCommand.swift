import DesktopEntries
import ToolTexts
import Wire

struct AppAddCommand: Command {
    static let entry = VerbEntry(
        words: ["app", "add"], group: .apps, operands: ["ID"], options: [.require, .onLock],
        summary: "lock an application: it asks before it starts",
        text: [
            "ID is the name of the application's entry in /usr/share/applications, or in another folder of the menu, "
                + "with or without .desktop. AppVault writes an entry of the same name into your own folder of "
                + "applications, which starts the application through `appvault run`; likewise for what starts it with "
                + "the session and by D-Bus. What is there already is kept, and `app remove` gives it back. It needs no "
                + "daemon.",
            "What runs already goes on without being asked. Where --require, --store or --on-lock is missing, "
                + "`appvault run` decides. Run it again to change them, or after an update of the application.",
            "It protects against a person who borrows your desk, not against your own programs: these can start "
                + "the application without its entry. Flatpaks, snaps, and programs whose windows belong to a server "
                + "that D-Bus starts cannot be locked.",
        ],
        examples: [
            .init(
                command: "appvault app add thunderbird --require passcode",
                meaning: "the mail program asks for the passcode each time it starts")
        ])
    static let offer = RecoveryOffer.never

    var id: ApplicationID
    var lock: AppLock

    static func parse(_ arguments: Arguments) throws(UsageError) -> AppAddCommand {
        AppAddCommand(
            id: try arguments.applicationID(),
            lock: AppLock(
                require: try arguments.word(.require, AppLock.Opener.self),
                onLock: try arguments.word(.onLock, AppLock.OnLock.self)))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var lock = lock
        lock.store = run.settings.store
        let service: LockedApps.Service
        do throws(LockedApps.Failure) {
            service = try LockedApps(run.environment).add(id, lock, by: .thisProgram)
        } catch {
            throw .refused(error.refusal(id, run.words))
        }
        run.report(Self.entry.name, run.words(.appAdded, id.name))
        switch (service, run.settings.form) {
        case (.some, .plain): run.voice.info(run.words(.appAddedService))
        case (.none, _), (_, .json): break
        }
        return .success
    }
}
