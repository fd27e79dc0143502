import Posix
import Wire

/// appvault-fingerprint, from its command line to its end.
enum Worker {
    static func run() -> Never {
        switch Arguments.parse(Array(CommandLine.arguments.dropFirst())) {
        case .say(let text):
            StandardOutput.write(Array(text.utf8))
            ThisProcess.leave(0)
        case .wrong(let text): Journal.complain(text, status: 2)
        case .run(let arguments):
            do throws(PosixError) {
                try serve(arguments)
            } catch {
                Journal.complain(error.description, status: 1)
            }
        }
    }

    private static func serve(_ arguments: Arguments) throws(PosixError) -> Never {
        if case .failed(let error) = ThisProcess.harden() { throw error }
        let listener: FileDescriptor
        if let path = arguments.listen {
            listener = try ListeningSocket.make(at: path, mode: 0o600)
        } else if let handed = HandedOver.descriptor() {
            listener = handed
        } else {
            Journal.complain("no socket was handed over, and there is no --listen", status: 2)
        }
        try ListeningSocket.neverWaiting(listener)
        // A fake reader is a variable: whoever started us brings none in.
        ThisProcess.replaceEnvironment(
            with: arguments.variables.map { (name: $0.name, value: $0.value) })
        // Before libfprint starts a thread, which would be left out.
        try Sandbox.enterDrivers(arguments.listen == nil ? .none : .own)
        let termination = Termination()
        let readers = Readers(fixed: arguments.fixed)
        var until = arguments.linger.map { Clock.bootMilliseconds() + $0 }
        while let connection = accept(listener, arguments.peer, until, termination) {
            until = talk(connection, arguments, until, termination, readers)
        }
        readers.forget()
        ThisProcess.leave(0)
    }

    /// The next connection of the one who may ask; nil at the end.
    private static func accept(
        _ listener: borrowing FileDescriptor, _ peer: UInt32, _ until: UInt64?,
        _ termination: Termination
    ) -> Connection? {
        while !termination.isDue {
            var isWaiting = false
            let watch = Watch(listener.raw) {
                isWaiting = true
                return .on
            }
            let came = MainContext.turn(until: until) { isWaiting || termination.isDue }
            withExtendedLifetime(watch) {}
            guard came else { return nil }
            guard let descriptor = ListeningSocket.accept(listener) else { continue }
            // The peer is known before its first byte is read.
            guard let who = try? PeerCredentials.of(descriptor.raw), who.uid == peer else {
                continue
            }
            if let connection = try? Connection(descriptor) { return connection }
        }
        return nil
    }

    /// Serves one connection to its end; until when another one may come.
    private static func talk(
        _ connection: Connection, _ arguments: Arguments, _ until: UInt64?,
        _ termination: Termination, _ readers: Readers
    ) -> UInt64? {
        // Who has just come is heard, also at the very end of the quiet.
        var until = until.map { max($0, Clock.bootMilliseconds() + 2_000) }
        termination.handler = { connection.stop() }
        defer { termination.handler = {} }
        while !connection.hasEnded, !termination.isDue {
            let came = MainContext.turn(until: until) {
                connection.hasRequest || connection.hasEnded || termination.isDue
            }
            guard came else { break }
            guard let (nonce, request, stop) = connection.begin() else { continue }
            readers.forgetAfterSleep()
            let exchange = Exchange(nonce: nonce, stop: stop, on: connection)
            Session(exchange, readers).run(request)
            connection.finish()
            until = arguments.linger.map { Clock.bootMilliseconds() + $0 }
        }
        return until
    }
}
