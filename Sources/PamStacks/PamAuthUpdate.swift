/// Whether pam-auth-update still changes common-*, decided as it decides this itself (in its
/// diff_profiles). It changes nothing any more if its blocks have a line that it did not write, or
/// if a mark of a block is missing.
package enum PamAuthUpdate {
    package enum Standing: Equatable {
        /// This machine does not have the program.
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
            // pam-auth-update accepts that one of its lines was removed, but not that a line was
            // added.
            guard let place = left.firstIndex(of: present) else { return false }
            left = left[(place + 1)...]
        }
        return block == .additional
    }

    /// The control and the module of a line, without the length of a jump.
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
