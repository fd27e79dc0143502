internal import CFprint
import Posix

/// Where a reader is plugged in, and whether it is built into the machine.
struct Place {
    var port: [UInt8]
    var isInternal: Bool
    /// The kernel itself says that it is.
    var isFixed: Bool

    // SAFETY: the caller's device is alive.
    static func of(
        _ device: UnsafeMutablePointer<FpDevice>, driver: [UInt8], fixed: Bool
    ) -> Place {
        if let usb = unsafe appvault_usb(device) {
            defer { unsafe g_object_unref(UnsafeMutableRawPointer(usb)) }
            guard let id = unsafe g_usb_device_get_platform_id(usb) else {
                return Place(port: [], isInternal: false, isFixed: false)
            }
            return usbPlace(
                unsafe String(cString: id), driver: String(decoding: driver, as: UTF8.self))
        }
        if let path = unsafe appvault_spi(device) {
            defer { unsafe g_free(path) }
            // A bus of the board.
            return Place(port: unsafe Text.of(path), isInternal: true, isFixed: true)
        }
        return Place(port: [], isInternal: fixed, isFixed: fixed)
    }

    /// GUsb's name is the bus, a zero for its root, and the ports behind it, in hexadecimal:
    /// "usb:01:00:09".
    private static func usbPlace(_ id: String, driver: String) -> Place {
        let numbers = id.split(separator: ":").dropFirst().map { UInt8($0, radix: 16) ?? 0 }
        guard let bus = numbers.first, numbers.count > 1 else {
            return Place(port: [], isInternal: false, isFixed: false)
        }
        let ports = numbers.dropFirst().filter { $0 != 0 }.map { "\($0)" }
        let folders = ports.indices.map { last in
            "/sys/bus/usb/devices/\(bus)-\(ports[...last].joined(separator: "."))"
        }
        // A bus is numbered anew at each start; its controller stays where it is.
        let path = folders.last.flatMap { try? Folder.realPath($0) } ?? ""
        let port = "\(controller(in: path) ?? "usb\(bus)")/\(ports.joined(separator: "."))"
        let attachment = Attachment(devices: folders, driver: driver)
        return Place(
            port: Array(port.utf8), isInternal: attachment.isInternal, isFixed: attachment.isFixed)
    }

    /// The folder above "usb1".
    private static func controller(in path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let place = parts.firstIndex(where: { $0.hasPrefix("usb") }), place > 0 else {
            return nil
        }
        return String(parts[place - 1])
    }
}
