internal import CLinux

extension Terminal {
    /// What somebody who draws while a person types has to hear of.
    public enum Event: Equatable, Sendable {
        /// More bytes stand in the buffer.
        case typed
        /// The screen is not as it was left: another size, or a shell in between. What was typed
        /// so far is gone in the latter case.
        case disturbed
        case resumed
    }

    public enum Watching: Equatable, Sendable {
        case goesOn
        case ends
    }

    public enum KeysEnd: Equatable, Sendable {
        /// The one who was told of the keys has enough.
        case finished
        case endOfInput
        case interrupted
    }

    public var rows: Int { Int(appvault_rows(descriptor.raw)) }

    /// Hands on every key as it is pressed; nothing shows by itself. Whatever happens, an error of
    /// `handle`, Ctrl-C and a signal that ends the program included, the terminal is left as it was
    /// found.
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
        // SAFETY: filled by the call, or not used.
        guard unsafe tcgetattr(descriptor.raw, &saved) == 0 else { return .endOfInput }
        // What was typed and not read is half a secret: the shell must not get it.
        defer { apply(saved, TCSAFLUSH) }
        keyByKey(saved)
        guard try handle(.resumed, &typed) == .goesOn else { return .finished }
        while true {
            var watched = [
                pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: source, events: Int16(POLLIN), revents: 0),
            ]
            // SAFETY: two entries; a negative descriptor is passed over by poll.
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
                    // A shell that stopped us may have changed the terminal's settings.
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
        // SAFETY: a structure that tcgetattr filled.
        unsafe appvault_key_by_key(&asking)
        apply(asking, TCSAFLUSH)
    }

    private func apply(_ settings: termios, _ when: Int32) {
        var settings = settings
        // SAFETY: a structure that tcgetattr filled, changed at most in its flags.
        _ = unsafe tcsetattr(descriptor.raw, when, &settings)
    }
}
