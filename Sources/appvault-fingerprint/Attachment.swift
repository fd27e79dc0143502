import Posix

/// What the kernel and udev say about how a USB reader is attached to the machine.
struct Attachment {
    private enum Joint { case fixed, removable, unknown }

    private struct Device {
        var joint: Joint
        /// The firmware says that the port is in a docking station, or in a laptop's lid.
        var isInDock: Bool
        var isInLid: Bool
    }

    /// The hubs between the machine and the reader, from the machine on; then the reader.
    private let hubs: [Device]
    private let reader: Device
    /// udev's ID_INTEGRATION.
    private let integration: String
    private let isLaptopChip: Bool

    /// Drivers of chips that compare fingers themselves. They are sold to makers of laptops.
    private static let laptopChips: Set = [
        "egismoc", "elanmoc", "focaltech_moc", "fpcmoc", "goodixmoc", "realtek", "synaptics",
    ]
    /// Kensington puts such chips into readers to plug in.
    private static let pluggedVendors: Set = ["047d"]

    /// The folders in /sys of each device on the way to the reader; the last is the reader.
    init(devices folders: [String], driver: String) {
        let devices = folders.map(Self.device)
        hubs = Array(devices.dropLast())
        reader = devices.last ?? Device(joint: .unknown, isInDock: false, isInLid: false)
        let folder = folders.last ?? ""
        integration = Self.integration(of: folder)
        isLaptopChip =
            Self.laptopChips.contains(driver) && Self.isLaptop
            && !Self.pluggedVendors.contains(Self.word(folder + "/idVendor"))
    }

    /// The kernel says so of the reader, and of each hub on the way to it.
    var isFixed: Bool { reader.joint == .fixed && hubs.allSatisfy { $0.joint == .fixed } }

    /// Whether the reader is built into the machine, as far as can be known.
    var isInternal: Bool {
        // Behind a hub that can be unplugged nothing is built in, whatever that hub says of its
        // own ports: a keyboard with a reader in it, or something that plays one.
        if hubs.contains(where: { $0.joint == .removable || $0.isInDock }) || reader.isInDock {
            return false
        }
        switch (integration, reader.joint) {
        // An administrator's rule or the hardware database knows better than the kernel. Where
        // both agree, udev only repeats what the kernel says.
        case ("internal", .removable), ("internal", .unknown): return true
        case ("external", .fixed): return false
        default: break
        }
        if isFixed { return true }
        // Most firmware does not say it, or calls every port one that people plug into.
        return reader.isInLid || isLaptopChip
    }

    /// What the firmware calls a machine that is carried about: portable, laptop, notebook, sub
    /// notebook, tablet, convertible, detachable (SMBIOS, system enclosure types).
    private static let laptops: Set = ["8", "9", "10", "14", "30", "31", "32"]

    private static var isLaptop: Bool {
        laptops.contains(word("/sys/class/dmi/id/chassis_type")) || hasLid
    }

    /// A switch of the kernel's kind SW_LID, whose number is 0.
    private static var hasLid: Bool {
        let inputs = "/sys/class/input"
        let names = (try? Folder(path: inputs).names()) ?? []
        return names.contains { name in
            guard name.hasPrefix("input") else { return false }
            let switches = word("\(inputs)/\(name)/capabilities/sw")
            return (UInt64(switches, radix: 16) ?? 0) & 1 == 1
        }
    }

    private static func device(_ folder: String) -> Device {
        func firmware(_ word: String) -> Bool {
            ["/physical_location/", "/port/physical_location/"].contains {
                Self.word(folder + $0 + word) == "yes"
            }
        }
        let joint: Joint =
            switch (word(folder + "/removable"), word(folder + "/port/connect_type")) {
            case ("fixed", _), ("unknown", "hardwired"): .fixed
            case ("removable", _), ("unknown", "hotplug"): .removable
            default: .unknown
            }
        return Device(joint: joint, isInDock: firmware("dock"), isInLid: firmware("lid"))
    }

    private static func integration(of folder: String) -> String {
        let name = "ID_INTEGRATION="
        let path = "/run/udev/data/c\(word(folder + "/dev"))"
        let data = (try? TextFile.read(at: path, limit: 65_536)) ?? []
        let line = data.split(separator: 0x0A).last { $0.starts(with: Array("E:\(name)".utf8)) }
        return line.map { String(decoding: $0.dropFirst(name.utf8.count + 2), as: UTF8.self) } ?? ""
    }

    /// The one word in a file of /sys; empty where there is none.
    private static func word(_ path: String) -> String {
        let bytes = (try? TextFile.read(at: path, limit: 64)) ?? []
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
