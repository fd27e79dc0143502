import Posix
import Wire

extension Run {
    func doctor() throws(ClientError) -> ExitStatus {
        let folder = settings.pamFolder.map { String(decoding: $0, as: UTF8.self) }
        let doctor = Doctor(
            machine: .this(environment), daemon: askDaemon(),
            socket: String(decoding: settings.socket, as: UTF8.self), pamFolder: folder)
        let view = DoctorView(findings: doctor.findings(), isRoot: environment.uid == 0)
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            view.write(to: &json)
            voice.print(json.finish())
        case (.plain, true): voice.print(view.text(voice, environment.marks, columns, words))
        case (.plain, false): voice.print(view.fields)
        }
        return view.exitStatus
    }

    /// Each question by itself: what one of them does not get another may.
    private func askDaemon() -> Doctor.Daemon {
        var daemon = Doctor.Daemon()
        do throws(ClientError) {
            daemon.software = try connect().software
        } catch {
            daemon.failure = error
            return daemon
        }
        daemon.policy = ask { connection throws(ClientError) in try connection.policy(Target()) }
        daemon.store = ask { connection throws(ClientError) in try connection.status(Target()) }
        if let list = ask({ connection throws(ClientError) in try connection.texts() }) {
            daemon.texts = Set(list.texts.map { String(decoding: $0.id, as: UTF8.self) })
        }
        // Last, because an older daemon ends the connection over it.
        daemon.health = ask { connection throws(ClientError) in try connection.health() }
        return daemon
    }

    private func ask<Answer>(
        _ question: (Connection) throws(ClientError) -> Answer
    ) -> Answer? {
        guard let connection = try? connect() else { return nil }
        return try? question(connection)
    }
}
