import Posix

/// Which of the ways of living with AppVault this machine's logins are set up for.
enum PamWiring: Equatable {
    /// A login password opens the store behind the person's back.
    case followsLogin
    /// AppVault asks for a passcode of its own.
    case ownPasscode
    case none

    /// What stands in `login` and `common-auth` and what they include.
    static func of(folder: [UInt8] = Array("/etc/pam.d".utf8)) -> PamWiring {
        var lines: [[Substring]] = []
        var seen: Set<String> = []
        for service in ["common-auth", "login"] { collect(service, folder, &seen, &lines) }
        let ours = lines.filter {
            $0.contains { $0 == "pam_appvault.so" || $0.hasSuffix("/pam_appvault.so") }
        }
        if ours.isEmpty { return .none }
        return ours.allSatisfy { $0.contains("unlock") } ? .followsLogin : .ownPasscode
    }

    /// The words of each line that concerns `auth`.
    private static func collect(
        _ service: String, _ folder: [UInt8], _ seen: inout Set<String>,
        _ lines: inout [[Substring]]
    ) {
        guard seen.count < 64, seen.insert(service).inserted else { return }
        let path = service.hasPrefix("/") ? Array(service.utf8) : folder + Array("/\(service)".utf8)
        guard let text = ToolIO.contents(of: path) else { return }
        let unfolded = String(decoding: text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: true)
        for line in unfolded {
            let code = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let words = code.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = words.first, words.count > 1 else { continue }
            if first == "@include" {
                collect(String(words[1]), folder, &seen, &lines)
            } else if first == "auth" || first == "-auth" {
                if words.count > 2, words[1] == "include" || words[1] == "substack" {
                    collect(String(words[2]), folder, &seen, &lines)
                } else {
                    lines.append(Array(words))
                }
            }
        }
    }
}
