/// What a path below /org/freedesktop/secrets may stand for. Whether it is there is another
/// question.
enum ObjectPath: Equatable {
    static let root = "/org/freedesktop/secrets"
    /// Instead of a path where there is none.
    static let none = "/"

    /// A collection is one of the store's, or the one that ends with this process.
    enum Collection: Hashable, Sendable {
        case stored(SecretID)
        case session

        static let login = Collection.stored(.zero)

        var text: String {
            switch self {
            case .stored(.zero): "login"
            case .stored(let id): id.text
            case .session: "session"
            }
        }

        init?(text: Substring) {
            switch text {
            case "login": self = .login
            case "session": self = .session
            default:
                guard let id = SecretID(text: text), id != .zero else { return nil }
                self = .stored(id)
            }
        }

        var path: String { ObjectPath.root + "/collection/" + text }

        func path(of item: SecretID) -> String { path + "/" + item.text }
    }

    case service
    /// Where objects of a kind are.
    case folder(Folder)
    case collection(Collection)
    case item(Collection, SecretID)
    case alias(String)
    case itemOfAlias(String, SecretID)
    case session(SecretID)
    case prompt(SecretID)

    enum Folder: String, CaseIterable {
        case collection, aliases, session, prompt
    }

    static func session(path id: SecretID) -> String { root + "/session/" + id.text }
    static func prompt(path id: SecretID) -> String { root + "/prompt/" + id.text }

    init?(_ path: String) {
        guard path.hasPrefix(Self.root) else { return nil }
        let rest = path.dropFirst(Self.root.count)
        if rest.isEmpty {
            self = .service
            return
        }
        let parts = rest.dropFirst().split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard rest.first == "/", let first = parts.first, let folder = Folder(rawValue: "\(first)")
        else { return nil }
        switch (folder, parts.count) {
        case (_, 1): self = .folder(folder)
        case (.collection, 2):
            guard let collection = Collection(text: parts[1]) else { return nil }
            self = .collection(collection)
        case (.collection, 3):
            guard let collection = Collection(text: parts[1]), let id = SecretID(text: parts[2])
            else { return nil }
            self = .item(collection, id)
        case (.aliases, 2): self = .alias(String(parts[1]))
        case (.aliases, 3):
            guard let id = SecretID(text: parts[2]) else { return nil }
            self = .itemOfAlias(String(parts[1]), id)
        case (.session, 2):
            guard let id = SecretID(text: parts[1]) else { return nil }
            self = .session(id)
        case (.prompt, 2):
            guard let id = SecretID(text: parts[1]) else { return nil }
            self = .prompt(id)
        default: return nil
        }
    }
}
