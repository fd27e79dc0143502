internal import CLinux

/// Reads the person's terminal while the program waits for something else: each key when it is
/// pressed, without showing it. In every case, also if a signal ends the program, the terminal gets
/// back the settings it had.
public struct KeyWatch: ~Copyable {
    public enum Arrival: Equatable, Sendable {
        /// The descriptor has something to read, or its other end is closed.
        case readable
        /// The person pressed Enter or Ctrl-C, or the terminal was closed.
        case givenUp
        case late
        /// A signal that has to end the program as soon as the terminal has its settings back.
        case fatal(Int32)
    }

    private let terminal: Terminal
    private let saved: termios
    private let before: sigset_t
    private let signals: sigset_t
    private let source: Int32

    /// nil if there is no terminal, or if this process is not in its foreground.
    public init?() {
        guard let terminal = Terminal(), tcgetpgrp(terminal.descriptor.raw) == getpgrp() else {
            return nil
        }
        var saved = termios()
        // SAFETY: `saved` is used only if the call has filled it.
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
        // SAFETY: the mask from before, which init has filled.
        var before = before
        unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Sends the signal to this process, which ends it unless the signal is handled. To be called
    /// after the watch is over.
    public static func end(by signal: Int32) { _ = raise(signal) }

    /// Waits until the daemon sends something or the person presses a key.
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
            // SAFETY: three entries; poll skips a negative descriptor.
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
            // The shell may have changed the terminal's settings while this program was stopped.
            take()
            return nil
        case let other: return .fatal(other)
        }
    }

    private func pressed() -> Bool {
        // The person may be typing a passcode: it is wiped and passed to no one.
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
        // SAFETY: the structure was filled by tcgetattr.
        unsafe appvault_key_by_key(&keys)
        apply(keys)
    }

    /// Drops what was typed and not read: the next reader must not get half of a secret.
    private func apply(_ settings: termios) {
        var settings = settings
        _ = tcflush(terminal.descriptor.raw, TCIFLUSH)
        // SAFETY: tcgetattr filled the structure, and at most its flags were changed.
        _ = unsafe tcsetattr(terminal.descriptor.raw, TCSANOW, &settings)
    }
}
