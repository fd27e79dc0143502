import Posix

/// Which picture stands for each of those who share an account. It is theirs to choose, says nothing
/// about a store, and lies beside the person's other settings: a line for each, `key work`.
package struct Portraits: Equatable {
    /// All are drawn by whoever shows them: no file is read for one.
    package enum Picture: String, CaseIterable, Sendable {
        /// The first letter of the name.
        case letter
        case person, people, key, lock, paper, organisation, vault
    }

    /// More than there can be stores.
    private static let most = 255
    private static let mostBytes = 65_536

    private var chosen: [(name: [UInt8], picture: Picture)] = []

    package static func == (one: Portraits, other: Portraits) -> Bool { one.text == other.text }

    init(_ text: [UInt8] = []) {
        for line in text.split(separator: 0x0A).prefix(Self.most) {
            let parts = line.split(separator: 0x20, maxSplits: 1)
            guard parts.count == 2,
                let picture = Picture(rawValue: String(decoding: parts[0], as: UTF8.self))
            else { continue }
            choose(picture, for: Array(parts[1]))
        }
    }

    /// Those that were chosen; none where there is no such file.
    package init(_ variable: (String) -> [UInt8]?) {
        let text = Self.path(variable).flatMap {
            try? TextFile.read(at: $0, limit: Self.mostBytes)
        }
        self.init(text ?? [])
    }

    package func picture(for name: [UInt8]) -> Picture {
        chosen.first { $0.name == name }?.picture ?? .letter
    }

    mutating func choose(_ picture: Picture, for name: [UInt8]) {
        chosen.removeAll { $0.name == name }
        // A name that breaks the line would be another one's.
        guard picture != .letter, !name.contains(0x0A) else { return }
        chosen.append((name, picture))
    }

    /// Whoever is gone needs none any more.
    mutating func keep(only names: [[UInt8]]) {
        chosen.removeAll { !names.contains($0.name) }
    }

    var text: [UInt8] {
        chosen.flatMap { name, picture -> [UInt8] in
            Array(picture.rawValue.utf8) + [0x20] + name + [0x0A]
        }
    }

    static func path(_ variable: (String) -> [UInt8]?) -> String? {
        func absolute(_ name: String) -> String? {
            let text = variable(name).flatMap { String(validating: $0, as: UTF8.self) }
            return text.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let folder = absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map { $0 + "/.config" }
        return folder.map { $0 + "/appvault/pictures" }
    }

    func write(to path: String) throws(PosixError) {
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        try ToolIO.makeFolders("/" + folder)
        // Whoever loses it chooses again.
        try TextFile.replace(at: path, with: text, outlasts: .processes)
    }
}
