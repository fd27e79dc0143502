import Testing

@testable import KeySlots

@Suite("The table of blocks")
struct BlockTableTests {
    @Test("each block has one use, and each kind of slot a number of its own")
    func unique() {
        let blocks = BlockTable.rows.flatMap(\.blocks)
        #expect(Set(blocks).count == blocks.count)
        #expect(blocks.allSatisfy { (0..<Block.count).contains($0) })
        let kinds = BlockTable.rows.compactMap(\.slotKind)
        #expect(Set(kinds).count == kinds.count)
    }

    @Test("it says what FORMAT.md says")
    func format() {
        #expect(BlockTable.slots == [3, 4, 5, 6, 7])
        #expect(BlockTable.erased.sorted() == Array(2...15))
        #expect(BlockTable.rows.filter(\.opensOnAnyMachine).flatMap(\.blocks) == [6, 7])
        #expect(BlockTable.row(of: 16) == nil)
    }
}
