import Posix
import Secrets
import Testing

@testable import KeySlots

@Suite struct MachineKeyTests {
    @Test("a missing key is missing, and nothing is made")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(throws: KeyError.missing) { try MachineKey.load(in: folder.folder) }
        #expect(try folder.folder.names().isEmpty)
    }

    @Test("a key that was made is loaded again, and is not made twice")
    func made() throws {
        let folder = try TemporaryFolder()
        let made = try MachineKey.make(in: folder.folder)
        #expect(try MachineKey.load(in: folder.folder).id == made.id)
        #expect(throws: KeyError.alreadyExists) { try MachineKey.make(in: folder.folder) }
        #expect(try TextFile.read(at: "\(folder.path)/machine.key", limit: 100).count == 32)
        let other = try TemporaryFolder()
        #expect(try MachineKey.make(in: other.folder).id != made.id)
    }

    @Test("a key is never made while a store exists")
    func stores() throws {
        let folder = try TemporaryFolder()
        try folder.folder.makeFolder("stores")
        try folder.folder.folder("stores").makeFolder("one")
        #expect(throws: KeyError.storesExist) { try MachineKey.make(in: folder.folder) }
        #expect(throws: KeyError.missing) { try MachineKey.load(in: folder.folder) }
        try folder.folder.folder("stores").removeFolder("one")
        _ = try MachineKey.make(in: folder.folder)
    }

    @Test("a key of another length is damage", arguments: [0, 31, 33])
    func length(count: Int) throws {
        let folder = try TemporaryFolder()
        let file = try folder.folder.file("machine.key", .createNew(mode: 0o400))
        try file.write([UInt8](repeating: 1, count: count).span, at: 0)
        #expect(throws: KeyError.damaged(.machineKey)) {
            try MachineKey.load(in: folder.folder)
        }
    }

    @Test("of many that make the key at once one wins, and all use the winner's")
    func race() async throws {
        for _ in 0..<20 {
            let folder = try TemporaryFolder()
            let ids = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            return try MachineKey.make(in: folder.folder).id
                        } catch KeyError.alreadyExists {
                            return try MachineKey.load(in: folder.folder).id
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(ids).count == 1)
            #expect(folder.folder.exists("machine.key"))
            #expect(try MachineKey.load(in: folder.folder).id == ids[0])
        }
    }
}
