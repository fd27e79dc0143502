import Testing

@testable import KeySlots

@Suite("the last commit of the records, noted")
struct CommitNoteTests {
    private let fixture: Fixture

    init() throws {
        fixture = try Fixture()
    }

    private func generation(_ disk: PowerDisk) throws -> UInt64 {
        try fixture.open(PowerDisk(disk.bytes)).commits.generation
    }

    @Test("it says the highest commit, without a sync")
    private func noted() throws {
        let disk = PowerDisk(try fixture.bytes())
        let commits = try fixture.open(disk).commits
        #expect(commits.generation == 0)
        let steps = disk.steps
        commits.note(7)
        commits.note(5)
        #expect(disk.steps == steps + 1)
        #expect(try generation(disk) == 7)
        // What was not synced may be there after a power cut or not.
        let left = try disk.afterPowerCut.map { try generation(PowerDisk($0)) }
        #expect(left == [0, 7])
        try commits.settle(on: 3)
        #expect(try disk.afterPowerCut.map { try generation(PowerDisk($0)) } == [3])
    }

    @Test("with one wrong bit it is what it was, damaged further it is none, and no loss")
    private func damaged() throws {
        let disk = PowerDisk(try fixture.bytes())
        try fixture.open(disk).commits.settle(on: 1 << 40)
        let whole = disk.bytes
        for place in [0, 5, 20, 40, 48, 53, 60, 479, 480, 511, 512, 4095] {
            var bytes = whole
            bytes[CommitNote.block * Page.size + place] ^= 4
            let file = try fixture.open(PowerDisk(bytes))
            #expect(file.commits.generation == 1 << 40, "byte \(place)")
            #expect(file.isWhole)
            for index in content(CommitNote.block) where index % 3 == 0 { bytes[index] ^= 0x5A }
            let other = PowerDisk(bytes)
            let worse = try fixture.open(other)
            #expect(worse.commits.generation == 0)
            #expect(worse.isWhole)
            #expect(worse.lost == [])
            // The next note takes the place of all that stood in the page.
            worse.commits.note(9)
            #expect(try generation(other) == 9)
            let page = CommitNote.block * Page.size
            #expect(other.bytes[(page + 512)..<(page + 4096)].allSatisfy { $0 == 0 })
        }
        let foreign = try Fixture(store: fixture.store, machine: 8)
        #expect(CommitNote.generation(in: whole, fixture.store, foreign.machine) == 0)
        #expect(
            try UncheckedSlotFile(store: fixture.store, disk: disk)
                .notedCommit(fixture.machine) == 1 << 40)
    }

    @Test("other writes leave it alone, and an erase ends it")
    private func erased() throws {
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        file.commits.note(7)
        var tally = file.tally
        tally.own.wrong = 1
        try file.write(tally)
        #expect(try generation(disk) == 7)
        try file.eraseKeys()
        file.commits.note(8)
        try file.commits.settle(on: 9)
        #expect(disk.bytes[content(CommitNote.block)].allSatisfy { $0 == 0 })
    }

    @Test("where it cannot be written it lags behind")
    private func failing() throws {
        let disk = PowerDisk(try fixture.bytes())
        let commits = try fixture.open(disk).commits
        disk.budget = disk.steps
        commits.note(7)
        #expect(commits.generation == 0)
        disk.budget = nil
        commits.note(8)
        #expect(try generation(disk) == 8)
    }
}
