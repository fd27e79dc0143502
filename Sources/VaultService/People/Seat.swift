internal import CSystemd
import Policy
import Posix

/// The lid, as logind knows it. Blocking: on a worker only.
enum Seat {
    /// Machines without a lid report it as open.
    static func lid() -> Lid {
        guard let bus = Bus.open(), let isShut = bus.lidIsShut() else { return .unknown }
        return isShut ? .shut : .open
    }
}

/// Whether logind is putting the machine to sleep. Blocking: on a worker only.
enum ComingSleep {
    static func isNear() -> Bool {
        guard let bus = Bus.open() else { return false }
        return bus.sleepIsNear() ?? false
    }
}

/// One connection to the system bus, for one question.
@safe
private struct Bus: ~Copyable {
    private let bus: OpaquePointer

    static func open() -> Bus? {
        var bus: OpaquePointer?
        // SAFETY: sd-bus fills the pointer, or leaves it null.
        guard unsafe sd_bus_open_system(&bus) >= 0, let bus = unsafe bus else { return nil }
        unsafe sd_bus_set_method_call_timeout(bus, 1_000_000)
        return unsafe Bus(bus: bus)
    }

    private init(bus: OpaquePointer) {
        unsafe self.bus = bus
    }

    deinit {
        unsafe sd_bus_flush_close_unref(bus)
    }

    borrowing func lidIsShut() -> Bool? { flag("LidClosed") }

    borrowing func sleepIsNear() -> Bool? { flag("PreparingForSleep") }

    private borrowing func flag(_ name: String) -> Bool? {
        var value: Int32 = 0
        let manager = "org.freedesktop.login1.Manager"
        let path = "/org/freedesktop/login1"
        return unsafe appvault_login_flag(bus, path, manager, name, &value) < 0
            ? nil : value != 0
    }
}
