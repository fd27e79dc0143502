internal import CLinux

/// The clocks that AppVault uses, in milliseconds. Deadlines and throttles use the boot clock: it
/// cannot be set, and it goes on while the machine sleeps.
public enum Clock {
    public static func bootMilliseconds() -> UInt64 {
        appvault_clock_ms(CLOCK_BOOTTIME)
    }

    /// For times shorter than a millisecond.
    public static func monotonicNanoseconds() -> UInt64 {
        appvault_clock_ns(CLOCK_MONOTONIC)
    }

    /// The processor time of the calling thread. Unlike the other clocks, it costs a system call.
    static func threadNanoseconds() -> UInt64 {
        appvault_clock_ns(CLOCK_THREAD_CPUTIME_ID)
    }

    /// How long the machine has slept since it was started.
    public static func sleptMilliseconds() -> UInt64 {
        slept(boot: bootMilliseconds, awake: { appvault_clock_ms(CLOCK_MONOTONIC) })
    }

    /// A thread that is held up between the clocks would find too little, and the next time find the
    /// rest, as a sleep that was none. So they are read anew until nothing came between them.
    static func slept(boot: () -> UInt64, awake: () -> UInt64) -> UInt64 {
        while true {
            let before = awake()
            let now = boot()
            if awake() <= before + 1 { return now > before ? now - before : 0 }
        }
    }

    /// Seconds since 1970, only to show to a person; no decision may depend on it.
    public static func wallSeconds() -> UInt64 {
        appvault_clock_ms(CLOCK_REALTIME) / 1000
    }

    /// The kernel's id of this boot: 16 bytes, or zeros if it cannot be read.
    public static func bootID() -> [UInt8] {
        var id: [UInt8] = []
        if let text = try? TextFile.read(at: "/proc/sys/kernel/random/boot_id", limit: 64) {
            var high: UInt8?
            for byte in text {
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                default: continue
                }
                if let first = high {
                    id.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            }
        }
        return id.count == 16 ? id : [UInt8](repeating: 0, count: 16)
    }
}
