import AppVault
import Foundation
import Testing

/// An empty store of one kind, and what has to live as long as it.
struct Place: Sendable {
    var store: any KeyValueStore
    var keeps: [any Sendable] = []
}

/// Every kind of store that there is here.
enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory
    case file
    case vault
    case compositeInMemory
    case compositeInFiles
    case secretService

    static let here = allCases.filter(\.isHere)

    var isHere: Bool {
        switch self {
        case .memory, .file, .compositeInMemory, .compositeInFiles: true
        case .vault: PrivateDaemon.isThere
        case .secretService: PrivateKeyring.isThere
        }
    }

    func make() async throws -> Place {
        switch self {
        case .memory: return Place(store: MemoryStore())
        case .file:
            let folder = TemporaryFolder()
            let storage = FileStorage(folder: folder.path)
            return Place(
                store: try await storage.create("notes", with: .silent), keeps: [folder])
        case .vault:
            let daemon = try PrivateDaemon()
            let vault = try await daemon.connect()
            return Place(
                store: try await vault.openStore(orCreate: .noPasscode), keeps: [daemon])
        case .compositeInMemory: return Place(store: CompositeStorage())
        case .compositeInFiles:
            let folder = TemporaryFolder()
            let composite = CompositeStorage()
            try await composite.makePersistent {
                try await FileStorage(folder: folder.path).create("notes", with: .silent)
            }
            return Place(store: composite, keeps: [folder])
        case .secretService:
            let keyring = try await PrivateKeyring()
            let storage = SecretServiceStorage(application: "test", bus: keyring.address)
            return Place(
                store: try await storage.create("notes", with: .silent), keeps: [keyring])
        }
    }

    var testDescription: String { rawValue }
}

final class TemporaryFolder: Sendable {
    let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("appvault-library-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
