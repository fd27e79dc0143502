import Posix
import StoreKeeping

/// The groups that each person was last known to be in: one small file for each person. So a
/// restart while the directory service is silent does not change a policy. Blocking: runs on a
/// worker.
struct GroupsFile: Sendable {
    private let stateFolder: String
    private static let folderName = "groups"
    private static let end = Array("# whole".utf8)
    private static let limit = 1 << 20

    init(stateFolder: String) {
        self.stateFolder = stateFolder
    }

    private func path(_ person: Person) -> String {
        "\(stateFolder)/\(Self.folderName)/\(person.uid)"
    }

    /// Nil if nothing is known. Uids are given to other people later, so the name must be the same.
    func read(_ person: Person) -> [[UInt8]]? {
        guard let text = try? TextFile.read(at: path(person), limit: Self.limit) else { return nil }
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: true).map(Array.init)
        guard lines.count >= 2, lines.first == person.name, lines.last == Self.end else {
            return nil
        }
        return Array(lines[1..<(lines.count - 1)])
    }

    /// If this write fails, the groups are only forgotten sooner.
    func write(_ groups: [[UInt8]], _ person: Person) {
        let lines = [person.name] + groups + [Self.end]
        guard !lines.contains(where: { $0.isEmpty || $0.contains(0x0A) }) else { return }
        try? Folder(path: stateFolder).makeFolder(Self.folderName)
        try? TextFile.replace(at: path(person), with: Array(lines.joined(separator: [0x0A])))
    }
}
