internal import CLinux

extension Terminal {
    /// What happens while a program draws and a person types.
    public enum Event: Equatable, Sendable {
        /// The buffer has more bytes.
        case typed
        /// The terminal has another size.
        case disturbed
        /// At the beginning, and after the program was stopped and continued. What was typed so far
        /// is gone, and a shell may have written on the screen.
        case resumed
    }

    public enum Watching: Equatable, Sendable {
        case goesOn
        case ends
    }

    public enum KeysEnd: Equatable, Sendable {
        /// `handle` does not want any more keys.
        case finished
        case endOfInput
        case interrupted
    }

    public var rows: Int { Int(appvault_rows(descriptor.raw)) }

    /// Gives every key to `handle` when it is pressed; the terminal does not show it. In every
    /// case, also if `handle` throws, after Ctrl-C, or if a signal ends the program, the terminal
    /// gets back the settings it had.
    public func keys<E: Error>(
        into typed: inout SecretBuffer,
        _ handle: (Event, inout SecretBuffer) throws(E) -> Watching
    ) throws(E) -> KeysEnd {
        var signals = sigset_t()
        var before = sigset_t()
        // SAFETY: both sets are ours; the mask is put back below.
        unsafe appvault_prompt_signals(&signals)
        unsafe _ = sigaddset(&signals, SIGWINCH)
        unsafe _ = pthread_sigmask(SIG_BLOCK, &signals, &before)
        let source = unsafe signalfd(-1, &signals, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        var fatal: Int32 = 0
        defer {
            if source >= 0 { _ = close(source) }
            // SAFETY: the mask from before, filled by the call above.
            unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
            if fatal != 0 { _ = raise(fatal) }
        }
        return try watch(source, before, signals, &typed, &fatal, handle)
    }

    private func watch<E: Error>(
        _ source: Int32, _ before: sigset_t, _ signals: sigset_t, _ typed: inout SecretBuffer,
        _ fatal: inout Int32, _ handle: (Event, inout SecretBuffer) throws(E) -> Watching
    ) throws(E) -> KeysEnd {
        var saved = termios()
        // SAFETY: `saved` is used only if the call has filled it.
        guard unsafe tcgetattr(descriptor.raw, &saved) == 0 else { return .endOfInput }
        // What was typed and not read may be half of a secret: the shell must not get it.
        defer { apply(saved, TCSAFLUSH) }
        keyByKey(saved)
        guard try handle(.resumed, &typed) == .goesOn else { return .finished }
        while true {
            var watched = [
                pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: source, events: Int16(POLLIN), revents: 0),
            ]
            // SAFETY: two entries; poll skips a negative descriptor.
            _ = unsafe poll(&watched, 2, -1)
            let event: Event
            if watched[1].revents != 0 {
                switch appvault_next_signal(source) {
                case SIGINT, SIGQUIT:
                    write([0x0A])
                    return .interrupted
                case SIGWINCH: event = .disturbed
                case SIGTSTP:
                    write([0x0A])
                    apply(saved, TCSAFLUSH)
                    stop(before, signals)
                    typed.removeAll()
                    keyByKey(saved)
                    event = .resumed
                case SIGCONT:
                    // The shell may have changed the terminal's settings while this program was
                    // stopped.
                    typed.removeAll()
                    keyByKey(saved)
                    event = .resumed
                case let other where other != 0:
                    write([0x0A])
                    fatal = other
                    return .interrupted
                default: continue
                }
            } else {
                guard watched[0].revents != 0 else { continue }
                guard let got = try? typed.read(from: descriptor.raw, atMost: 1024), got > 0 else {
                    return .endOfInput
                }
                event = .typed
            }
            guard try handle(event, &typed) == .goesOn else { return .finished }
        }
    }

    private func keyByKey(_ saved: termios) {
        var asking = saved
        // SAFETY: the structure was filled by tcgetattr.
        unsafe appvault_key_by_key(&asking)
        apply(asking, TCSAFLUSH)
    }

    private func apply(_ settings: termios, _ when: Int32) {
        var settings = settings
        // SAFETY: tcgetattr filled the structure, and at most its flags were changed.
        _ = unsafe tcsetattr(descriptor.raw, when, &settings)
    }
}
