/// Whether pam-auth-update still writes common-*, as it decides that itself (its diff_profiles): a line in its blocks that
/// it did not write, or a mark that is gone, and it changes nothing any more.
package enum PamAuthUpdate {
    package enum Standing: Equatable {
        /// There is no such program here.
        case absent
        case writes
        case handEdited(String)
    }

    package static let types = ["auth", "account", "password", "session", "session-noninteractive"]
    private static let primary = "# here are the per-package modules (the \"Primary\" block)"
    private static let fallback = "# here's the fallback if no module succeeds"
    private static let additional =
        "# and here are more per-package modules (the \"Additional\" block)"
    private static let end = "# end of pam-auth-update config"

    package static func standing(_ source: PamSource) -> Standing {
        guard source.presence("/usr/sbin/pam-auth-update") == .there else { return .absent }
        for type in types {
            let path = "/etc/pam.d/common-\(type)"
            guard let saved = source.text("/var/lib/pam/\(type)"), let text = source.text(path)
            else { return .handEdited(path) }
            if !isWritten(text, type, saved) { return .handEdited(path) }
        }
        return .writes
    }

    private enum Block { case before, primary, between, additional }

    private static func isWritten(_ text: String, _ type: String, _ saved: String) -> Bool {
        var left = saved.split(separator: "\n").filter { !$0.hasPrefix("Module:") }
            .compactMap { module(String($0)) }[...]
        let kind = type.replacing("-noninteractive", with: "")
        var block = Block.before
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch block {
            case .before:
                if line.hasPrefix(primary) { block = .primary }
                continue
            case .between:
                if line.hasPrefix(additional) { block = .additional }
                continue
            case .primary:
                if line.hasPrefix(fallback) {
                    block = .between
                    continue
                }
            case .additional: if line.hasPrefix(end) { return true }
            }
            guard line.hasPrefix(kind), let present = module(String(line.dropFirst(kind.count)))
            else { return false }
            // A line that was taken out is kept out; one that was added is nobody's.
            guard let place = left.firstIndex(of: present) else { return false }
            left = left[(place + 1)...]
        }
        return block == .additional
    }

    /// Control and module, without how far it jumps.
    private static func module(_ line: String) -> String? {
        guard let lines = PamText.lines(Array("auth \(line)".utf8)), let words = lines.first?.words,
            words.count > 2
        else { return nil }
        let control =
            words[1].hasPrefix("[")
            ? words[1].replacing("end", with: "").filter { !$0.isNumber } : words[1]
        return control + " " + words[2]
    }
}
