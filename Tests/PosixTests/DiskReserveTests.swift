import Testing

@testable import Posix

@Suite struct DiskReserveTests {
    /// A folder that goes with the object.
    private final class Place {
        let folder: Folder

        init() throws {
            let name = "appvault-reserve-\(UInt64.random(in: 0 ... .max))"
            let tmp = try Folder(path: "/tmp")
            try tmp.makeFolder(name)
            folder = try tmp.folder(name)
        }

        deinit {
            try? folder.remove(DiskReserve.fileName)
            try? Folder(path: "/tmp").removeFolder(String(folder.path.dropFirst(5)))
        }
    }

    /// Counts from any thread.
    private final class Count: @unchecked Sendable {
        private let mutex = Mutex()
        private var number = 0

        func add() {
            mutex.lock()
            number += 1
            mutex.unlock()
        }

        var value: Int { number }
    }

    private static let full = PosixError.noSpace("write")

    @Test("it is a sixteenth of a small disk, and never more than its most")
    func size() {
        #expect(DiskReserve.size(ofDisk: 16 << 20) == 1 << 20)
        #expect(DiskReserve.size(ofDisk: 1 << 40) == DiskReserve.largest)
        #expect(DiskReserve.size(ofDisk: 100_000) == 4096)
    }

    @Test("it is given up once, for a write that found no room, and that write is tried again")
    func spending() throws {
        let place = try Place()
        let reserve = DiskReserve(folder: place.folder.path)
        let told = Count()
        reserve.follow { told.add() }
        #expect(try reserve.keep() == .kept)
        #expect(try reserve.keep() == .kept)
        let size = try FileFacts(of: "\(place.folder.path)/\(DiskReserve.fileName)").size
        #expect(size == DiskReserve.size(ofDisk: try FreeSpace(at: place.folder.path).total))
        var tries = 0
        let result = try reserve.spending { () throws(PosixError) -> Int in
            tries += 1
            if place.folder.exists(DiskReserve.fileName) { throw Self.full }
            return tries
        }
        #expect(result == 2)
        #expect(told.value == 1)
        tries = 0
        #expect(throws: Self.full) {
            try reserve.spending { () throws(PosixError) in
                tries += 1
                throw Self.full
            }
        }
        #expect(tries == 1)
        #expect(told.value == 1)
        #expect(try reserve.keep() == .kept)
    }

    @Test("another failure is no reason to give it up")
    func others() throws {
        let place = try Place()
        let reserve = DiskReserve(folder: place.folder.path)
        #expect(try reserve.keep() == .kept)
        let broken = PosixError(call: "write", number: 5)
        #expect(throws: broken) {
            try reserve.spending { () throws(PosixError) in throw broken }
        }
        #expect(place.folder.exists(DiskReserve.fileName))
    }

    @Test("without it, records leave room for it as well")
    func room() throws {
        let place = try Place()
        let reserve = DiskReserve(folder: place.folder.path)
        let size = DiskReserve.size(ofDisk: try FreeSpace(at: place.folder.path).total)
        // Other programs write to the same disk meanwhile, so both are looked at until nothing came
        // in between.
        func leaves(_ kept: Int) throws -> Bool {
            for _ in 0..<1000 {
                let free = Int(try FreeSpace(at: place.folder.path).bytes)
                if abs(free - kept - (try reserve.roomForRecords())) < size / 8 { return true }
            }
            return false
        }
        #expect(try leaves(2 * size))
        #expect(try reserve.keep() == .kept)
        #expect(try leaves(size))
    }
}
