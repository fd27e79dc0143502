internal import Glibc

/// The terminal of this process, for lines that a person types.
enum Terminal {
    /// A line without its end, as it was typed; nil at the end of the input, after Ctrl-C, and where
    /// there is no terminal. Nothing of a secret is shown, and the terminal is left as it was.
    ///
    /// It waits on a thread of its own, and leaves that when the task is cancelled.
    static func line(_ prompt: String, isVisible: Bool) async -> SecretBytes? {
        // SAFETY: of each open: Swift passes a string that ends with a NUL.
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return nil }
        let terminal = Descriptor(owning: number)
        var before = termios()
        // SAFETY: the structure is ours.
        guard unsafe tcgetattr(terminal.raw, &before) == 0 else { return nil }
        var during = before
        // Each key comes at once, so that Ctrl-C is a key like others and the task can be cancelled.
        during.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        // SAFETY: as above.
        unsafe tcsetattr(terminal.raw, TCSAFLUSH, &during)
        defer {
            // SAFETY: as above.
            unsafe tcsetattr(terminal.raw, TCSAFLUSH, &before)
        }
        show(prompt, on: terminal.raw)
        var line: SecretBytes? = SecretBytes()
        while line != nil {
            let outcome = await Poller.shared.wait(
                for: terminal.raw, .readable, until: nil, cancellable: true)
            var byte: UInt8 = 0
            // SAFETY: one byte is written.
            guard outcome == .ready, unsafe read(terminal.raw, &byte, 1) == 1 else {
                line = nil
                break
            }
            switch byte {
            case 10, 13:
                show("\n", on: terminal.raw)
                return line.take()
            case 3, 4: line = nil
            case 8, 127:
                line!.dropCharacter()
                if isVisible { show("\u{8} \u{8}", on: terminal.raw) }
            case 21:
                line!.removeAll()
            case 0..<32: break
            default:
                line!.append(byte)
                if isVisible {
                    // SAFETY: one byte is read.
                    _ = unsafe write(terminal.raw, &byte, 1)
                }
            }
            byte = 0
        }
        show("\n", on: terminal.raw)
        return nil
    }

    /// Whether this process has a terminal.
    static var isThere: Bool {
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return false }
        _ = Descriptor(owning: number)
        return true
    }

    /// Writes the text to the terminal, where there is one.
    static func show(_ text: String) {
        let number = unsafe open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return }
        let terminal = Descriptor(owning: number)
        show(text, on: terminal.raw)
    }

    static func show(_ bytes: Span<UInt8>) {
        let number = unsafe open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return }
        let terminal = Descriptor(owning: number)
        // SAFETY: no more is read than there is.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(terminal.raw, $0.baseAddress, $0.count) }
    }

    private static func show(_ text: String, on terminal: Int32) {
        var text = text
        // SAFETY: no more is read than there is.
        _ = text.withUTF8 { unsafe write(terminal, $0.baseAddress, $0.count) }
    }
}
