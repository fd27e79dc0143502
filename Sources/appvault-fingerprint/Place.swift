internal import CFprint
import Posix

/// Where a reader is plugged in, and whether it can be unplugged.
struct Place {
    var port: [UInt8]
    var isInternal: Bool

    // SAFETY: the caller's device is alive.
    static func of(_ device: UnsafeMutablePointer<FpDevice>, fixed: Bool) -> Place {
        if let usb = unsafe appvault_usb(device) {
            defer { unsafe g_object_unref(UnsafeMutableRawPointer(usb)) }
            guard let id = unsafe g_usb_device_get_platform_id(usb) else {
                return Place(port: [], isInternal: false)
            }
            return usbPlace(unsafe String(cString: id))
        }
        if let path = unsafe appvault_spi(device) {
            defer { unsafe g_free(path) }
            // A bus of the board.
            return Place(port: unsafe Text.of(path), isInternal: true)
        }
        return Place(port: [], isInternal: fixed)
    }

    /// GUsb's name is the bus, a zero for its root, and the ports behind it, in hexadecimal:
    /// "usb:01:00:09".
    private static func usbPlace(_ id: String) -> Place {
        let numbers = id.split(separator: ":").dropFirst().map { UInt8($0, radix: 16) ?? 0 }
        guard let bus = numbers.first, numbers.count > 1 else {
            return Place(port: [], isInternal: false)
        }
        let ports = numbers.dropFirst().filter { $0 != 0 }.map { "\($0)" }.joined(separator: ".")
        let folder = "/sys/bus/usb/devices/\(bus)-\(ports)"
        let removable = (try? TextFile.read(at: folder + "/removable", limit: 64)) ?? []
        // A bus is numbered anew at each start; its controller stays where it is.
        let path = (try? Folder.realPath(folder)) ?? ""
        return Place(
            port: Array("\(controller(in: path) ?? "usb\(bus)")/\(ports)".utf8),
            isInternal: removable.starts(with: Array("fixed".utf8)))
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
