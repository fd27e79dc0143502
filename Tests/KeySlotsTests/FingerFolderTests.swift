import Posix
import Secrets
import Testing

@testable import KeySlots

@Suite struct FingerFolderTests {
    private let state: TemporaryFolder
    private let fixture: Fixture

    init() throws {
        state = try TemporaryFolder()
        fixture = try Fixture()
    }

    private func folder(
        _ fixture: Fixture? = nil, owner: Identity = Fixture.identity
    ) throws -> FingerFolder {
        let fixture = fixture ?? self.fixture
        return try FingerFolder(
            in: state.folder, store: fixture.store, owner: owner, machine: fixture.machine)
    }

    private func finger(_ number: UInt8, _ print: [UInt8] = [1, 2, 3]) throws -> EnrolledFinger {
        EnrolledFinger(
            finger: number, enrolledAt: 1_700_000_000, reader: Array("synaptics/0".utf8),
            port: Array("1-2".utf8), readerName: Array("Synaptics".utf8), isOnChip: number == 2,
            print: SecretBox(try secret(print)))
    }

    private func path(_ number: UInt8) -> String {
        "\(state.path)/fingers/\(fixture.store)/\(number)"
    }

    private func bytes(of finger: EnrolledFinger) throws -> [UInt8] {
        let found = try finger.print.read { (print) throws(SecretsError) in reveal(print) }
        return try #require(found)
    }

    private func gone() {
        try? FingerFolder.removeAll(of: fixture.store, in: state.folder)
    }

    @Test("a finger is read as it was written, up to the longest print")
    func roundTrip() throws {
        defer { gone() }
        #expect(try folder().all().fingers.isEmpty)
        let long = [UInt8](repeating: 7, count: EnrolledFinger.printLimit)
        try folder().write(try finger(7, long))
        try folder().write(try finger(2))
        let found = try folder().all()
        #expect(found.damaged.isEmpty)
        #expect(found.fingers.map(\.finger) == [2, 7])
        #expect(found.fingers.map(\.isOnChip) == [true, false])
        #expect(found.fingers.allSatisfy { $0.port == Array("1-2".utf8) })
        #expect(found.fingers.allSatisfy { $0.enrolledAt == 1_700_000_000 })
        #expect(try bytes(of: found.fingers[0]) == [1, 2, 3])
        #expect(try bytes(of: found.fingers[1]) == long)
        try folder().write(try finger(2, [9]))
        #expect(try bytes(of: try folder().all().fingers[0]) == [9])
    }

    @Test("an enrolment is removed only if it is that very one, and not a later one")
    func exactly() throws {
        defer { gone() }
        let first = try finger(2)
        #expect(try !folder().remove(exactly: first))
        #expect(try !folder().isEmptied())
        try folder().write(first)
        #expect(try !folder().isEmptied())
        var later = try finger(2)
        later.enrolledAt += 1
        var elsewhere = try finger(2)
        elsewhere.port = Array("1-3".utf8)
        for other in [try finger(2, [9]), later, elsewhere, try finger(3)] {
            #expect(!other.isSame(as: first))
            #expect(try !folder().remove(exactly: other))
        }
        #expect(try folder().one(2)?.isSame(as: first) == true)
        #expect(try folder().one(3) == nil)
        #expect(try folder().remove(exactly: first))
        #expect(try folder().all().fingers.isEmpty)
        #expect(try folder().isEmptied())
    }

    @Test("a print that is too long, or none, is not written")
    func sizes() throws {
        defer { gone() }
        for count in [0, EnrolledFinger.printLimit + 1] {
            #expect(throws: KeyError.self) {
                try folder().write(try finger(1, [UInt8](repeating: 1, count: count)))
            }
        }
        #expect(try folder().all().fingers.isEmpty)
    }

    @Test("no byte of the print lies readable on the disk")
    func sealed() throws {
        defer { gone() }
        let print = Array("a print that somebody would recognise".utf8)
        try folder().write(try finger(1, print))
        let bytes = try TextFile.read(at: path(1), limit: 100_000)
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: print.prefix(8)) })
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: Array("synaptics".utf8)) })
    }

    @Test("another owner, store, machine or finger does not read it")
    func bound() throws {
        defer { gone() }
        try folder().write(try finger(1))
        var other = Fixture.identity
        other.uid = 1001
        #expect(try folder(owner: other).all().damaged == [1])
        other = Fixture.identity
        other.account = Array("alicia".utf8)
        #expect(try folder(owner: other).all().damaged == [1])
        let machine = try Fixture(store: fixture.store, machine: 8)
        #expect(try folder(machine).all().damaged == [1])
        let file = try TextFile.read(at: path(1), limit: 100_000)
        try TextFile.replace(at: path(3), with: file)
        let both = try folder().all()
        #expect(both.fingers.map(\.finger) == [1] && both.damaged == [3])
        let another = try Fixture()
        defer { try? FingerFolder.removeAll(of: another.store, in: state.folder) }
        try folder(another).write(try finger(2))
        try TextFile.replace(
            at: "\(state.path)/fingers/\(another.store)/1", with: file)
        #expect(try folder(another).all().damaged == [1])
    }

    @Test("a file with any byte changed, cut short or longer is damage")
    func damage() throws {
        defer { gone() }
        try folder().write(try finger(1))
        let good = try TextFile.read(at: path(1), limit: 100_000)
        for place in good.indices {
            var bytes = good
            bytes[place] ^= 0x40
            try TextFile.replace(at: path(1), with: bytes)
            #expect(try folder().all().damaged == [1])
        }
        for bytes in [[], Array(good.dropLast()), good + [0], Array(good.prefix(64))] {
            try TextFile.replace(at: path(1), with: bytes)
            #expect(try folder().all().damaged == [1])
        }
    }

    @Test("fingers go one by one, all together, and with a store that is gone")
    func removing() throws {
        defer { gone() }
        for number in EnrolledFinger.fingers { try folder().write(try finger(number)) }
        try folder().remove(4)
        try folder().remove(4)
        #expect(try folder().all().fingers.count == 9)
        try FingerFolder.sweep(in: state.folder, keeping: [fixture.store])
        #expect(try folder().all().fingers.count == 9)
        // A file that a crash left in the middle of a write is removed, too.
        try TextFile.replace(at: path(1) + ".new", with: [1])
        try FingerFolder.sweep(in: state.folder, keeping: [])
        #expect(try folder().all().fingers.isEmpty)
        #expect(try state.folder.folder("fingers").names().isEmpty)
        try folder().removeAll()
    }

    @Test("a file that goes is overwritten first, one by one and all together")
    func overwritten() throws {
        defer { gone() }
        for number: UInt8 in [1, 2] {
            try folder().write(try finger(number))
            // A second name (a hard link) for the same bytes.
            try state.folder.link("fingers/\(fixture.store)/\(number)", to: "kept\(number)")
        }
        defer { for number in [1, 2] { try? state.folder.remove("kept\(number)") } }
        let before = try TextFile.read(at: "\(state.path)/kept1", limit: 100_000)
        try folder().remove(1)
        try folder().removeAll()
        for number in [1, 2] {
            let left = try TextFile.read(at: "\(state.path)/kept\(number)", limit: 100_000)
            #expect(left == [UInt8](repeating: 0, count: before.count))
        }
    }

    @Test("a write that fails, or that a crash cut off, leaves nothing behind")
    func leftovers() throws {
        defer { gone() }
        try folder().write(try finger(1))
        let place = try state.folder.folder("fingers").folder("\(fixture.store)")
        // A file cannot be renamed over a folder.
        try place.makeFolder("7")
        #expect(throws: KeyError.self) { try folder().write(try finger(7)) }
        #expect(!place.exists("7.new"))
        try place.removeFolder("7")
        try TextFile.replace(at: path(7) + ".new", with: [1])
        try TextFile.replace(at: path(1) + ".new", with: [1])
        try folder().remove(1)
        #expect(try place.names() == ["7.new"])
        try folder().write(try finger(2))
        try FingerFolder.sweep(in: state.folder, keeping: [fixture.store])
        #expect(try place.names() == ["2"])
    }
}
