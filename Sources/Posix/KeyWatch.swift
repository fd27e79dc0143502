internal import CLinux

/// The person's terminal while something else is waited for: each key as it is pressed, none shown. Whatever happens,
/// a signal that ends the program included, the terminal is left as it was found.
public struct KeyWatch: ~Copyable {
    public enum Arrival: Equatable, Sendable {
        /// The descriptor has something to read, or its other end is gone.
        case readable
        /// Enter or Ctrl-C, or the terminal went away.
        case givenUp
        case late
        /// It has to end the program as soon as the terminal is given back.
        case fatal(Int32)
    }

    private let terminal: Terminal
    private let saved: termios
    private let before: sigset_t
    private let signals: sigset_t
    private let source: Int32

    /// nil where there is no terminal, or this process is not in front of it.
    public init?() {
        guard let terminal = Terminal(), tcgetpgrp(terminal.descriptor.raw) == getpgrp() else {
            return nil
        }
        var saved = termios()
        // SAFETY: filled by the call, or not used.
        guard unsafe tcgetattr(terminal.descriptor.raw, &saved) == 0 else { return nil }
        var signals = sigset_t()
        var before = sigset_t()
        // SAFETY: both sets are ours; the mask is put back at the end.
        unsafe appvault_prompt_signals(&signals)
        unsafe _ = pthread_sigmask(SIG_BLOCK, &signals, &before)
        source = unsafe signalfd(-1, &signals, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        self.terminal = terminal
        self.saved = saved
        self.before = before
        self.signals = signals
        take()
    }

    deinit {
        apply(saved)
        if source >= 0 { _ = close(source) }
        // SAFETY: the mask from before, filled at the beginning.
        var before = before
        unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Ends the program, unless somebody wants it otherwise; to be called when the watch is over.
    public static func end(by signal: Int32) { _ = raise(signal) }

    /// Until the daemon says something, or the person does.
    public func wait(for socket: borrowing ClientSocket, _ milliseconds: Int32) -> Arrival {
        wait(socket.raw, milliseconds)
    }

    func wait(_ descriptor: Int32, _ milliseconds: Int32) -> Arrival {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.descriptor.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: source, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // SAFETY: three entries; a negative descriptor is passed over by poll.
            let found = unsafe poll(&watched, 3, milliseconds)
            if found < 0, appvault_errno() == EINTR { continue }
            guard found > 0 else { return .late }
            if watched[2].revents != 0, let end = signalled() { return end }
            if watched[1].revents != 0, pressed() { return .givenUp }
            if watched[0].revents != 0 { return .readable }
        }
    }

    private func signalled() -> Arrival? {
        switch appvault_next_signal(source) {
        case 0: return nil
        case SIGINT, SIGQUIT: return .givenUp
        case SIGTSTP:
            apply(saved)
            terminal.stop(before, signals)
            take()
            return nil
        case SIGCONT:
            // A shell that stopped us may have changed the terminal's settings.
            take()
            return nil
        case let other: return .fatal(other)
        }
    }

    private func pressed() -> Bool {
        // Somebody may be typing a passcode: it is wiped, and goes nowhere.
        var keys = SecretBuffer(capacity: 64)
        guard let count = try? keys.read(from: terminal.descriptor.raw, atMost: 64), count > 0
        else { return true }
        for index in 0..<keys.count where keys[index] == 0x0A || keys[index] == 0x0D {
            return true
        }
        return false
    }

    private func take() {
        var keys = saved
        // SAFETY: a structure that tcgetattr filled.
        unsafe appvault_key_by_key(&keys)
        apply(keys)
    }

    /// What was typed and not read is dropped: half of a secret must not come to the next reader.
    private func apply(_ settings: termios) {
        var settings = settings
        _ = tcflush(terminal.descriptor.raw, TCIFLUSH)
        // SAFETY: a structure that tcgetattr filled, changed at most in its flags.
        _ = unsafe tcsetattr(terminal.descriptor.raw, TCSANOW, &settings)
    }
}
