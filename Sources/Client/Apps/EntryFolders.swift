import DesktopEntries
import Posix

/// The files that may start an application. The menu is the last: whoever dies half way has locked
/// nothing that `app list` shows.
enum EntryKind: CaseIterable {
    case autostart
    case service
    case menu

    var form: LaunchFile.Form {
        switch self {
        case .autostart, .menu: .entry
        case .service: .service
        }
    }

    var ending: String {
        switch self {
        case .autostart, .menu: ".desktop"
        case .service: ".service"
        }
    }
}

/// Where the files of one kind are: the person's own folder, and those of the system, the first one
/// first. By the XDG Base Directory Specification.
struct EntryFolders {
    let kind: EntryKind
    let own: String
    let others: [String]

    /// Nil if the person has no home folder.
    init?(_ kind: EntryKind, _ variable: (String) -> [UInt8]?) {
        // A folder that is not absolute is to be ignored.
        func path(_ bytes: some Sequence<UInt8>) -> String? {
            let text = String(validating: bytes, as: UTF8.self)
            return text.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        func home(_ name: String, _ below: String) -> String? {
            if let own = variable(name).flatMap({ path($0) }) { return own }
            return variable("HOME").flatMap { path($0) }.map { $0 + below }
        }
        func list(_ name: String, _ usual: [String]) -> [String] {
            guard let list = variable(name), !list.isEmpty else { return usual }
            return list.split(separator: UInt8(ascii: ":")).compactMap { path($0) }
        }
        let root: String?
        let roots: [String]
        let below: String
        switch kind {
        case .menu, .service:
            root = home("XDG_DATA_HOME", "/.local/share")
            roots = list("XDG_DATA_DIRS", ["/usr/local/share", "/usr/share"])
            below = kind == .menu ? "/applications" : "/dbus-1/services"
        case .autostart:
            root = home("XDG_CONFIG_HOME", "/.config")
            roots = list("XDG_CONFIG_DIRS", ["/etc/xdg"])
            below = "/autostart"
        }
        guard let root else { return nil }
        self.kind = kind
        own = root + below
        others = roots.map { $0 + below }.filter { [own] in $0 != own }
    }

    /// A file by its folder and its name there.
    struct Place: Equatable {
        var folder: String
        var name: String

        var path: String { folder + "/" + name }
    }

    /// Where the system has the file; nil if it has none.
    func systemPlace(of id: ApplicationID) -> Place? {
        for folder in others {
            if let place = place(of: id.name, in: folder) { return place }
        }
        return nil
    }

    /// Where the person has the file, or would have it.
    func ownPlace(of id: ApplicationID) -> Place {
        place(of: id.name, in: own) ?? Place(folder: own, name: id.name + kind.ending)
    }

    /// In the menu the part before a hyphen may be the name of a folder.
    private func place(of name: String, in folder: String, depth: Int = 0) -> Place? {
        let file = name + kind.ending
        if ToolIO.kind(of: Array("\(folder)/\(file)".utf8)) == .regular {
            return Place(folder: folder, name: file)
        }
        guard kind == .menu, depth < Self.deepest else { return nil }
        for hyphen in name.indices where name[hyphen] == "-" {
            let (first, rest) = (name[..<hyphen], name[name.index(after: hyphen)...])
            guard !first.isEmpty, !rest.isEmpty,
                ToolIO.kind(of: Array("\(folder)/\(first)".utf8)) == .folder,
                let place = place(of: String(rest), in: "\(folder)/\(first)", depth: depth + 1)
            else { continue }
            return place
        }
        return nil
    }

    /// A link may lead a folder into itself.
    private static let deepest = 4

    /// Every file of the person's own, with its id.
    func ownFiles() -> [(id: ApplicationID, place: Place)] { files(in: own) }

    /// Those that count come first: of one id the desktop reads the first file alone.
    func allFiles() -> [(id: ApplicationID, place: Place)] {
        ([own] + others).flatMap { files(in: $0) }
    }

    private func files(in top: String) -> [(id: ApplicationID, place: Place)] {
        var found: [(ApplicationID, Place)] = []
        func look(_ folder: String, _ before: String, _ depth: Int) {
            for name in (try? TextFile.names(in: folder)) ?? [] {
                switch ToolIO.kind(of: Array("\(folder)/\(name)".utf8)) {
                case .regular where name.hasSuffix(kind.ending):
                    let stem = before + name.dropLast(kind.ending.count)
                    guard let id = ApplicationID(Array(stem.utf8)) else { continue }
                    found.append((id, Place(folder: folder, name: name)))
                case .folder where depth < Self.deepest:
                    look("\(folder)/\(name)", "\(before)\(name)-", depth + 1)
                case .regular, .folder, .other, .missing: continue
                }
            }
        }
        look(top, "", 0)
        return found
    }
}
