/// Whether the daemon can tell who is at this machine. It uses systemd's control groups, what
/// logind writes down, and /proc. If it cannot tell, everybody can still log in, but no try counts
/// as a person's own, and no finger is asked for.
extension Doctor {
    func presenceFindings() -> [Finding] {
        if isPrivate {
            return [
                Finding(.presence, .unseen, "a private daemon: its user counts as being here")
            ]
        }
        guard machine.exists("/run/systemd/system") else {
            return [without("there is no systemd")]
        }
        // logind always has at least one seat.
        guard !machine.names("/run/systemd/seats").isEmpty else {
            return [
                without(
                    "there is no logind", mend: "`systemctl status systemd-logind` says why")
            ]
        }
        if hidesProcesses {
            return [
                without(
                    "/proc hides processes (hidepid)",
                    mend: "mount it with gid=NUMBER, a group that _appvault is a member of")
            ]
        }
        return [Finding(.presence, .ok, "systemd and logind say who is at this machine")]
    }

    private func without(_ why: String, mend: String = "") -> Finding {
        Finding(
            .presence, .warning,
            "\(why), so AppVault cannot tell who is at this machine: it asks for no finger, and a wrong passcode at a "
                + "login counts as a stranger's. `appvault unlock` works as ever", mend: mend)
    }

    private var hidesProcesses: Bool {
        let lines = machine.text("/proc/mounts")?.split(separator: "\n") ?? []
        // A later mount hides an earlier one.
        guard
            let options = lines.map({ $0.split(separator: " ") })
                .last(where: { $0.count > 3 && $0[1] == "/proc" })?[3].split(separator: ",")
        else { return false }
        let shown = ["hidepid=0", "hidepid=off"]
        let isHidden = options.contains { $0.hasPrefix("hidepid=") && !shown.contains(String($0)) }
        return isHidden && !options.contains { $0.hasPrefix("gid=") && $0 != "gid=0" }
    }
}
