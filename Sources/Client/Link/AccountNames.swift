import Posix

/// What AccountsService says of the account that runs this: asked over the system bus by systemd's
/// busctl, where both are. Without them there is a name and no picture.
struct AccountNames {
    struct Account: Equatable {
        /// Empty where nobody says one.
        var realName: [UInt8] = []
        /// A file that shows the person; nil where there is none, or where it lies at a place that is
        /// neither AccountsService's nor the person's.
        var picture: String?
    }

    let signals: HeldSignals
    let core: ToolIO.CoreLimit

    private static let patience: Int32 = 3_000
    static let icons = "/var/lib/AccountsService/icons"

    func account(of uid: UInt32, home: String?) -> Account {
        let found = run([
            "call", "org.freedesktop.Accounts", "/org/freedesktop/Accounts",
            "org.freedesktop.Accounts", "FindUserById", "x", String(uid),
        ])
        guard let path = found?.last.flatMap(Self.text), path.hasPrefix("/org/freedesktop/") else {
            return Account()
        }
        let answers =
            run([
                "get-property", "org.freedesktop.Accounts", path, "org.freedesktop.Accounts.User",
                "RealName", "IconFile",
            ]) ?? []
        guard answers.count >= 2 else { return Account() }
        let values = answers.suffix(2).map(Self.text)
        return Account(
            realName: Array((values[0] ?? "").utf8),
            picture: values[1].flatMap { Self.picture($0, home: home) })
    }

    private func run(_ words: [String]) -> [[UInt8]]? {
        let command = ["/usr/bin/busctl", "--system", "--timeout=3"] + words
        let ended = try? StartedCommand.output(
            of: command.map { Array($0.utf8) }, signals, core: core, milliseconds: Self.patience)
        guard let ended, ended.status == 0 else { return nil }
        return ended.lines
    }

    // MARK: what is believed

    /// As busctl shows a text: `s "Ann Lee"`, with whatever is not plain ASCII as in C.
    static func text(_ line: [UInt8]) -> String? {
        guard let first = line.firstIndex(of: 0x22), let last = line.lastIndex(of: 0x22),
            first < last
        else { return nil }
        var bytes: [UInt8] = []
        var rest = line[(first + 1)..<last]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let kind = rest.popFirst() else { return nil }
            switch kind {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): bytes.append(kind)
            case UInt8(ascii: "0")...UInt8(ascii: "3"):
                let digits = [kind] + rest.prefix(2)
                guard digits.count == 3,
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
                else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            case _: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of a picture are a stranger's, and so is its name: no other program's file is one.
    static func picture(_ path: String, home: String?) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/"), path.utf8.count <= 255, !parts.contains(".."),
            !parts.contains("."), !parts.dropFirst().contains(""),
            path.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        if parts.dropLast().joined(separator: "/") == icons { return path }
        guard let home, home.count > 1, home.hasPrefix("/"), path.hasPrefix(home + "/") else {
            return nil
        }
        return path
    }
}
