import Foundation

@testable import AppVault

/// The real appvaultd in a temporary folder of its own.
final class PrivateDaemon: @unchecked Sendable {
    let folder: URL
    private var process: Process?

    var socket: String { folder.appendingPathComponent("socket").path }

    /// The folder of the programs under test: as the other suites find it, or beside this one.
    static let program: URL? = {
        let beside = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["APPVAULT_BUILD"].map {
            URL(fileURLWithPath: $0)
        }
        return [named, beside].compactMap { $0?.appendingPathComponent("appvaultd") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }()

    static var isThere: Bool { program != nil }

    init(policy: String = "") throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("appvault-library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let config = folder.appendingPathComponent("config")
        try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("state"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let text =
            "[Passcode]\nDerivationMemory=19MiB\nDerivationPasses=2\nThrottleAfter=0\n\(policy)\n"
        try Data(text.utf8).write(to: config.appendingPathComponent("policy.conf"))
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    func start() throws {
        let process = Process()
        process.executableURL = PrivateDaemon.program!
        process.arguments = [
            "--socket", socket, "--state-dir", folder.appendingPathComponent("state").path,
            "--config-dir", folder.appendingPathComponent("config").path,
        ]
        // No logind.
        process.environment = [
            "PATH": "/usr/bin:/bin",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/no-bus",
        ]
        let log = folder.appendingPathComponent("log")
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let handle = try FileHandle(forWritingTo: log)
        try handle.seekToEnd()
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.process = process
        let end = Date().addingTimeInterval(60)
        while !isListening {
            guard process.isRunning, Date() < end else { throw Failed(log: self.log) }
            usleep(5_000)
        }
    }

    struct Failed: Error {
        var log: String
    }

    var log: String {
        (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? ""
    }

    private var isListening: Bool {
        guard case .connected? = try? UnixSocket.connect(Array(socket.utf8)) else { return false }
        return true
    }

    var pid: Int32 { process?.processIdentifier ?? 0 }

    func stop() {
        process?.terminate()
        process?.waitUntilExit()
    }

    func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Returns when it has stopped: each of its threads ends the system call that it is in first.
    func pause() {
        _ = Foundation.kill(pid, SIGSTOP)
        var what = unsafe siginfo_t()
        _ = unsafe waitid(P_PID, id_t(pid), &what, WSTOPPED | WNOWAIT)
    }
    func resume() { _ = Foundation.kill(pid, SIGCONT) }

    func connect(
        waits: Waits = Waits(), hooks: PromptHooks = .none
    ) async throws(VaultError) -> Vault {
        let vault = Vault(
            Greeting(path: socket, frontEnd: .program, language: "C"), waits: waits, hooks: hooks)
        try await vault.link.open()
        return vault
    }
}
