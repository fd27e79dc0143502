internal import CPam

/// The person's terminal while a reader waits for a finger. It delivers each key as it is pressed
/// and shows none. It is given back when this value's life ends, so on every path.
@safe
struct Terminal: ~Copyable {
    /// Nil where this process has no terminal, or is not in the foreground of it.
    private let state: UnsafeMutablePointer<appvault_pam_terminal>?

    init() {
        // SAFETY: ours from here on, or nil.
        unsafe state = appvault_pam_terminal_open()
    }

    private init(_: Void) {
        // SAFETY: nothing is pointed at.
        unsafe state = nil
    }

    /// No terminal: keys are not watched.
    static var none: Terminal { Terminal(()) }

    deinit {
        // SAFETY: ours, and not used after this; the shim takes nil.
        unsafe appvault_pam_terminal_close(state)
    }

    /// What came first; nothing when the time has passed or a signal interrupted the wait.
    func wait(_ socket: Int32, _ milliseconds: Int32) -> Arrival {
        // SAFETY: the terminal lives during the call; the shim takes nil.
        let bits = unsafe appvault_pam_wait_scan(socket, state, milliseconds)
        return Arrival(bits: max(0, bits))
    }

    /// The kernel's answer, as `Memory.receive` gives it.
    @unsafe
    func read(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
        // SAFETY: the caller has that much room; the shim takes nil.
        unsafe appvault_pam_keys(state, start, count)
    }
}

extension Terminal {
    struct Arrival {
        let bits: Int32

        var isSomething: Bool { bits != 0 }
        var hasFrame: Bool { bits & Int32(APPVAULT_PAM_FRAME) != 0 }
        var hasKey: Bool { bits & Int32(APPVAULT_PAM_KEY) != 0 }
        /// A signal that would end or stop this process. It is held back while the module has the
        /// terminal.
        var hasSignal: Bool { bits & Int32(APPVAULT_PAM_SIGNAL) != 0 }
    }
}
