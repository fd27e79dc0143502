/// Whom LightDM logs in without a password. Its service for that is there wherever LightDM is.
extension Doctor {
    static let autologinService = "lightdm-autologin"

    func autologinFindings() -> [Finding] {
        autologinUsers.map { user in
            Finding(
                .pam, .warning,
                "LightDM logs \(user) in without a password: that opens no store",
                name: Self.autologinService,
                mend: "`appvault unlock` in the session; autologin-user= in LightDM's configuration"
            )
        }
    }

    /// LightDM lays its files over each other key by key, in this order.
    private var autologinUsers: [String] {
        let folders = [
            "/usr/share/lightdm/lightdm.conf.d", "/usr/local/share/lightdm/lightdm.conf.d",
            "/etc/xdg/lightdm/lightdm.conf.d", "/etc/lightdm/lightdm.conf.d",
        ]
        let dropIns = folders.flatMap { folder in
            machine.names(folder).filter { $0.hasSuffix(".conf") }.sorted().map {
                "\(folder)/\($0)"
            }
        }
        var users: [String: String] = [:]
        for path in dropIns + ["/etc/lightdm/lightdm.conf"] {
            var section = ""
            for line in machine.text(path)?.split(separator: "\n") ?? [] {
                let words = line.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false
                ).map(Self.trimmed)
                if words[0].hasPrefix("[") {
                    section = words[0]
                } else if words.count == 2, words[0] == "autologin-user" {
                    users[section] = words[1]
                }
            }
        }
        return Set(users.values).subtracting([""]).sorted()
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
