/// What a slots file holds, page by page, and what of it is damaged.
struct Pages {
    /// The blocks that can be read.
    private(set) var blocks = [Block?](repeating: nil, count: Block.count)
    /// The places that are neither empty nor a block, and why.
    private(set) var lost: [Int: KeyError] = [:]
    /// Pages whose block is known, but which have to be written again: a bit was put right, or
    /// there is something behind the block, or the page is cut short.
    private(set) var unclean: Set<Int> = []

    /// Throws where a block is whole and this release does not know its content: such a file is not
    /// damaged, and nothing in it may be made anew.
    init(_ file: [UInt8], _ store: StoreID, _ machine: MachineKey) throws(KeyError) {
        for number in 0..<Block.count where number != CommitNote.block {
            guard let found = Page.found(number, of: file) else {
                lost[number] = .damaged(.fileSize)
                continue
            }
            if !found.isClean { unclean.insert(number) }
            switch try Block.reading(
                found.block, number: number, store: store, BlockTable.guardian(of: number, machine))
            {
            case .empty: if found.block != Block.empty { unclean.insert(number) }
            case .block(let block): try take(block)
            case .corrected(let block):
                try take(block)
                unclean.insert(number)
            case .unreadable(let error): lost[number] = error
            }
        }
        if file.count > Page.fileSize { unclean.insert(Block.count - 1) }
        // These are never empty in a whole file.
        for number in [Identity.ownerBlock, Identity.labelBlock] where blocks[number] == nil {
            lost[number] = lost[number] ?? .damaged(.block(number))
        }
    }

    /// The block holds what an unreadable one held.
    mutating func replace(_ number: Int, with block: Block) {
        guard lost[number] != nil else { return }
        blocks[number] = block
    }

    mutating func lose(_ number: Int) {
        lost[number] = .damaged(.block(number))
    }

    /// Throws if the block cannot have this content.
    private mutating func take(_ block: Block) throws(KeyError) {
        guard let row = BlockTable.row(of: block.number)
        else { throw .damaged(.block(block.number)) }
        try row.check(block)
        blocks[block.number] = block
    }

    /// The first damage, in the order of the blocks.
    var damage: KeyError? { lost.min { $0.key < $1.key }?.value }

    private func isEmpty(_ numbers: [Int]) -> Bool {
        numbers.allSatisfy { blocks[$0] == nil && lost[$0] == nil }
    }

    private func holds(_ numbers: [Int]) -> Bool {
        numbers.contains { blocks[$0] != nil }
    }

    /// Whether something is left that opens the store. What no person has to prove anything for
    /// counts only where it is certain that there is no passcode: else whoever destroys the
    /// passcode slot would open the store with it.
    var hasWayIn: Bool {
        if holds(PasscodeDetails.blocks) { return true }
        guard isEmpty(PasscodeDetails.blocks) else { return false }
        if holds(DeviceDetails.blocks) { return true }
        return isEmpty(DeviceDetails.blocks) && holds(RecoveryDetails.blocks)
    }
}
