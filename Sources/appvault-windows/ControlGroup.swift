import Posix

/// A control group of version 2, by its path below the root of all groups.
struct ControlGroup: Equatable {
    private let path: String

    /// Nil for anything else; the root would be every process.
    init?(_ path: String) {
        let parts = path.split(separator: "/")
        guard path.hasPrefix("/"), !parts.isEmpty, !path.contains("\n"),
            !parts.contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        self.path = "/" + parts.joined(separator: "/")
    }

    /// Whether the process is in this group or in one below it. One that has ended is in none.
    func contains(_ process: UInt32) -> Bool {
        guard let text = try? TextFile.read(at: "/proc/\(process)/cgroup", limit: 65_536) else {
            return false
        }
        for line in text.split(separator: 0x0A) where line.starts(with: "0::".utf8) {
            let group = line.dropFirst(3)
            return group.elementsEqual(path.utf8) || group.starts(with: (path + "/").utf8)
        }
        return false
    }
}
