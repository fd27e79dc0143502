import Client
import Posix

/// Where the agent finds what it works with. The options are for tests and private set-ups.
struct AgentOptions: Sendable {
    var socket = Connection.defaultPath
    var tool = "/usr/bin/appvault"
    var window = "/usr/bin/appvault-desktop"
    var windows = "/usr/libexec/appvault/appvault-windows"

    /// Nil if the arguments are not understood.
    init?(_ arguments: [[UInt8]]) {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst(), value.first == 0x2F else { return nil }
            switch String(decoding: flag, as: UTF8.self) {
            case "--socket": socket = value
            case "--tool": tool = String(decoding: value, as: UTF8.self)
            case "--window": window = String(decoding: value, as: UTF8.self)
            case "--windows": windows = String(decoding: value, as: UTF8.self)
            default: return nil
            }
        }
    }
}
