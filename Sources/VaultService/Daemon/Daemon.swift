internal import CSystemd
import KeySlots
import Posix
import Secrets
import StoreKeeping

/// appvaultd, from its command line to its end.
public enum Daemon {
    /// Never returns: the process ends with the daemon.
    public static func run() -> Never {
        ThisProcess.leave(main(Array(CommandLine.arguments.dropFirst())))
    }

    /// The exit status.
    static func main(_ arguments: [String]) -> Int32 {
        let options: Options
        switch Options.parse(arguments) {
        case .say(let text):
            StandardOutput.write(Array(text.utf8))
            return 0
        case .wrong(let text):
            complain(text, hint: "appvaultd --help")
            return 2
        case .run(let parsed): options = parsed
        }
        if case .failed(let error) = ThisProcess.harden() {
            // Without these protections an open store could be read out of a dump, so the daemon
            // does not run at all.
            complain(
                error.description,
                hint: "appvaultd keeps keys only in a process that cannot be dumped")
            return 1
        }
        switch options.job {
        case .serve: break
        case .forgetTokens: return forgetTokens(options)
        }
        // Enough for a hundred logins at once. Where it cannot be locked `doctor` says so, as it
        // does of each secret.
        _ = try? SecretBytes.reserve(rows: 512)
        let signals: Channel
        do throws(PosixError) {
            try Sandbox.enterKeeper()
            // Before the first thread starts: a thread that does not block these signals would
            // receive them, and the process would end.
            signals = try Channel(
                owning: try Signals.descriptor(for: [
                    Signals.terminate, Signals.interrupt, Signals.hangup,
                ]))
        } catch {
            complain(error.description, hint: "appvaultd --help")
            return 1
        }
        let outcome = Outcome()
        EventLoop.shared.task { await start(options, signals, outcome) }
        EventLoop.shared.run()
        return outcome.status
    }

    /// systemd runs this before memory goes to a disk, when no daemon runs.
    private static func forgetTokens(_ options: Options) -> Int32 {
        guard let path = options.tokenFolder else { return 0 }
        do throws(TokenFolder.Unusable) {
            try TokenFolder(path: path, boot: Boot.id).forgetHashes()
            return 0
        } catch {
            // The folder is missing, so nothing was ever remembered.
            if case .storage(let failure) = error, failure.isMissing { return 0 }
            complain("\(path): \(error)", hint: "failed tokens may go to the disk with the memory")
            return 1
        }
    }

    /// Written on the loop, read after the loop has ended.
    private final class Outcome: @unchecked Sendable {
        var status: Int32 = 0
    }

    @LoopActor
    private static func start(_ options: Options, _ signals: Channel, _ outcome: Outcome) async {
        // Before anything can fail: what was left is read once and wiped.
        let inherited = options.socket == nil ? Inherited.look() : Inherited()
        do throws(House.StartFailure) {
            let house = try House(options)
            try await serve(house, options, inherited, signals)
        } catch {
            outcome.status = 1
            switch error {
            case .stateFolderInUse:
                complain(
                    "another appvaultd works on \(options.stateFolder)",
                    hint: "two would count tries twice")
            case .posix(let error):
                complain(error.description, hint: "it must be a folder of its own user")
            case .keys(let text), .sockets(let text): complain(text, hint: "appvaultd --help")
            }
            EventLoop.shared.stop()
        }
    }

    @LoopActor
    private static func serve(
        _ house: House, _ options: Options, _ inherited: Inherited, _ signals: Channel
    ) async throws(House.StartFailure) {
        house.succession = options.socket == nil ? Succession.here() : .none
        try await house.begin()
        // Requests wait at the sockets until what was open is open again, or locked for good. So
        // does a signal: another restart leaves it all to the next daemon.
        await house.takeOver(inherited.left)
        EventLoop.shared.task { await listen(to: signals, house) }
        let door = FrontDoor(desk: house.desk, crowd: house.crowd, curfew: house.curfew) {
            await Dispatcher(house: house, connection: $0).serve()
        }
        door.whenSomebodyComes = { house.stopIdling() }
        door.whenSomebodyLeaves = { house.startIdling() }
        house.closeDoors = { door.close() }
        EventLoop.shared.task { await house.upkeep.watchPolicy() }
        do throws(PosixError) {
            if let path = options.socket {
                try door.listen(
                    on: try ListeningSocket.make(at: path, mode: 0o666), .everybodys)
                if let path = options.rootSocket {
                    try door.listen(
                        on: try ListeningSocket.make(at: path, mode: 0o600), .roots)
                }
            } else {
                guard !inherited.sockets.isEmpty else {
                    throw PosixError(
                        call: "no socket was handed over, and there is no --socket", number: 22)
                }
                for number in inherited.sockets {
                    let socket = FileDescriptor(owning: number)
                    let kind = kind(of: socket)
                    try door.listen(on: socket, kind)
                }
                house.activated()
            }
        } catch {
            throw .posix(error)
        }
        house.desk.audit.note(.start, "appvaultd \(Software.version) serves")
        // SAFETY: sd_notify reads a terminated text.
        _ = unsafe sd_notify(0, "READY=1" + house.succession.status)
        watch()
        ThisProcess.giveBackMemory()
    }

    private static func kind(of socket: borrowing FileDescriptor) -> FrontDoor.Door {
        // SAFETY: libsystemd reads a terminated path.
        let isRoots = unsafe sd_is_socket_unix(
            socket.raw, 0, 1, Options.standardRootSocket, 0)
        return isRoots > 0 ? .roots : .everybodys
    }

    @LoopActor
    private static func listen(to signals: Channel, _ house: House) async {
        while await signals.readable(until: nil) == .ready {
            guard let number = nextSignal(signals) else { continue }
            if number == Signals.hangup {
                _ = unsafe sd_notify(0, "RELOADING=1")
                await house.upkeep.readPolicy(isAsked: true)
                _ = unsafe sd_notify(0, "READY=1")
            } else {
                _ = unsafe sd_notify(0, "STOPPING=1")
                await house.stop()
                return
            }
        }
    }

    @LoopActor
    private static func nextSignal(_ channel: Channel) -> Int32? {
        // SAFETY: one signalfd_siginfo is 128 bytes; the first four are its number.
        unsafe withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { room in
            guard case .bytes(let count) = unsafe channel.read(into: room), count >= 4 else {
                return nil
            }
            return unsafe Signals.number(in: UnsafeRawBufferPointer(room))
        }
    }

    /// Tells systemd's watchdog that the loop runs, if the unit asks for it.
    @LoopActor
    private static func watch() {
        var interval: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &interval) > 0, interval > 0 else { return }
        let period = max(interval / 2000, 500)
        beat(every: period)
    }

    /// Runs from a timer, which comes after each pass of the loop: a long queue is not a loop that
    /// hangs.
    private static func beat(every period: UInt64) {
        _ = unsafe sd_notify(0, "WATCHDOG=1")
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + period) { beat(every: period) }
    }

    private static func complain(_ text: String, hint: String) {
        StandardError.write(Array("appvaultd: \(text)\nhint: \(hint)\n".utf8))
    }
}
