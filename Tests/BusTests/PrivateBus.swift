import Glibc
import Testing

@testable import Bus
@testable import Posix

/// A bus daemon of this test alone. It ends with `stop`.
@safe
final class PrivateBus: @unchecked Sendable {
    let address: String
    private let process: Int32
    private let pipe: UnsafeMutablePointer<FILE>

    /// A package is also built where there is none.
    static var isThere: Bool {
        // SAFETY: a terminated path for the length of the call.
        unsafe access("/usr/bin/dbus-daemon", X_OK) == 0
    }

    init() throws {
        let command =
            "exec dbus-daemon --session --nofork --nopidfile --print-address=1 --print-pid=1"
        // SAFETY: both are terminated texts. The stream is closed once, by `stop`.
        guard let pipe = unsafe popen(command, "re") else { throw BusError.gone }
        unsafe self.pipe = pipe
        func line() -> String {
            var text = ""
            while case let byte = unsafe fgetc(pipe), byte >= 0, byte != 10 {
                text.unicodeScalars.append(Unicode.Scalar(UInt8(byte)))
            }
            return text
        }
        address = line()
        process = try #require(Int32(line()))
    }

    private var isStopped = false

    func stop() {
        guard !isStopped else { return }
        isStopped = true
        kill(process, SIGKILL)
        unsafe pclose(pipe)
    }

    /// As one that hangs. It ends the system call that it is in first.
    func halt() {
        kill(process, SIGSTOP)
        var what = unsafe siginfo_t()
        // SAFETY: the kernel fills it in before the call returns.
        _ = unsafe waitid(P_PID, id_t(process), &what, WSTOPPED | WNOWAIT)
    }
    func resume() { kill(process, SIGCONT) }

    @LoopActor
    func connect() async throws(BusError) -> Bus {
        let bus = try await Bus.open(.address(address), until: soon)
        bus.patienceForCaller = 300_000
        return bus
    }
}

/// A deadline that only a failing test reaches, however busy the machine is.
var soon: UInt64 { Clock.bootMilliseconds() + 300_000 }

enum TestLoop {
    private static let started: Bool = {
        WorkerPool(name: "loop", threads: 1).submit { EventLoop.shared.run() }
        return true
    }()

    static func run<R: Sendable>(
        _ body: @escaping @LoopActor @Sendable () async throws -> R
    ) async throws -> R {
        _ = started
        return try await withCheckedThrowingContinuation { continuation in
            EventLoop.shared.task {
                do {
                    continuation.resume(returning: try await body())
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    static func withBus<R: Sendable>(
        _ body: @escaping @LoopActor @Sendable (PrivateBus) async throws -> R
    ) async throws -> R {
        let daemon = try PrivateBus()
        defer { daemon.stop() }
        return try await run { try await body(daemon) }
    }
}

@LoopActor
func waited(until condition: @LoopActor () -> Bool) async -> Bool {
    let end = soon
    while !condition() {
        guard Clock.bootMilliseconds() < end else { return false }
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 5)
    }
    return true
}
