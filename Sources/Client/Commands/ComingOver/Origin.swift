import Posix
import Wire

/// The program whose secrets come over.
enum Origin: String, CaseIterable, Equatable {
    case keyring, kwallet, pass

    /// A file of this name is reached as ./NAME.
    init?(_ operand: [UInt8]) {
        self.init(rawValue: String(decoding: operand, as: UTF8.self))
    }
}

/// The folders where other programs keep what comes over; nil without a home folder.
struct OriginFolders {
    let variable: (String) -> [UInt8]?

    var keyrings: String? { data.map { $0 + "/keyrings" } }
    var wallets: String? { data.map { $0 + "/kwalletd" } }
    /// Where KWallet's settings are.
    var walletSettings: String? { folder("XDG_CONFIG_HOME", "/.config").map { $0 + "/kwalletrc" } }
    var passwords: String? { folder("PASSWORD_STORE_DIR", "/.password-store") }

    private var data: String? { folder("XDG_DATA_HOME", "/.local/share") }

    /// One that is not absolute is to be ignored.
    private func folder(_ name: String, _ usual: String) -> String? {
        func path(_ bytes: [UInt8]) -> String? {
            let text = String(validating: bytes, as: UTF8.self)
            return text.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return variable(name).flatMap(path) ?? variable("HOME").flatMap(path).map { $0 + usual }
    }
}
