import Posix
import ToolTexts
import Wire

struct AppListCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["app", "list"], group: .apps, operands: [],
        summary: "list the applications that are locked",
        text: [
            "Into a pipe: id, state and name, with tabs between them."
        ],
        json: [
            .init("apps[].id", "the id, without .desktop"),
            .init("apps[].name", "the name as its entry has it, without a translation"),
            .init(
                "apps[].state",
                "`locked`: it asks before it starts; `changed`: its entry was changed, and it starts without asking; "
                    + "`tool-missing`: its entry starts an appvault that is not there"),
            .init("apps[].require", "what --require said; null where it was not given"),
            .init("apps[].store", "what --store said; null where it was not given"),
            .init("apps[].onLock", "what --on-lock said; null where it was not given"),
            .init("running[].id", "the id of an application that runs locked with its store"),
            .init("running[].store", "that store"),
            .init("running[].locked", "whether it is locked now"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let apps: [LockedApps.App]
        do throws(LockedApps.Failure) {
            apps = try LockedApps(run.environment).list()
        } catch {
            throw .refused(Refused(.doesNotExist, run.words(.appNoHome)))
        }
        let running = RunningApp.all(run.environment)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _): run.voice.print(Self.json(apps, running))
        case (.plain, true): show(apps, running, run)
        case (.plain, false):
            run.voice.print(
                apps.flatMap { app in
                    Layout.fields([
                        Array(app.id.name.utf8), Array(app.standing.name.utf8), app.name,
                    ])
                })
        }
        return .success
    }

    private static func json(
        _ apps: [LockedApps.App], _ running: [RunningApp]
    ) -> SecretBuffer {
        var json = JSON()
        json.objects("apps", apps) { json, app in
            json.field("id", app.id.name)
            json.field("name", app.name)
            json.field("state", app.standing.name)
            json.fieldOrNull("require", app.lock.require.map { Array($0.rawValue.utf8) })
            json.fieldOrNull("store", app.lock.store.isEmpty ? nil : app.lock.store)
            json.fieldOrNull("onLock", app.lock.onLock.map { Array($0.rawValue.utf8) })
        }
        json.objects("running", running) { json, app in
            json.field("id", app.id)
            json.field("store", app.store.isEmpty ? "default" : app.store)
            json.field("locked", app.isLocked)
        }
        return json.finish()
    }

    /// One line for each application, however often it runs; nil where it does not.
    static func text(of id: String, in running: [RunningApp]) -> ToolText? {
        let those = running.filter { $0.id == id }
        guard !those.isEmpty else { return nil }
        return those.contains(where: \.isLocked) ? .appIsLocked : .appRuns
    }

    private func show(_ apps: [LockedApps.App], _ running: [RunningApp], _ run: Run) {
        guard !apps.isEmpty || !running.isEmpty else {
            run.voice.done(run.words(.appNone))
            run.voice.hint(run.words(.appNoneHint))
            return
        }
        var lines = Text()
        for app in apps {
            let name = app.name.isEmpty ? Array(app.id.name.utf8) : app.name
            let shown = String(decoding: Printable.escaped(name), as: UTF8.self)
            lines += Text(run.voice.outputPaint.painted(shown, .bold), " (", app.id.name, ")\n")
            let standing = run.words(app.standing.text)
            lines += Text(
                "    ", Layout.hanging(standing, indent: 4, columns: run.columns), "\n")
            if let text = Self.text(of: app.id.name, in: running) {
                lines += Text("    ", run.words(text), "\n")
            }
        }
        let listed = Set(apps.map(\.id.name))
        for id in Set(running.map(\.id)).subtracting(listed).sorted() {
            lines += Text(run.voice.outputPaint.painted(id, .bold), "\n")
            lines += Text("    ", run.words(Self.text(of: id, in: running) ?? .appRuns), "\n")
        }
        run.voice.print(lines.bytes)
        if running.contains(where: \.isLocked) { run.voice.hint(run.words(.appOpenHint)) }
        if apps.contains(where: { $0.standing != .locked }) {
            run.voice.hint(run.words(.appAgainHint))
        }
    }
}

extension LockedApps.Standing {
    fileprivate var name: String {
        switch self {
        case .locked: "locked"
        case .changed: "changed"
        case .toolMissing: "tool-missing"
        }
    }

    var text: ToolText {
        switch self {
        case .locked: .appStandingLocked
        case .changed: .appStandingChanged
        case .toolMissing: .appStandingToolMissing
        }
    }
}
