internal import CLinux

/// The person's own terminal, wherever standard input and output lead.
public struct Terminal: ~Copyable {
    public enum Answer: Equatable, Sendable {
        case line
        /// The person pressed Ctrl-D, or the terminal was closed.
        case endOfInput
        /// The person pressed Ctrl-C.
        case interrupted
        case tooLong
    }

    let descriptor: FileDescriptor

    /// nil if there is no terminal.
    public init?() {
        // SAFETY: a literal path; the descriptor is owned from here on.
        let number = unsafe appvault_open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY, 0)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
    }

    public var columns: Int { Int(appvault_columns(descriptor.raw)) }

    public func write(_ bytes: [UInt8]) {
        try? ToolIO.write(descriptor.raw, bytes.span)
    }

    public func write(_ secret: borrowing SecretBuffer) {
        secret.withSpan { try? ToolIO.write(descriptor.raw, $0) }
    }

    /// Asks for one line. If `echo` is false, what is typed is not shown. In every case, also after
    /// Ctrl-C or if a signal ends the program, the terminal gets back the settings it had.
    public func ask(
        _ prompt: [UInt8], echo: Bool, limit: Int, into answer: inout SecretBuffer
    ) -> Answer {
        var signals = sigset_t()
        var before = sigset_t()
        // SAFETY: both sets are ours; the mask is put back below.
        unsafe appvault_prompt_signals(&signals)
        unsafe _ = pthread_sigmask(SIG_BLOCK, &signals, &before)
        let source = unsafe signalfd(-1, &signals, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        var fatal: Int32 = 0
        let result = conversation(prompt, echo, limit, source, before, signals, &answer, &fatal)
        if source >= 0 { _ = close(source) }
        // SAFETY: the mask from before, filled by the call above.
        unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
        if fatal != 0 { _ = raise(fatal) }
        return result
    }

    private func conversation(
        _ prompt: [UInt8], _ echo: Bool, _ limit: Int, _ source: Int32, _ before: sigset_t,
        _ signals: sigset_t, _ answer: inout SecretBuffer, _ fatal: inout Int32
    ) -> Answer {
        var saved = termios()
        // SAFETY: `saved` is used only if the call has filled it.
        let known = unsafe tcgetattr(descriptor.raw, &saved) == 0
        defer { if known { restore(saved) } }
        prepare(saved, known, echo)
        write(prompt)
        while true {
            var watched = [
                pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: source, events: Int16(POLLIN), revents: 0),
            ]
            // SAFETY: two entries; poll skips a negative descriptor.
            _ = unsafe poll(&watched, 2, -1)
            if watched[1].revents != 0 {
                switch appvault_next_signal(source) {
                case SIGINT, SIGQUIT:
                    write([0x0A])
                    return .interrupted
                case SIGTSTP:
                    if known { restore(saved) }
                    stop(before, signals)
                    answer.removeAll()
                    prepare(saved, known, echo)
                    write(prompt)
                case SIGCONT:
                    // The shell may have changed the terminal's settings while this program was
                    // stopped.
                    answer.removeAll()
                    prepare(saved, known, echo)
                    write(prompt)
                case let other where other != 0:
                    write([0x0A])
                    fatal = other
                    return .interrupted
                default: break
                }
                continue
            }
            guard watched[0].revents != 0 else { continue }
            guard let got = try? answer.read(from: descriptor.raw, atMost: limit + 1) else {
                return .endOfInput
            }
            if got == 0 {
                write([0x0A])
                return answer.isEmpty ? .endOfInput : .line
            }
            if answer[answer.count - 1] == 0x0A {
                answer.truncate(to: answer.count - 1)
                return answer.count > limit ? .tooLong : .line
            }
            if answer.count > limit {
                _ = tcflush(descriptor.raw, TCIFLUSH)
                write([0x0A])
                return .tooLong
            }
        }
    }

    private func prepare(_ saved: termios, _ known: Bool, _ echo: Bool) {
        guard known else { return }
        var asking = saved
        asking.c_lflag |= tcflag_t(ICANON | ISIG)
        asking.c_iflag |= tcflag_t(ICRNL)
        if !echo {
            asking.c_lflag &= ~tcflag_t(ECHO)
            // The Enter that ends the line is shown nevertheless.
            asking.c_lflag |= tcflag_t(ECHONL)
        }
        // For a secret, earlier input is dropped: what was typed before the question was shown is
        // not meant for it.
        // SAFETY: a structure that tcgetattr filled.
        _ = unsafe tcsetattr(descriptor.raw, echo ? TCSADRAIN : TCSAFLUSH, &asking)
    }

    private func restore(_ saved: termios) {
        var saved = saved
        // SAFETY: a structure that tcgetattr filled.
        _ = unsafe tcsetattr(descriptor.raw, TCSADRAIN, &saved)
    }

    func stop(_ before: sigset_t, _ signals: sigset_t) {
        var before = before
        var signals = signals
        // SAFETY: both masks were filled by the caller.
        unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
        _ = raise(SIGTSTP)
        unsafe _ = pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
