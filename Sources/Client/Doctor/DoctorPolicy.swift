import Policy
import Posix
import Wire

/// Which policy is in force, and what lint finds in its files.
extension Doctor {
    private var configFolder: String {
        daemon.health.map { String(decoding: $0.configFolder, as: UTF8.self) } ?? "/etc/appvault"
    }

    private static let standard = "/usr/lib/appvault/policy.conf"

    /// The files that the daemon reads, and a finding for each file that cannot be read.
    func policyFiles() -> (files: PolicyFiles, unread: [Finding]) {
        var files = PolicyFiles()
        var unread: [Finding] = []
        func read(_ path: String) -> PolicyFile? {
            switch machine.contents(path) {
            case .found(let text): return PolicyFile(name: path, text: text)
            case .missing: return nil
            case .denied:
                unread.append(
                    Finding(
                        .policy, isRoot ? .broken : .unseen, "\(path) cannot be read by everybody",
                        mend: "`chmod 0644 \(path)`"))
            case .failed(let error):
                unread.append(Finding(.policy, .broken, error.description, mend: "`ls -l \(path)`"))
            }
            return nil
        }
        let config = configFolder
        // A daemon with a configuration folder of its own has the built-in values as its default
        // policy.
        if config == "/etc/appvault" { files.standard = read(Self.standard) }
        files.administrators = read(config + "/policy.conf")
        for name in machine.names(config + "/policy.d") where name.hasSuffix(".conf") {
            if let file = read("\(config)/policy.d/\(name)") { files.dropIns.append(file) }
        }
        return (files, unread)
    }

    func policyFindings() -> [Finding] {
        let (files, unread) = policyFiles()
        var findings = unread
        let written = (files.administrators.map { [$0] } ?? []) + files.dropIns
        // The default policy and the administrator's are checked apart: their keys are never mixed,
        // so they cannot contradict each other.
        let problems = [files.standard.map { [$0] } ?? [], written].flatMap { files in
            PolicyLint.problems(in: files, texts: .all)
        }
        let edit = "put it right; `appvault policy lint FILE...` says when it is"
        var hasBroken = false
        for problem in problems {
            hasBroken = hasBroken || problem.severity == .error
            findings.append(
                Finding(
                    .policy, problem.severity == .error ? .broken : .warning, problem.description,
                    mend: problem.severity == .error ? edit : ""))
        }
        if let policy = daemon.policy {
            if !policy.problem.isEmpty, !hasBroken {
                findings.append(
                    Finding(
                        .policy, .broken, String(decoding: policy.problem, as: UTF8.self),
                        mend:
                            "`systemctl reload appvaultd` where it is mended already; else \(edit)")
                )
            }
            for value in policy.values where isIdle(value) {
                let place = "\(String(decoding: value.file, as: UTF8.self)):\(value.line)"
                // If the file can be read, lint has reported this already.
                if problems.contains(where: { $0.description.hasPrefix(place + ":") }) { continue }
                findings.append(
                    Finding(
                        .policy, .warning,
                        "\(place): this release does not act on \(String(decoding: value.key, as: UTF8.self)) yet"
                    ))
            }
        }
        switch daemon.policy?.mode {
        case .noPasscodeMode:
            findings.append(
                Finding(
                    .policy, .warning,
                    "no-passcode mode: stores open by themselves, and whoever has the disk can read them; not recommended",
                    mend: "write `UseDefaultPolicy=yes`, or take Enabled=no out"))
        case .administrators where findings.isEmpty:
            findings.append(Finding(.policy, .ok, "the administrator's, of \(names(written))"))
        case .standard where findings.isEmpty:
            findings.append(
                Finding(
                    .policy, .ok,
                    written.isEmpty
                        ? "the default policy; no other one was written"
                        : "the default policy: Enabled=no is set in \(names(written))"))
        case .administrators, .standard: break
        case nil:
            if findings.isEmpty {
                findings.append(
                    Finding(
                        .policy, .ok,
                        "the files are in order: \(written.isEmpty ? "none but the default" : names(written))"
                    ))
            }
        }
        return findings
    }

    /// The value was set, but has no effect in this release. Values of the default file do not
    /// count: they are there for releases that will act on them.
    private func isIdle(_ value: PolicyValues.Value) -> Bool {
        !value.actedOn && !value.file.isEmpty && value.file != Array(Self.standard.utf8)
    }

    private func names(_ files: [PolicyFile]) -> String {
        files.map(\.name).joined(separator: ", ")
    }

    /// The policy of the files if they can be read; otherwise the built-in values.
    var policyInForce: Policy {
        let book = (try? PolicyBook(policyFiles().files)) ?? .builtIn
        return book.inForce(for: PolicySubject()).policy
    }
}
