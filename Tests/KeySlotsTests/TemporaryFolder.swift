import Posix
import Secrets

@testable import KeySlots

/// Gone with the object.
final class TemporaryFolder: Sendable {
    let path: String
    let folder: Folder
    private let parent: Folder
    private let name: String

    init() throws {
        parent = try Folder(path: "/tmp")
        name = "appvault-test-\(try StoreID.random())"
        try parent.makeFolder(name)
        path = "/tmp/\(name)"
        folder = try Folder(path: path)
    }

    deinit {
        for name in (try? folder.names()) ?? [] {
            if let inner = try? folder.folder(name) {
                for name in (try? inner.names()) ?? [] { try? inner.remove(name) }
                try? folder.removeFolder(name)
            } else {
                try? folder.remove(name)
            }
        }
        try? parent.removeFolder(name)
    }
}
