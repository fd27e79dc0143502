import Foundation

/// A real gnome-keyring-daemon, unlocked, on a bus and in folders of its own.
final class PrivateKeyring: @unchecked Sendable {
    let folder = TemporaryFolder()
    private var processes: [Process] = []

    var address: String { "unix:path=\(folder.path)/bus" }

    private static let programs = ["/usr/bin/dbus-daemon", "/usr/bin/gnome-keyring-daemon"]

    static var isThere: Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "XDG_DATA_HOME": folder.path,
            "DBUS_SESSION_BUS_ADDRESS": address, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
    }

    init() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Without services that it would start by itself.
        let config = folder.path + "/bus.conf"
        try Data(
            """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
            """.utf8
        ).write(to: URL(fileURLWithPath: config))
        try start("/usr/bin/dbus-daemon", ["--config-file=\(config)", "--nofork", "--nopidfile"])
        try await wait { FileManager.default.fileExists(atPath: self.folder.path + "/bus") }
        let input = Pipe()
        try start(
            "/usr/bin/gnome-keyring-daemon",
            [
                "--foreground", "--unlock", "--components=secrets",
                "--control-directory=\(folder.path)",
            ],
            input)
        input.fileHandleForWriting.write(Data("correct horse".utf8))
        try input.fileHandleForWriting.close()
        try await wait { self.ownsName() }
    }

    private func start(_ program: String, _ arguments: [String], _ input: Pipe? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = input ?? FileHandle.nullDevice
        try process.run()
        processes.append(process)
    }

    private func ownsName() -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-send")
        process.arguments = [
            "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.GetNameOwner", "string:org.freedesktop.secrets",
        ]
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private func wait(_ condition: () -> Bool) async throws {
        let end = Date().addingTimeInterval(20)
        while !condition() {
            guard Date() < end else { throw CancellationError() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    deinit {
        for process in processes.reversed() where process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
